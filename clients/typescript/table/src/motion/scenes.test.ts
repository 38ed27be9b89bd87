// An update becomes scenes: a trick that goes is seen whole before, and so is the end of a round.
import assert from "node:assert/strict";
import { test } from "vitest";

import { type MessageInitShape, create } from "@bufbuild/protobuf";
import { Card, type FactSchema, GameDescriptionSchema, PileRole, TableUpdateSchema, TableViewSchema } from "@croupier/client/contract";

import { ROUND_MILLISECONDS, type Scene, lastTrickOf, roundEndOf, scenesOf } from "./scenes.js";

type FactInit = NonNullable<Exclude<MessageInitShape<typeof FactSchema>, { readonly $typeName: string }>["fact"]>;

const GAME = create(GameDescriptionSchema, { piles: [{ name: "trick", role: PileRole.TRICK }] });
const BEFORE = create(TableViewSchema, {
  seats: [{ cardCount: 1, cards: [Card.ACE_OF_SPADES] }, { cardCount: 1 }],
  piles: [{ name: "trick", count: 1, cards: [{ card: Card.KING_OF_SPADES, seat: 1 }] }],
});
const PLAY: FactInit = {
  case: "cardsMoved",
  value: { source: { place: { case: "hand", value: 0 } }, target: { place: { case: "pile", value: "trick" } }, cards: [Card.ACE_OF_SPADES], count: 1 },
};
const TAKEN: FactInit = { case: "trickTaken", value: { seat: 0 } };
const GONE: FactInit = {
  case: "cardsMoved",
  value: { source: { place: { case: "pile", value: "trick" } }, target: { place: { case: "pile", value: "taken" } }, cards: [Card.KING_OF_SPADES, Card.ACE_OF_SPADES], count: 2 },
};

const ENDED: FactInit = { case: "roundEnded", value: { score: { round: 1, points: [3, 0], totals: [3, 0] } } };

function scenes(facts: readonly FactInit[], seat?: number, before: Scene = { view: BEFORE, facts: [], restBefore: 0 }) {
  const update = create(TableUpdateSchema, { facts: facts.map((fact) => ({ fact })), ...(seat === undefined ? {} : { seat }) });
  return scenesOf(before, update, 0, GAME);
}

test("the last card of a trick lies on the table before the trick goes", () => {
  const [played, gone, ...others] = scenes([PLAY, TAKEN, GONE], 0);
  assert.deepEqual(others, []);
  assert.deepEqual(played?.view.piles.map(({ name, count }) => [name, count]), [["trick", 2]]);
  assert.deepEqual(gone?.view.piles.map(({ name, count }) => [name, count]), [["taken", 2]]);
  assert.equal(played?.restBefore, 0);
  assert.ok((gone?.restBefore ?? 0) > 1_000);
});

test("an action of another seat comes after a pause, and one's own at once", () => {
  assert.ok((scenes([], 1)[0]?.restBefore ?? 0) > 0);
  assert.equal(scenes([], 0)[0]?.restBefore, 0);
});

test("a new round waits until the old one was seen", () => {
  const parts = scenes([PLAY, TAKEN, GONE, { case: "roundStarted", value: { round: 2 } }], 0);
  assert.deepEqual(parts.map(({ view }) => view.round), [0, 0, 2]);
});

test("the end of a round is seen before whatever the next update brings, also one's own action", () => {
  const ended = scenes([PLAY, TAKEN, GONE, ENDED], 0).at(-1);
  assert.deepEqual(ended && roundEndOf(ended)?.points, [3, 0]);
  const next = scenes([{ case: "roundStarted", value: { round: 2 } }], 0, ended);
  assert.deepEqual(next.map(({ restBefore }) => restBefore), [ROUND_MILLISECONDS]);
  assert.equal(scenes([], 0, next[0])[0]?.restBefore, 0);
});

test("the trick that went is whole, and has its taker", () => {
  const cards = [{ card: Card.KING_OF_SPADES, seat: 1 }, { card: Card.ACE_OF_SPADES, seat: 0 }];
  const gone = lastTrickOf(BEFORE, scenes([PLAY, TAKEN, GONE], 0), GAME);
  assert.deepEqual(gone?.cards.map(({ card, seat }) => ({ card, seat })), cards);
  assert.equal(gone?.taker, 0);
  assert.equal(lastTrickOf(BEFORE, scenes([PLAY], 0), GAME), undefined);
  assert.equal(lastTrickOf(BEFORE, scenes([PLAY, GONE], 0), GAME)?.taker, undefined);
});
