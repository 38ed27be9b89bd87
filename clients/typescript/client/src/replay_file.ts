// The lines of a replay file, docs/replay-format.md of the server, as far as a program without rules can check them.

/** The longest lines are the header and shuffles of several packs, with a few thousand characters. */
const MAX_LINE_CHARACTERS = 64 * 1024;
const MAX_LINES = 1_000_000;
/** The seats of a table, its packs, and the bytes of a client seed; no game has more. */
const [MAX_SEATS, MAX_PACKS, MAX_CLIENT_SEED_BYTES] = [16, 8, 64];
const [SUITS, RANKS, JOKER] = ["CDHS", "23456789TJQKA", "JK"];

/** A card by its number in the order in which all games name their cards, from 0. */
export type CardNumber = number;

/** The first line of a replay file. Bytes are hexadecimal. */
export interface Header {
  readonly tableId: string;
  readonly game: string;
  readonly seed: string;
  readonly commitment: string;
  /** The number of packs that are shuffled into one. */
  readonly packs: number;
  /** By seat; empty for a seat without one. */
  readonly clientSeeds: readonly string[];
}

/** A shuffle as a replay file lists its cards, in the order in which they left the pack. */
export interface ListedShuffle {
  readonly line: number;
  readonly round: number;
  /** The number of the shuffle in its round, from 1. */
  readonly shuffle: number;
  /** The hands by seat; none if the shuffle deals none. */
  readonly hands: readonly (readonly CardNumber[])[];
  /** The cards after those of the hands. */
  readonly others: readonly CardNumber[];
  /** Whether these are all cards of the shuffle; otherwise the rest of the packs stays in the box. */
  readonly isComplete: boolean;
}

/** A fault that makes a replay file unreadable: `line` counts from 1. */
export class ReplayFault extends Error {
  /** The name of the class, as errors have it. */
  override readonly name = "ReplayFault";

  constructor(
    /** The line of the file, from 1. */
    readonly line: number,
    /** What is wrong with it. */
    readonly fault: string,
  ) {
    super(`line ${line}: ${fault}`);
  }
}

type Fields = Readonly<Record<string, unknown>>;

/** Return the header and the shuffles of a replay file; throws ReplayFault for a malformed one. */
export function readReplayFile(text: string): { readonly header: Header; readonly shuffles: readonly ListedShuffle[] } {
  const lines = linesOf(text);
  const header = headerOf(lines[0] ?? {});
  const shuffles: ListedShuffle[] = [];
  let [entries, rounds, shufflesOfRound, time] = [0, 0, 0, ""];
  lines.slice(1, -1).forEach((fields, index) => {
    const line = index + 2;
    if ("round" in fields) {
      expect(fields["round"] === ++rounds, line, `expected the points of round ${rounds}`);
      shufflesOfRound = 0;
      return;
    }
    expect(fields["seq"] === ++entries, line, `expected entry ${entries}`);
    const { at } = fields;
    expect(typeof at === "string" && at >= time, line, "the time is missing, or before that of the entry above");
    time = at;
    const listed = entryOf(fields, line);
    expect(listed !== undefined || entries > 1, line, "expected a shuffle as the first entry");
    if (listed !== undefined) shuffles.push({ line, round: rounds + 1, shuffle: ++shufflesOfRound, ...listed });
  });
  expect(isFields(lines.at(-1)?.["result"]), lines.length, "expected the result as the last line");
  expect(entries > 0, lines.length, "expected entries before the result");
  return { header, shuffles };
}

function linesOf(text: string): readonly Fields[] {
  const lines = text.replace(/\n$/, "").split("\n");
  expect(lines.length <= MAX_LINES, MAX_LINES + 1, `expected at most ${MAX_LINES} lines`);
  return lines.map((content, index) => {
    expect(content.length <= MAX_LINE_CHARACTERS, index + 1, `expected at most ${MAX_LINE_CHARACTERS} characters`);
    const value = parsed(content);
    expect(isFields(value), index + 1, "expected a JSON object");
    return value;
  });
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function headerOf(fields: Fields): Header {
  const { replay, table_id: tableId, game, seats, options, seed, commitment, client_seeds: added } = fields;
  expect(replay === 1, 1, "expected the header of a replay of version 1");
  expect(typeof tableId === "string" && typeof game === "string", 1, "expected table_id and game as texts");
  expect(isCount(seats, MAX_SEATS), 1, `expected 1 to ${MAX_SEATS} seats`);
  expect(isFields(options), 1, "expected options by name");
  const { decks: packs = 1 } = options;
  expect(isCount(packs, MAX_PACKS), 1, `expected 1 to ${MAX_PACKS} decks`);
  expect(isHex(seed) && seed.length === 64, 1, "expected a seed of 64 hexadecimal digits");
  expect(isHex(commitment) && commitment.length === 64, 1, "expected a commitment of 64 hexadecimal digits");
  expect(isFields(added), 1, "expected client_seeds by seat");
  const clientSeeds = Array.from({ length: seats }, (_, seat) => added[seat] ?? "");
  const known = Object.keys(added).every((seat) => /^\d+$/.test(seat) && Number(seat) < seats);
  expect(known && clientSeeds.every(isClientSeed), 1, `expected client_seeds of 1 to ${MAX_CLIENT_SEED_BYTES} bytes by seat`);
  return { tableId, game, seed, commitment, packs, clientSeeds };
}

/** Return the cards of a shuffle, undefined for another entry. */
function entryOf({ seat, action, event }: Fields, line: number): Pick<ListedShuffle, "hands" | "others" | "isComplete"> | undefined {
  if (event === undefined) {
    expect(Number.isInteger(seat) && isFields(action) && typeof action["type"] === "string", line, "expected an event, or an action of a seat");
    return undefined;
  }
  expect(isFields(event) && typeof event["type"] === "string", line, "expected an event with a type");
  const { hands = [], ...others } = event;
  if (!Object.values(event).some(Array.isArray)) return undefined;
  expect(Array.isArray(hands) && hands.length <= MAX_SEATS, line, "expected hands by seat");
  const lists = Object.values(others).filter((value) => isCard(value) || (Array.isArray(value) && !isDrawn(value)));
  return {
    hands: hands.map((hand) => cardsOf(hand, line)),
    others: lists.flatMap((cards) => cardsOf([cards].flat(), line)),
    // A single card is turned up from the pack, of which no list has the rest.
    isComplete: lists.every(Array.isArray),
  };
}

/** Return whether a list has the numbers that were drawn with a shuffle, which are no cards. */
function isDrawn(list: readonly unknown[]): boolean {
  return list.length > 0 && list.every(Number.isInteger);
}

function cardsOf(cards: unknown, line: number): readonly CardNumber[] {
  expect(Array.isArray(cards), line, "expected a list of cards");
  return cards.map((card: unknown) => {
    expect(isCard(card), line, `invalid card ${JSON.stringify(card)}: expected rank and suit such as 5H, or JK`);
    return numberOf(card);
  });
}

/** Return the notation of a card. */
export function notation(card: CardNumber): string {
  const [rank, suit] = [RANKS[card % 13], SUITS[Math.floor(card / 13)]];
  return rank === undefined || suit === undefined ? JOKER : rank + suit;
}

function numberOf(card: string): CardNumber {
  return card === JOKER ? SUITS.length * RANKS.length : SUITS.indexOf(card.charAt(1)) * RANKS.length + RANKS.indexOf(card.charAt(0));
}

function isCard(value: unknown): value is string {
  return typeof value === "string" && /^([2-9TJQKA][CDHS]|JK)$/.test(value);
}

function isClientSeed(value: unknown): value is string {
  return value === "" || (isHex(value) && value.length % 2 === 0 && value.length <= 2 * MAX_CLIENT_SEED_BYTES);
}

function isHex(value: unknown): value is string {
  return typeof value === "string" && /^[0-9a-f]+$/.test(value);
}

function isCount(value: unknown, most: number): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= most;
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function expect(holds: boolean, line: number, fault: string): asserts holds {
  if (!holds) throw new ReplayFault(line, fault);
}
