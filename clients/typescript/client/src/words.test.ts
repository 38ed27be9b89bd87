// Values are shown by their kinds, and words by their texts.
import assert from "node:assert/strict";
import { test } from "vitest";

import { type MessageInitShape, create } from "@bufbuild/protobuf";

import { Card, Suit } from "./generated/croupier_api/v1/cards_pb.js";
import { PhraseSchema, RankGroupSchema, ValueSchema } from "./generated/croupier_api/v1/facts_pb.js";
import { GameDescriptionSchema, WordKind } from "./generated/croupier_api/v1/games_pb.js";
import { Words } from "./words.js";

type Value = MessageInitShape<typeof ValueSchema>["value"] & object;

const GAME = create(GameDescriptionSchema, {
  words: [
    { kind: WordKind.VALUE, word: "made", text: "klart" },
    { kind: WordKind.MARK, word: "made", text: "another word" },
    { kind: WordKind.PHRASE, word: "bid", text: "{seat} meldte {bid}" },
    { kind: WordKind.OPTION, word: "first_lead", text: "Første utspill" },
    { kind: WordKind.OPTION_CHOICE, word: "first_lead.left_of_dealer", text: "til venstre for giver" },
    { kind: WordKind.CARD, word: "QC", text: "den Gamle" },
  ],
});
const WORDS = new Words(GAME, "nb", ["Ada", "Bo", ""]);

const VALUES: readonly [Value, string][] = [
  [{ case: "number", value: -7 }, "-7"],
  [{ case: "word", value: "made" }, "klart"],
  [{ case: "word", value: "not_made" }, "not made"],
  [{ case: "seat", value: 0 }, "Ada"],
  [{ case: "seat", value: 2 }, "plass 3"],
  [{ case: "seats", value: { seats: [1, 0, 2] } }, "Bo, Ada og plass 3"],
  [{ case: "seats", value: {} }, "–"],
  [{ case: "suit", value: Suit.DIAMONDS }, "♦"],
  [{ case: "suit", value: Suit.UNSPECIFIED }, "–"],
  [{ case: "suit", value: 9 as Suit }, "ukjent"],
  [{ case: "cards", value: { cards: [Card.SEVEN_OF_HEARTS, Card.TEN_OF_SPADES, Card.QUEEN_OF_CLUBS] } }, "7♥ 10♠ den Gamle"],
  [{ case: "cards", value: { cards: [99 as Card] } }, "kort nr. 99"],
  [{ case: "cards", value: {} }, "–"],
  [{ case: "points", value: { points: [12, -3, 0] } }, "Ada 12, Bo -3, plass 3 0"],
  [{ case: undefined }, "ukjent"],
];

function phraseText(word: string, parameters: readonly [name: string, value: Value][]): string {
  const inserted = parameters.map(([name, value]) => ({ name, value: { value } }));
  return WORDS.phrases([create(PhraseSchema, { word, parameters: inserted })]);
}

test("a value is shown by its kind", () => {
  for (const [value, text] of VALUES) assert.equal(WORDS.value(create(ValueSchema, { value })), text);
});

test("a phrase has its parameters in place of the placeholders, which are not read as such", () => {
  const hidden = new Words(GAME, "nb", ["{bid}"]);
  const inserted = [
    { name: "seat", value: { value: { case: "seat" as const, value: 0 } } },
    { name: "bid", value: { value: { case: "number" as const, value: 5 } } },
  ];
  assert.equal(hidden.phrases([create(PhraseSchema, { word: "bid", parameters: inserted })]), "{bid} meldte 5");
});

test("an unknown phrase shows its word and its parameters", () => {
  assert.equal(phraseText("gone_through", []), "gone through");
  assert.equal(phraseText("called_by", [["seat", { case: "seat", value: 1 }], ["suit", { case: "suit", value: Suit.CLUBS }]]), "called by: Bo, ♣");
});

test("phrases are joined by commas", () => {
  assert.equal(WORDS.phrases([create(PhraseSchema, { word: "one_word" }), create(PhraseSchema, { word: "two" })]), "one word, two");
});

test("an option is shown by its name and the name of its value", () => {
  assert.equal(WORDS.option("first_lead", "left_of_dealer"), "Første utspill: til venstre for giver");
  assert.equal(WORDS.option("best_of", 3), "best of: 3");
  assert.equal(WORDS.option("hook", true), "hook: ja");
});

test("seats that share a place of a ranking have one", () => {
  const groups = [[1], [0, 2]].map((seats) => create(RankGroupSchema, { seats }));
  assert.equal(WORDS.ranking([...groups, create(RankGroupSchema, { seats: [0] })]), "1. Bo, 2. Ada og plass 3, 4. Ada");
});
