// Texts for a game that the page does not know: its cards, piles, words, and what is newer than this client.
import assert from "node:assert/strict";
import test from "node:test";

import { type MessageInitShape, create } from "@bufbuild/protobuf";

import { ActionSchema } from "./generated/croupier_api/v1/actions_pb";
import { Card, Suit } from "./generated/croupier_api/v1/cards_pb";
import { TableUpdateSchema } from "./generated/croupier_api/v1/engine_pb";
import { FactSchema, MoveReason } from "./generated/croupier_api/v1/facts_pb";
import { GameDescriptionSchema } from "./generated/croupier_api/v1/games_pb";
import { actionText, factText, updateTexts } from "./sentences";
import { Words } from "./words";

const [RED_SEVEN, BLUE_ONE]: [number, number] = [64, 65];
const DECK = [
  { number: RED_SEVEN, notation: "R7", suit: "red", rank: "7", label: "Red seven" },
  { number: BLUE_ONE, notation: "B1", suit: "blue", rank: "1", label: "" },
];
const OWN = new Words(create(GameDescriptionSchema, { deck: DECK, displayNames: { last_card: "last card!" } }), ["Ada", "Bo"]);
const STANDARD = new Words(create(GameDescriptionSchema, { displayNames: { JK: "joker" } }), ["Ada", "Bo"]);

type Verb = MessageInitShape<typeof ActionSchema>["verb"] & object;
const ACTIONS: readonly [Verb, Words, string][] = [
  [{ case: "lay", value: { cards: [RED_SEVEN, BLUE_ONE], meld: "row", pile: "melds", owner: 1 } }, OWN, "lay Red seven, B1 as row on melds of Bo"],
  [{ case: "declareWord", value: { word: "last_card", seat: 1, amount: 0, cards: [RED_SEVEN] } }, OWN, "say “last card!”, Bo, 0, Red seven"],
  [{ case: "draw", value: { pile: "face_up" } }, OWN, "draw from face up"],
  [{ case: "bid", value: { bid: { case: "amount", value: 0 } } }, OWN, "bid 0"],
  [{ case: "play", value: { card: Card.EIGHT_OF_HEARTS, suit: Suit.SPADES } }, STANDARD, "play 8♥, spades ordered"],
  [{ case: "keepCards", value: { cards: [Card.TEN_OF_CLUBS, Card.JOKER], trump: Suit.HEARTS } }, STANDARD, "keep T♣ joker, hearts trump"],
  [{ case: "callPartner", value: { partner: { case: "unnamed", value: {} } } }, STANDARD, "call unknown"],
  [{ case: "callPartner", value: { partner: { case: "nobody", value: {} } } }, STANDARD, "call nobody"],
  [{ case: undefined }, STANDARD, "an action that is newer than this page"],
];

type FactKind = MessageInitShape<typeof FactSchema>["fact"] & object;
const FACTS: readonly [FactKind, Words, string][] = [
  [
    {
      case: "cardsMoved",
      value: {
        source: { place: { case: "pile", value: "stock" } },
        target: { place: { case: "pile", value: "reserve" }, owner: 0 },
        count: 2,
        reason: MoveReason.PICK_UP,
      },
    },
    OWN,
    "pick up: 2 cards, stock → reserve of Ada",
  ],
  [{ case: "contractChanged", value: { changes: { declarer: 1, amount: 0, trump: Suit.UNSPECIFIED } } }, OWN, "0, no trump, declared by Bo"],
  [{ case: "called", value: { call: { seat: 0 } } }, OWN, "Ada: a secret call"],
  [{ case: "markChanged", value: { mark: { name: "to_take", seat: 1, value: "4" } } }, OWN, "to take of Bo: 4"],
  [{ case: "gameEnded", value: { reason: "last_card", isVoid: false } }, OWN, "the game is over: last card!"],
  [{ case: "gameEnded", value: { reason: "limit", isVoid: true } }, OWN, "the game is over: limit, and the result is void"],
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
  assert.deepEqual(textsOf({ seat: 0, isAway: true }), ["Ada leaves"]);
  assert.deepEqual(textsOf({ seat: 1, isAway: false }), ["Bo returns"]);
  assert.deepEqual(textsOf({ seat: 0, facts: [...facts] }).filter(Boolean), ["Bo takes the trick"]);
});
