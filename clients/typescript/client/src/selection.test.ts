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
import { Selection, others, playsOf, selectionOf } from "./selection.js";

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
const STAND_PAT = { verb: { case: "standPat", value: {} } } as const;

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
  {},
];

function play(card: Card, suit = Suit.UNSPECIFIED) {
  return { verb: { case: "play" as const, value: { card, suit } } };
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

test("each listed action is about one card, a choice of no cards, or for a button", () => {
  for (const legal of KNOWN.map(legalOf)) {
    const chosen = legal.choices.map((_, index) => selectionOf(legal).withChoice(index).action);
    const isChosen = (action: Action) => chosen.some((one) => one !== undefined && equals(ActionSchema, one, action));
    const cards = new Set(legal.actions.flatMap(({ verb }) => (verb.case === "play" ? [verb.value.card] : [])));
    const split = [...[...cards].flatMap((card) => playsOf(legal, card)), ...others(legal)];
    const listed = legal.actions.filter((action) => !isChosen(action));
    assert.deepEqual(new Set(split), new Set(listed));
    assert.equal(split.length, listed.length);
  }
});

test("a tap on a card is to play it, with each suit that it may order, and not to call it", () => {
  const queens = legalOf(KNOWN[5] ?? {});
  assert.equal(playsOf(queens, QUEEN).length, 4);
  assert.equal(others(queens).length, 1);
  const called = legalOf(KNOWN[6] ?? {});
  assert.deepEqual([playsOf(called, SIX).length, others(called).length], [0, 2]);
  const laid = legalOf({ actions: [[SEVEN], [SEVEN, EIGHT], []].map((cards) => ({ verb: { case: "lay", value: { cards } } })) });
  assert.deepEqual([playsOf(laid, SEVEN).length, others(laid).length], [1, 2]);
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

/** Return whether an action is listed, or completes a choice by the taps for its parts. */
function isReached(legal: LegalActions, action: Action): boolean {
  const isIt = (other: Action | undefined) => other !== undefined && equals(ActionSchema, sorted(other), sorted(action));
  const { cards, suit, amount, seat } = partsOf(action);
  const tappedCards = action.verb.case === "play" ? [action.verb.value.card] : cards;
  const listed = [...others(legal), ...tappedCards.flatMap((card) => playsOf(legal, card))];
  const completed = legal.choices.map((choice, index) => {
    let selection = selectionOf(legal).withChoice(index);
    try {
      for (const card of cards) selection = selection.toggle(card);
      if (choice.suits.length > 0 && suit !== undefined) selection = selection.withSuit(suit);
      if (choice.amount !== undefined && amount !== undefined) selection = selection.withAmount(amount);
      if (choice.seats.length > 0 && seat !== undefined) selection = selection.withSeat(seat);
    } catch {
      return undefined;
    }
    return selection.action;
  });
  return [...listed, ...completed].some(isIt);
}

/** Tap at random, and check whatever the selection confirms by the contract. */
function confirmNothingElse(legal: LegalActions, random: Random): void {
  let selection = selectionOf(legal);
  for (let tap = 0; tap < 60; tap++) {
    selection = tapped(selection, random);
    const { action } = selection;
    if (action === undefined) continue;
    const isStandingPat = action.verb.case === "standPat" && legal.actions.some(({ verb }) => verb.case === "standPat");
    assert.ok(isStandingPat || legal.choices.some((choice) => completes(choice, action)), JSON.stringify(shown(action)));
  }
}

function tapped(selection: Selection, random: Random): Selection {
  const below = (end: number) => Math.floor(random() * end);
  const card = selection.choice?.cards?.cards[below(selection.choice.cards.cards.length + 1)] ?? below(80);
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
