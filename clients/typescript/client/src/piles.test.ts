// Piles are shown by role, and as much of each as its game says.
import assert from "node:assert/strict";
import { test } from "vitest";

import { type MessageInitShape, create } from "@bufbuild/protobuf";

import { Card, GameDescriptionSchema, PileDisplay, PileRole, PileSchema } from "./contract.js";
import { shownPiles } from "./piles.js";
import { Words } from "./words.js";

const PILES = [
  { name: "trick", role: PileRole.TRICK, display: PileDisplay.ALL },
  { name: "waste", role: PileRole.WASTE, display: PileDisplay.TOP },
  { name: "taken", role: PileRole.TAKEN, display: PileDisplay.COUNT },
];
const WORDS = new Words(create(GameDescriptionSchema, { piles: PILES }), "en", ["Ada", "Bo"]);
const CARDS = [{ card: Card.SIX_OF_CLUBS, seat: 0 }, { card: Card.SEVEN_OF_HEARTS, seat: 1 }];
const KNOWN = ["6♣ (Ada)", "7♥ (Bo)"];

function shown(...piles: readonly MessageInitShape<typeof PileSchema>[]): [text: string, more: readonly string[]][] {
  return shownPiles(piles.map((pile) => create(PileSchema, pile)), WORDS).map(({ text, more }) => [text, more]);
}

test("piles are in the order of the game, those that it does not describe last", () => {
  const named = (name: string, owner?: number) => ({ name, count: 1, ...(owner === undefined ? {} : { owner }) });
  const texts = shown(named("a_new_pile"), named("taken"), named("taken", 1), named("trick"), named("waste"));
  assert.deepEqual(texts.map(([text]) => text.replace(", cards: 1", "")), ["trick", "waste", "taken", "taken (Bo)", "a new pile"]);
});

test("all cards, the top card, or the number of cards is shown, and the others on demand", () => {
  const cards = { count: 2, cards: CARDS };
  assert.deepEqual(shown({ name: "trick", ...cards }), [["trick: 6♣ (Ada), 7♥ (Bo)", []]]);
  assert.deepEqual(shown({ name: "waste", ...cards }), [["waste: 7♥ (Bo), cards: 2", KNOWN]]);
  assert.deepEqual(shown({ name: "taken", ...cards }), [["taken, cards: 2", KNOWN]]);
});

test("a single card on top needs nothing more", () => {
  assert.deepEqual(shown({ name: "waste", count: 1, cards: CARDS.slice(1) }), [["waste: 7♥ (Bo)", []]]);
});

test("a pile that is known in part shows its number of cards", () => {
  const cards = { count: 3, cards: CARDS, faceDown: true };
  assert.deepEqual(shown({ name: "trick", ...cards }), [["trick, cards: 3, among them 6♣ (Ada), 7♥ (Bo), face down", []]]);
  assert.deepEqual(shown({ name: "waste", ...cards }), [["waste, cards: 3, face down", KNOWN]]);
});

test("a pile of unknown cards shows their number only", () => {
  for (const { name } of PILES) assert.deepEqual(shown({ name, count: 3 }), [[`${name}, cards: 3`, []]]);
});
