// Texts for a game that the page does not know: its cards, piles, words, and what is newer than this client.
import assert from "node:assert/strict";
import { test } from "vitest";

import { type MessageInitShape, create } from "@bufbuild/protobuf";

import { ActionSchema } from "./generated/croupier_api/v1/actions_pb.js";
import { Card, Suit } from "./generated/croupier_api/v1/cards_pb.js";
import { TableUpdateSchema } from "./generated/croupier_api/v1/engine_pb.js";
import { FactSchema, MoveReason, TableViewSchema } from "./generated/croupier_api/v1/facts_pb.js";
import { GameDescriptionSchema, WordKind } from "./generated/croupier_api/v1/games_pb.js";
import type { Language } from "./languages.js";
import { actionText, factText, knownTexts, seatParts, updateTexts } from "./sentences.js";
import { Words } from "./words.js";

const [RED_SEVEN, BLUE_ONE]: [number, number] = [64, 65];
const DECK = [
  { number: RED_SEVEN, notation: "R7", suit: "red", rank: "7", label: "Red seven" },
  { number: BLUE_ONE, notation: "B1", suit: "blue", rank: "1", label: "" },
];
const WORDS = [
  { kind: WordKind.CALL, word: "last_card", text: "last card!" },
  { kind: WordKind.CARD_MOVE, word: "cut", text: "{seat} cuts: {cards}" },
  { kind: WordKind.CARD, word: "JK", text: "joker" },
  { kind: WordKind.TERM, word: "declarer", text: "bidder" },
];
const NAMES = ["Ada", "Bo"];
const OWN = new Words(create(GameDescriptionSchema, { deck: DECK, words: WORDS }), "en", NAMES);
const [STANDARD, NORWEGIAN, RUSSIAN] = (["en", "nb", "ru"] as const).map(
  (language: Language) => new Words(create(GameDescriptionSchema, { words: WORDS }), language, NAMES),
) as [Words, Words, Words];

type Verb = MessageInitShape<typeof ActionSchema>["verb"] & object;
const ORDER: Verb = { case: "play", value: { card: Card.EIGHT_OF_HEARTS, suit: Suit.SPADES } };
const KEEP: Verb = { case: "keepCards", value: { cards: [Card.TEN_OF_CLUBS, Card.JOKER], trump: Suit.HEARTS } };
const ACTIONS: readonly [Verb, Words, string][] = [
  [{ case: "lay", value: { cards: [RED_SEVEN, BLUE_ONE], meld: "row", pile: "melds", owner: 1 } }, OWN, "lay Red seven, B1: row, melds (Bo)"],
  [{ case: "declareWord", value: { word: "last_card", seat: 1, amount: 0, cards: [RED_SEVEN] } }, OWN, "say “last card!”, Bo, 0, Red seven"],
  [{ case: "draw", value: { pile: "face_up" } }, OWN, "draw (face up)"],
  [{ case: "bid", value: { bid: { case: "amount", value: 0 } } }, OWN, "bid 0"],
  [{ case: "bid", value: {} }, OWN, "bid"],
  [{ case: "bid", value: { bid: { case: "contract", value: "solo_do" } } }, RUSSIAN, "заявка: solo do"],
  [{ case: "nameTrump", value: {} }, OWN, "name trump"],
  [ORDER, STANDARD, "play 8♥, order ♠"],
  [ORDER, NORWEGIAN, "spill 8♥, vri til ♠"],
  [ORDER, RUSSIAN, "сыграть 8♥, заказать ♠"],
  [KEEP, STANDARD, "keep 10♣ joker, trump: ♥"],
  [KEEP, RUSSIAN, "оставить 10♣ joker, козырь: ♥"],
  [{ case: "callPartner", value: { partner: { case: "unnamed", value: {} } } }, STANDARD, "call an unknown card"],
  [{ case: "callPartner", value: { partner: { case: "nobody", value: {} } } }, STANDARD, "call nobody"],
  [{ case: "matchBid", value: {} }, NORWEGIAN, "match meldingen"],
  [{ case: undefined }, STANDARD, "an action that is newer than this page"],
];

type FactKind = MessageInitShape<typeof FactSchema>["fact"] & object;
type Move = MessageInitShape<typeof FactSchema>["fact"] & { case: "cardsMoved" };

function move(reason: MoveReason, value: Move["value"]): FactKind {
  return { case: "cardsMoved", value: { ...value, reason } };
}

function hand(seat: number) {
  return { place: { case: "hand" as const, value: seat } };
}

function pile(name: string, owner?: number) {
  return { place: { case: "pile" as const, value: name }, ...(owner === undefined ? {} : { owner }) };
}

const PLAYED = { source: hand(0), target: pile("trick"), cards: [Card.SEVEN_OF_HEARTS], count: 1 };
const SCORE: FactKind = {
  case: "roundEnded",
  value: {
    score: {
      round: 2,
      points: [12, -3],
      headline: [{ word: "gone_through" }],
      notes: [{ phrases: [{ word: "bid", parameters: [{ name: "bid", value: { value: { case: "number", value: 3 } } }] }] }],
    },
  },
};
const FACTS: readonly [FactKind, Words, string][] = [
  [move(MoveReason.PICK_UP, { source: pile("stock"), target: pile("reserve", 0), count: 2 }), OWN, "Ada: picks up cards: 2 (stock → reserve (Ada))"],
  [move(MoveReason.PLAY, PLAYED), STANDARD, "Ada: plays 7♥ (trick)"],
  [move(MoveReason.PLAY, PLAYED), NORWEGIAN, "Ada: spiller 7♥ (trick)"],
  [move(MoveReason.PLAY, PLAYED), RUSSIAN, "Ada: кладёт 7♥ (trick)"],
  [move(MoveReason.PLAY, { ...PLAYED, word: "cut" }), STANDARD, "Ada cuts: 7♥"],
  [move(MoveReason.PLAY, { ...PLAYED, word: "newer_than_the_words" }), STANDARD, "Ada: plays 7♥ (trick)"],
  [move(MoveReason.DRAW, { source: pile("stock"), target: hand(1), count: 1 }), RUSSIAN, "Bo: берёт карты: 1 (stock)"],
  [move(MoveReason.DEAL, { target: pile("stock"), count: 9 }), STANDARD, "dealt cards: 9 (stock)"],
  [move(MoveReason.DISCARD, { source: hand(0), count: 1 }), STANDARD, "Ada: discarded cards: 1"],
  [move(MoveReason.DRAW, { target: pile("starter"), cards: [Card.SEVEN_OF_HEARTS], count: 1 }), STANDARD, "drawn: 7♥ (starter)"],
  [move(MoveReason.LAY, { source: pile("stock"), target: pile("table"), cards: [Card.SEVEN_OF_HEARTS], count: 1 }), NORWEGIAN, "lagt ut: 7♥ (stock → table)"],
  [move(MoveReason.REMOVE, { target: pile("removed"), cards: [Card.SEVEN_OF_HEARTS], count: 1 }), STANDARD, "taken out of the deck: 7♥ (removed)"],
  [move(MoveReason.REMOVE, { source: pile("count"), target: pile("played"), cards: [Card.SEVEN_OF_HEARTS], count: 1 }), RUSSIAN, "отложено: 7♥ (count → played)"],
  [move(MoveReason.REMOVE, { source: pile("away", 1), count: 2 }), OWN, "put aside: cards: 2 (away (Bo))"],
  [move(MoveReason.REMOVE, { source: hand(0), target: pile("played"), count: 2 }), OWN, "Ada: put aside: cards: 2 (played)"],
  [move(99 as MoveReason, { source: pile("stock"), target: pile("table"), count: 1 }), STANDARD, "moved: cards: 1 (stock → table)"],
  [move(99 as MoveReason, { source: hand(0), target: hand(1), count: 1 }), STANDARD, "Ada: moves cards: 1 (Bo)"],
  [{ case: "contractChanged", value: { changes: { declarer: 1, amount: 0, trump: Suit.UNSPECIFIED } } }, OWN, "0, no trump, bidder: Bo"],
  [{ case: "contractChanged", value: { changes: { trump: Suit.CLUBS } } }, RUSSIAN, "козырь: ♣"],
  [{ case: "called", value: { call: { seat: 0 } } }, OWN, "Ada: a secret call"],
  [{ case: "roundStarted", value: { round: 3, dealer: 1 } }, NORWEGIAN, "round 3, giver: Bo"],
  [{ case: "trickTaken", value: { seat: 1 } }, RUSSIAN, "Bo: берёт взятку"],
  [{ case: "seatOut", value: { seat: 1, place: 2 } }, STANDARD, "Bo: out, place: 2"],
  [{ case: "handRevealed", value: { seat: 0, cards: [Card.ACE_OF_SPADES] } }, NORWEGIAN, "Ada viser A♠"],
  [{ case: "turnChanged", value: { phase: "first_bid", seatsToAct: [0, 1] } }, NORWEGIAN, "first bid: Ada og Bo"],
  [{ case: "markChanged", value: { mark: { name: "to_take", seat: 1, value: { value: { case: "number", value: 4 } } } } }, OWN, "to take (Bo): 4"],
  [{ case: "markChanged", value: { mark: { name: "to_take", seat: 1 } } }, OWN, ""],
  [SCORE, STANDARD, "round 2: gone through; Ada 12 (bid: 3), Bo -3"],
  [{ case: "gameEnded", value: { reason: "last_card", isVoid: false } }, OWN, "the game is over: last card"],
  [{ case: "gameEnded", value: { reason: "limit", isVoid: true } }, RUSSIAN, "игра окончена: limit, результат аннулирован"],
  [{ case: undefined }, OWN, "something that is newer than this page"],
];

test("actions", () => {
  for (const [verb, words, text] of ACTIONS) assert.equal(actionText(create(ActionSchema, { verb }), words), text);
});

test("facts", () => {
  for (const [fact, words, text] of FACTS) assert.equal(factText(create(FactSchema, { fact }), words), text);
});

test("a player who leaves or returns", () => {
  const facts = [{ fact: { case: "trickTaken", value: { seat: 1 } } }] as const;
  const textsOf = (update: MessageInitShape<typeof TableUpdateSchema>) => updateTexts(create(TableUpdateSchema, update), OWN);
  assert.deepEqual(textsOf({ seat: 0, isAway: true }), ["Ada: leaves"]);
  assert.deepEqual(textsOf({ seat: 1, isAway: false }), ["Bo: returns"]);
  assert.deepEqual(textsOf({ seat: 0, facts: [...facts] }).filter(Boolean), ["Bo: takes the trick"]);
});

test("seats show tricks only in a game that has them", () => {
  const view = create(TableViewSchema, { dealer: 1, seats: [{}, { score: -3, cardCount: 2, tricksTaken: 0, isOut: true }] });
  const tricks = new Words(create(GameDescriptionSchema, { hasTricks: true }), "en", NAMES);
  assert.deepEqual(seatParts(view, 1, false, tricks), ["Bo: -3", "cards: 2", "tricks: 0", "dealer", "out"]);
  assert.deepEqual(seatParts(view, 1, false, STANDARD), ["Bo: -3", "cards: 2", "dealer", "out"]);
});

test("teams are against each other, and contract, calls and marks follow", () => {
  const calls = [{ seat: 0, action: { verb: { case: "passTurn" as const, value: {} } } }];
  const view = create(TableViewSchema, { contract: { trump: Suit.SPADES }, calls, marks: [{ name: "stall" }] });
  const teams = [{ seats: [0] }, { seats: [1] }].map((team) => ({ ...team, $typeName: "croupier_api.v1.Team" as const }));
  assert.deepEqual(knownTexts(view, teams, RUSSIAN), ["Ada — Bo", "козырь: ♠", "Ada: пас", "stall: –"]);
});
