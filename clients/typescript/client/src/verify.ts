// The proof of the deals of a replay file, in the player's own browser, without the rules of any game. The derivation is
// that of docs/decisions/0005-fair-deals.md of the server.
import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, concatBytes, hexToBytes, utf8ToBytes } from "@noble/hashes/utils.js";

import { type CardNumber, type Header, type ListedShuffle, notation, readReplayFile } from "./replay_file.js";

const LABEL = utf8ToBytes("croupier shuffle 1");
const WORDS = 2 ** 32;
/** The cards of a whole pack. */
const PACK_CARDS = 52;

/** The seat that is served first, if hands are dealt, and the cards in the order in which they left the pack. */
type Order = readonly [firstSeat: number | undefined, cards: readonly CardNumber[]];

/** Whether the cards of one shuffle follow from the seeds. */
export interface DealProof {
  /** The number of the round, from 1. */
  readonly round: number;
  /** The number of the shuffle in its round, from 1. */
  readonly shuffle: number;
  /** The line of the file, from 1. */
  readonly line: number;
  /** The cards of the shuffle, in the order before it. */
  readonly cards: readonly string[];
  /** The seat that was served first, which the seeds do not prove; undefined for a shuffle that deals no hands or is not proved. */
  readonly firstSeat: number | undefined;
  /** Whether the seeds lead to the listed cards. */
  readonly isProved: boolean;
}

/** The proof of all deals of a table. Bytes are hexadecimal. */
export interface Proof {
  /** The id of the table. */
  readonly tableId: string;
  /** The id of the game. */
  readonly game: string;
  /** The secret seed of the shuffles. */
  readonly seed: string;
  /** The commitment of the file. */
  readonly commitment: string;
  /** The bytes that each seat added, empty for none: a player compares their own. */
  readonly clientSeeds: readonly string[];
  /** Whether the file's commitment is that of its seed. */
  readonly isCommitted: boolean;
  /** Whether the file's commitment is the one that the player was shown; undefined if none was given. */
  readonly isAsShown: boolean | undefined;
  /** The proof of each shuffle, in order. */
  readonly deals: readonly DealProof[];
  /** Whether all of this holds, and each deal is proved. */
  readonly isProved: boolean;
}

/**
 * Return whether the deals of a replay file follow from its seeds, and whether its seed was committed to; `commitment` is
 * what the player was shown before the game. Throws ReplayFault for a malformed file.
 */
export function verifyReplay(text: string, commitment?: string): Proof {
  const { header, shuffles } = readReplayFile(text);
  const isCommitted = bytesToHex(sha256(hexToBytes(header.seed))) === header.commitment;
  const isAsShown = commitment === undefined ? undefined : commitment === header.commitment;
  const key = keyOf(header);
  const deals = shuffles.map((listed) => proofOf(key, listed, header.packs));
  const isProved = isCommitted && isAsShown !== false && deals.every((deal) => deal.isProved);
  return { ...header, isCommitted, isAsShown, deals, isProved };
}

function keyOf({ seed, clientSeeds }: Header): Uint8Array {
  const added = clientSeeds.map(hexToBytes).flatMap((bytes) => [bigEndian(bytes.length), bytes]);
  return hmac(sha256, hexToBytes(seed), concatBytes(LABEL, ...added));
}

function proofOf(key: Uint8Array, listed: ListedShuffle, packs: number): DealProof {
  const { line, round, shuffle, hands, others, isComplete } = listed;
  const cards = isComplete ? ascending([...hands.flat(), ...others]) : wholePacks(packs);
  const shuffled = shuffledBy(wordsOf(key, round, shuffle), cards);
  const fits = ([, order]: Order) => order.every((card, index) => card === shuffled[index]);
  const found = [...ordersOf(hands, others)].find(fits);
  return { line, round, shuffle, cards: cards.map(notation), firstSeat: found?.[0], isProved: found !== undefined };
}

/** Yield the orders in which the cards may have left the pack: hands singly and clockwise from any seat, then the others. */
function* ordersOf(hands: ListedShuffle["hands"], others: readonly CardNumber[]): Generator<Order> {
  if (hands.length === 0) yield [undefined, others];
  for (const [first, { length }] of hands.entries()) {
    const clockwise = [...hands.slice(first), ...hands.slice(0, first)];
    const dealt = Array.from({ length }, (_, turn) => clockwise.flatMap((hand) => hand.slice(turn, turn + 1))).flat();
    // The seat that is served first has as many cards as any other; seats that are out of the game have none.
    if (dealt.length === hands.flat().length) yield [first, [...dealt, ...others]];
  }
}

function wholePacks(packs: number): readonly CardNumber[] {
  return Array.from({ length: PACK_CARDS * packs }, (_, index) => Math.floor(index / packs));
}

/** Return the cards in the only order that the words allow: shuffled by Fisher and Yates, from the last one down. */
function shuffledBy(words: Iterator<number, never>, cards: readonly CardNumber[]): readonly CardNumber[] {
  const shuffled = [...cards];
  for (let last = shuffled.length - 1; last > 0; last--) {
    const chosen = below(words, last + 1);
    [shuffled[last], shuffled[chosen]] = [shuffled[chosen] ?? 0, shuffled[last] ?? 0];
  }
  return shuffled;
}

/** Yield the words of the stream of a shuffle. */
function* wordsOf(key: Uint8Array, round: number, shuffle: number): Generator<number, never> {
  for (let block = 0; ; block++) {
    const bytes = hmac(sha256, key, concatBytes(bigEndian(round), bigEndian(shuffle), bigEndian(block)));
    const view = new DataView(bytes.buffer, bytes.byteOffset);
    for (let at = 0; at < bytes.length; at += 4) yield view.getUint32(at);
  }
}

/** Return the next word as a number below a bound, each equally likely: words beyond its last full multiple are skipped. */
function below(words: Iterator<number, never>, bound: number): number {
  const limit = Math.floor(WORDS / bound) * bound;
  let { value } = words.next();
  while (value >= limit) ({ value } = words.next());
  return value % bound;
}

function bigEndian(value: number): Uint8Array {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, value);
  return bytes;
}

function ascending(cards: readonly CardNumber[]): readonly CardNumber[] {
  return [...cards].sort((one, other) => one - other);
}
