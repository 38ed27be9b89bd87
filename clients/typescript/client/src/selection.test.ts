// Every legal action can be chosen part by part or by a tap, and nothing else.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "vitest";

import { type MessageInitShape, clone, create, equals, fromBinary, toJson } from "@bufbuild/protobuf";
import { base64Decode } from "@bufbuild/protobuf/wire";

import {
  type Action,
  type ActionChoice,
  ActionSchema,
  type LegalActions,
  LegalActionsSchema,
} from "./generated/croupier_api/v1/actions_pb.js";
import { Card, Suit } from "./generated/croupier_api/v1/cards_pb.js";
import { type Random, randomLegal } from "./choices.js";
import { others } from "./options.js";
import { Selection, selectionOf } from "./selection.js";

type Init = MessageInitShape<typeof LegalActionsSchema>;
type Choice = NonNullable<Init["choices"]>[number];

const [TWO, SIX, QUEEN] = [Card.TWO_OF_CLUBS, Card.SIX_OF_HEARTS, Card.QUEEN_OF_SPADES];
/** Two cards of a game's own deck. */
const [SEVEN, EIGHT]: [number, number] = [64, 65];
const SUITS = [Suit.CLUBS, Suit.DIAMONDS, Suit.HEARTS, Suit.SPADES];
const KEEP = {
  action: { verb: { case: "keepCards", value: {} } },
  cards: { cards: [TWO, SIX, QUEEN], minCards: 0, maxCards: 3 },
  suits: SUITS,
} satisfies Choice;
const SWAP = {
  action: { verb: { case: "swapCards", value: {} } },
  cards: { cards: [TWO, SIX], minCards: 1, maxCards: 2 },
} satisfies Choice;
const BID = { action: { verb: { case: "bid", value: {} } }, amount: { minAmount: 60, maxAmount: 75, step: 5 } } satisfies Choice;
const SAY = {
  action: { verb: { case: "declareWord", value: { word: "boast" } } },
  cards: { cards: [SEVEN, SEVEN, EIGHT], minCards: 1, maxCards: 2 },
  amount: { minAmount: 3, maxAmount: 3, step: 1 },
  seats: [0, 2],
} satisfies Choice;
const NINES = [Card.NINE_OF_CLUBS, Card.NINE_OF_DIAMONDS, Card.NINE_OF_HEARTS];
const TENS = [Card.TEN_OF_CLUBS, Card.TEN_OF_DIAMONDS];
const [NINE, OTHER_NINE, THIRD_NINE] = NINES as [Card, Card, Card];
const [TEN, OTHER_TEN] = TENS as [Card, Card];
const STAND_PAT = { verb: { case: "standPat", value: {} } } as const;

/** Legal actions of games of combinations: sets of several ranks and a single card, pairs, melds that share cards, and all. */
const LEAD = { actions: [lay(SEVEN)], choices: [layOf(NINES, 1, 3), layOf(TENS, 1, 2)] } satisfies Init;
const ANSWER = { actions: [{ verb: { case: "passTurn", value: {} } }], choices: [layOf(NINES, 2, 2), layOf(TENS, 2, 2)] } satisfies Init;
const MELDS = { actions: [lay(SEVEN, ...NINES), lay(SEVEN, EIGHT), lay(EIGHT), { verb: { case: "draw", value: {} } }] } satisfies Init;
const MIXED = { actions: [play(SEVEN), play(EIGHT), lay(SEVEN, EIGHT)], choices: [SWAP, SAY, layOf(NINES, 1, 2)] } satisfies Init;

/** Legal actions as the five games, and games with decks of their own, have them. */
const KNOWN: readonly Init[] = [
  // 110: the auction, the kitty of the bid winner and of another player, and a trick.
  { actions: [{ verb: { case: "passTurn", value: {} } }, { verb: { case: "bid", value: { bid: { case: "amount", value: 20 } } } }] },
  { choices: [KEEP] },
  { actions: [STAND_PAT], choices: [SWAP] },
  { actions: [play(TWO), play(SIX)] },
  // Jøssing names trump, 101 draws or orders a suit with a queen.
  { actions: SUITS.flatMap((trump) => [false, true].map((allTricks) => nameTrump(trump, allTricks))) },
  { actions: [{ verb: { case: "draw", value: {} } }, ...SUITS.map((suit) => play(QUEEN, suit)), play(SIX)] },
  // Solo calls a partner, and throws the hand down; Thulla plays.
  { actions: [callPartner({ case: "card", value: SIX }), callPartner({ case: "nobody", value: {} })] },
  { actions: [{ verb: { case: "throwDown", value: {} } }, play(QUEEN)] },
  // Games with other decks: several choices, cards that are held twice, amounts and seats.
  { choices: [BID, SAY, { ...SAY, cards: { cards: [SEVEN, EIGHT], minCards: 1, maxCards: 1 } }] },
  LEAD,
  ANSWER,
  MELDS,
  MIXED,
  {},
];

function play(card: Card, suit = Suit.UNSPECIFIED) {
  return { verb: { case: "play" as const, value: { card, suit } } };
}

function lay(...cards: Card[]) {
  return { verb: { case: "lay" as const, value: { cards } } };
}

function layOf(cards: Card[], minCards: number, maxCards: number) {
  return { action: lay(), cards: { cards, minCards, maxCards } } satisfies Choice;
}

function nameTrump(trump: Suit, allTricks: boolean) {
  return { verb: { case: "nameTrump" as const, value: { trump, allTricks } } };
}

function callPartner(partner: { case: "card"; value: Card } | { case: "nobody"; value: object }) {
  return { verb: { case: "callPartner" as const, value: { partner } } };
}

function legalOf(init: Init): LegalActions {
  return create(LegalActionsSchema, init);
}

/** A file with a JSON array of legal actions with one of them, in base64, which tests/web writes. */
const RECORDED = process.env["CROUPIER_RECORDED_LEGAL"];

interface Recorded {
  readonly game: string;
  readonly legal: string;
  readonly action: string;
}

test.skipIf(RECORDED === undefined)("each action of the engine can be chosen, and nothing else", () => {
  const recorded: Recorded[] = JSON.parse(readFileSync(RECORDED ?? "", "utf8"));
  assert.ok(recorded.length > 0);
  const random = seeded(recorded.length);
  for (const { game, legal: encoded, action } of recorded) {
    const legal = fromBinary(LegalActionsSchema, base64Decode(encoded));
    const chosen = fromBinary(ActionSchema, base64Decode(action));
    assert.ok(isReached(legal, chosen), `${game}: ${JSON.stringify(shown(chosen))}`);
    confirmNothingElse(legal, random);
  }
});

test("each listed action is for a button, a choice of no cards, or reached by taps on its cards", () => {
  for (const legal of KNOWN.map(legalOf)) {
    const buttons = others(legal);
    for (const action of legal.actions) {
      const isOfNone = legal.choices.some((_, index) => isEqual(selectionOf(legal).withChoice(index).action, action));
      assert.equal(Number(buttons.includes(action)) + Number(isOfNone || isTapped(legal, action)), 1, JSON.stringify(shown(action)));
    }
  }
});

test("a tap on a card may play it with each suit that it may order, and does not call it", () => {
  const queens = legalOf(KNOWN[5] ?? {});
  assert.equal(selectionOf(queens).toggle(QUEEN).candidates.length, 4);
  assert.equal(others(queens).length, 1);
  const called = legalOf(KNOWN[6] ?? {});
  assert.deepEqual([selectionOf(called).isSelectable(SIX), others(called).length], [false, 2]);
});

test("taps on cards choose among sets of several ranks and single cards", () => {
  const lead = selectionOf(legalOf(LEAD));
  assert.deepEqual(lead.candidates.map(({ isWhole, minCards, maxCards, choice }) => [isWhole, minCards, maxCards, choice]), [
    [false, 1, 3, 0],
    [false, 1, 2, 1],
    [true, 1, 1, undefined],
  ]);
  const one = lead.toggle(OTHER_TEN);
  const two = one.toggle(TEN);
  assert.deepEqual([one, two].map(wholeOf), [[taken(lay(OTHER_TEN))], [taken(lay(...TENS))]]);
  assert.equal(two.choice, two.legal.choices[1]);
  assert.deepEqual(two.toggle(SEVEN).selected, [SEVEN], "a card that goes with none of the chosen ones begins anew");
  assert.deepEqual(wholeOf(two.toggle(SEVEN)), [taken(lay(SEVEN))]);
});

test("the parts of a choice are given up with its cards", () => {
  const keepOf = (cards: Card[], suits: Suit[]) => ({ ...KEEP, cards: { cards, minCards: 1, maxCards: 2 }, suits });
  const kept = selectionOf(legalOf({ choices: [keepOf(NINES, SUITS), keepOf(TENS, [Suit.CLUBS, Suit.SPADES])] })).toggle(NINE).withSuit(Suit.HEARTS);
  assert.equal(kept.toggle(OTHER_NINE).suit, Suit.HEARTS);
  assert.deepEqual([kept.toggle(TEN).selected, kept.toggle(TEN).suit, kept.toggle(TEN).action], [[TEN], undefined, undefined]);
});

test("a full choice takes no further card, and gives none up for it", () => {
  const pair = selectionOf(legalOf(ANSWER)).toggle(NINE).toggle(OTHER_NINE);
  assert.deepEqual([pair.isSelectable(THIRD_NINE), pair.toggle(THIRD_NINE).selected], [false, [NINE, OTHER_NINE]]);
  assert.deepEqual(pair.toggle(TEN).selected, [TEN]);
});

test("a choice of all its cards is whole before they are tapped, as a listed action is", () => {
  const answer = selectionOf(legalOf(ANSWER));
  assert.deepEqual(wholeOf(answer), [taken(lay(...TENS))]);
  assert.deepEqual(wholeOf(answer.toggle(OTHER_TEN)), [taken(lay(...TENS))]);
});

test("each chosen card leaves the listed actions that have it", () => {
  const melds = selectionOf(legalOf(MELDS));
  assert.equal(melds.candidates.length, 3);
  assert.deepEqual(wholeOf(melds.toggle(SEVEN)), [taken(lay(SEVEN, ...NINES)), taken(lay(SEVEN, EIGHT))]);
  assert.deepEqual(wholeOf(melds.toggle(EIGHT)), [taken(lay(SEVEN, EIGHT)), taken(lay(EIGHT))]);
  assert.deepEqual(wholeOf(melds.toggle(EIGHT).toggle(SEVEN)), [taken(lay(SEVEN, EIGHT))]);
});

test("a choice that the person has chosen keeps the cards that it may have, and takes no others", () => {
  const all = selectionOf(legalOf(MIXED)).toggle(SEVEN);
  const said = all.withChoice(1);
  assert.deepEqual([said.selected, said.candidates.length, said.limitedTo, all.limitedTo], [[SEVEN], 1, 1, undefined]);
  assert.equal(said.isSelectable(NINE), false);
  assert.deepEqual(all.withChoice(2).selected, []);
});

test("each random legal action can be chosen", () => {
  const random = seeded(7);
  for (const legal of KNOWN.map(legalOf)) {
    for (let round = 0; round < 200; round++) {
      const action = randomLegal(legal, random);
      assert.ok(action === undefined || isReached(legal, action), JSON.stringify(shown(action)));
    }
  }
});

test("nothing that is not legal is confirmed by any taps", () => {
  for (const legal of KNOWN.map(legalOf)) confirmNothingElse(legal, seeded(8));
});

test("what is missing becomes less with each part", () => {
  const nothing = selectionOf(legalOf({ choices: [KEEP] }));
  assert.deepEqual(nothing.missing, { minCards: 0, maxCards: 3, suit: true, amount: false, seat: false });
  assert.equal(nothing.action, undefined);
  const chosen = nothing.toggle(QUEEN).toggle(TWO).withSuit(Suit.HEARTS);
  assert.deepEqual([chosen.missing.maxCards, chosen.missing.suit], [1, false]);
  assert.deepEqual([chosen.suit, chosen.selected], [Suit.HEARTS, [QUEEN, TWO]]);
  assert.deepEqual(shown(chosen.action), { keepCards: { cards: ["CARD_QUEEN_OF_SPADES", "CARD_TWO_OF_CLUBS"], trump: "SUIT_HEARTS" } });
  assert.deepEqual([nothing.selected, nothing.suit], [[], undefined], "a selection never changes");
});

test("the swap of no cards is to stand pat, where that is legal", () => {
  const swap = selectionOf(legalOf({ actions: [STAND_PAT], choices: [SWAP] }));
  assert.deepEqual([shown(swap.action), swap.missing.minCards], [{ standPat: {} }, 0]);
  assert.deepEqual(shown(swap.toggle(SIX).action), { swapCards: { cards: ["CARD_SIX_OF_HEARTS"] } });
  const forced = selectionOf(legalOf({ choices: [SWAP] }));
  assert.deepEqual([forced.action, forced.missing.minCards], [undefined, 1]);
});

test("a card that is held twice counts twice, and a third tap puts both back", () => {
  const say = selectionOf(legalOf({ choices: [SAY] })).withSeat(2);
  const taps = [1, 2, 3].map((count) => Array.from({ length: count }).reduce<Selection>((selection) => selection.toggle(SEVEN), say));
  assert.deepEqual(taps.map(({ selected }) => selected), [[SEVEN], [SEVEN, SEVEN], []]);
  assert.equal(taps[1]?.isSelectable(EIGHT), false);
  assert.deepEqual(taps[1]?.toggle(EIGHT).selected, [SEVEN, SEVEN]);
  assert.deepEqual(shown(taps[1]?.action), { declareWord: { word: "boast", cards: [SEVEN, SEVEN], seat: 2, amount: 3 } });
});

test("where one card is to be chosen, another one takes its place", () => {
  const one = selectionOf(legalOf({ choices: [{ ...SAY, cards: { cards: [SEVEN, EIGHT], minCards: 1, maxCards: 1 } }] })).toggle(SEVEN);
  assert.equal(one.isSelectable(EIGHT), true);
  assert.deepEqual([one.toggle(EIGHT).selected, one.toggle(SEVEN).selected], [[EIGHT], []]);
});

test("a part that leaves no choice is chosen", () => {
  const say = selectionOf(legalOf({ choices: [{ ...SAY, seats: [2] }] }));
  assert.deepEqual([say.amount, say.seat, say.missing.amount, say.missing.seat], [3, 2, false, false]);
});

test("another choice begins anew", () => {
  const selection = selectionOf(legalOf({ choices: [BID, SAY] })).withAmount(65).withChoice(1);
  assert.deepEqual([selection.amount, selection.choice?.seats], [3, [0, 2]]);
});

test("a part that is not to be chosen is refused, and a card changes nothing", () => {
  const selection = selectionOf(legalOf({ choices: [BID, SAY] }));
  assert.throws(() => selection.withAmount(61), { name: "RangeError", message: "invalid amount 61: expected 60 to 75 in steps of 5" });
  assert.throws(() => selection.withAmount(80), RangeError);
  assert.throws(() => selection.withSuit(Suit.CLUBS), RangeError);
  assert.throws(() => selection.withChoice(1).withSeat(1), { message: "invalid seat 1: expected one of 0, 2" });
  assert.throws(() => selection.withChoice(2), { message: "invalid choice 2: expected 0 to 1" });
  assert.deepEqual(selection.toggle(TWO), selection);
  const empty = selectionOf(legalOf({}));
  assert.deepEqual([empty.action, empty.isSelectable(TWO), empty.choice], [undefined, false, undefined]);
});

test("a choice that is newer than this client is never confirmed", () => {
  const newer = selectionOf(legalOf({ choices: [{ action: { verb: { case: "draw", value: {} } }, seats: [0, 1] }] }));
  assert.equal(newer.withSeat(1).action, undefined);
});

/** Return whether an action is for a button, or reached by taps on its cards, and then by those for its other parts. */
function isReached(legal: LegalActions, action: Action): boolean {
  return others(legal).some((other) => isEqual(other, action)) || isTapped(legal, action);
}

function isTapped(legal: LegalActions, action: Action): boolean {
  const tapped = cardsOf(action).reduce<Selection>((selection, card) => selection.toggle(card), selectionOf(legal));
  return tapped.candidates.some(({ action: candidate, isWhole, choice }) => {
    if (isWhole && isEqual(candidate, action)) return true;
    const completed = choice === undefined ? undefined : withPartsOf(tapped.withChoice(choice), action);
    return completed !== undefined && isEqual(completed.action, action);
  });
}

/** Return a selection with the parts of an action; undefined if they are not to be chosen. */
function withPartsOf(selection: Selection, action: Action): Selection | undefined {
  const { suit, amount, seat } = partsOf(action);
  const { suits = [], seats = [], amount: range } = selection.choice ?? {};
  try {
    if (suits.length > 0 && suit !== undefined) selection = selection.withSuit(suit);
    if (range !== undefined && amount !== undefined) selection = selection.withAmount(amount);
    if (seats.length > 0 && seat !== undefined) selection = selection.withSeat(seat);
    return selection;
  } catch {
    return undefined;
  }
}

function cardsOf(action: Action): readonly Card[] {
  return action.verb.case === "play" ? [action.verb.value.card] : partsOf(action).cards;
}

/** Return whether two actions are the same, with their cards in any order. */
function isEqual(one: Action | undefined, other: Action): boolean {
  return one !== undefined && equals(ActionSchema, sorted(one), sorted(other));
}

function taken(action: MessageInitShape<typeof ActionSchema>): unknown {
  return shown(sorted(create(ActionSchema, action)));
}

function wholeOf({ candidates }: Selection): unknown[] {
  return candidates.flatMap(({ action, isWhole }) => (isWhole ? [shown(sorted(action))] : []));
}

/** Tap at random, and check whatever the selection confirms by the contract. */
function confirmNothingElse(legal: LegalActions, random: Random): void {
  let selection = selectionOf(legal);
  for (let tap = 0; tap < 60; tap++) {
    selection = tapped(selection, random);
    const whole = selection.candidates.flatMap(({ action, isWhole }) => (isWhole ? [action] : []));
    for (const action of [...whole, ...(selection.action === undefined ? [] : [selection.action])]) {
      const isListed = legal.actions.some((listed) => isEqual(listed, action));
      assert.ok(isListed || legal.choices.some((choice) => completes(choice, action)), JSON.stringify(shown(action)));
    }
  }
}

function tapped(selection: Selection, random: Random): Selection {
  const below = (end: number) => Math.floor(random() * end);
  const cards = [...selection.legal.choices.flatMap(({ cards }) => cards?.cards ?? []), ...selection.legal.actions.flatMap(cardsOf)];
  const card = cards[below(cards.length + 1)] ?? below(90);
  try {
    switch (below(5)) {
      case 0:
        return selection.withSuit(below(5));
      case 1:
        return selection.withAmount(below(selection.choice?.amount?.maxAmount ?? 3) + below(20));
      case 2:
        return selection.withSeat(below(4));
      case 3:
        return selection.withChoice(below(3));
      default:
        return selection.toggle(card);
    }
  } catch (error) {
    assert.ok(error instanceof RangeError);
    return selection;
  }
}

/** Return whether an action completes a choice, as the contract says it. */
function completes(choice: ActionChoice, action: Action): boolean {
  const { cards, suit, amount, seat } = partsOf(action);
  const left = [...(choice.cards?.cards ?? [])];
  const areHeld = cards.every((card) => left.includes(card) && left.splice(left.indexOf(card), 1));
  const { minCards = 0, maxCards = 0 } = choice.cards ?? {};
  const { minAmount = 0, maxAmount = 0, step = 1 } = choice.amount ?? {};
  return (
    choice.action?.verb.case === action.verb.case &&
    areHeld &&
    cards.length >= minCards &&
    cards.length <= maxCards &&
    (choice.suits.length === 0 || (suit !== undefined && choice.suits.includes(suit))) &&
    (choice.seats.length === 0 || (seat !== undefined && choice.seats.includes(seat))) &&
    (choice.amount === undefined ||
      (amount !== undefined && amount >= minAmount && amount <= maxAmount && (amount - minAmount) % step === 0))
  );
}

/** Return the parts of an action that may be chosen. */
function partsOf({ verb }: Action): { cards: readonly Card[]; suit?: Suit; amount?: number | undefined; seat?: number | undefined } {
  switch (verb.case) {
    case "keepCards":
      return { cards: verb.value.cards, suit: verb.value.trump };
    case "swapCards":
    case "lay":
      return { cards: verb.value.cards };
    case "declareWord":
      return { cards: verb.value.cards, amount: verb.value.amount, seat: verb.value.seat };
    case "bid":
      return { cards: [], amount: verb.value.bid.case === "amount" ? verb.value.bid.value : undefined };
    case "play":
      return { cards: [], suit: verb.value.suit };
    case "nameTrump":
      return { cards: [], suit: verb.value.trump };
    default:
      return { cards: [] };
  }
}

/** Return an action with its cards in order, since the order has no meaning. */
function sorted(action: Action): Action {
  const copy = clone(ActionSchema, action);
  if (copy.verb.value !== undefined && "cards" in copy.verb.value) copy.verb.value.cards.sort();
  return copy;
}

function shown(action: Action | undefined): unknown {
  return action && toJson(ActionSchema, action);
}

/** A seeded random source (mulberry32). */
function seeded(state: number): Random {
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
