// The most important of what an update means is heard, and one's own card is not.
import assert from "node:assert/strict";
import { test } from "vitest";

import { create } from "@bufbuild/protobuf";
import { TableUpdateSchema } from "@croupier/client/contract";

import { soundOf } from "./signals.js";

const PLAYING = { seat: 0, isNewTurn: false, isOver: false };
const TAKEN = [{ fact: { case: "trickTaken" as const, value: { seat: 1 } } }];

test("the action of another seat is heard, one's own and a deal are not", () => {
  assert.deepEqual([1, 0, undefined].map((seat) => soundOf(create(TableUpdateSchema, seat === undefined ? {} : { seat }), PLAYING)), ["card", undefined, undefined]);
  assert.equal(soundOf(create(TableUpdateSchema, { seat: 0 }), { ...PLAYING, seat: undefined }), "card");
});

test("the end is heard before a turn, a turn before a trick, and a trick before a card", () => {
  const update = create(TableUpdateSchema, { seat: 1, facts: TAKEN });
  assert.equal(soundOf(update, { ...PLAYING, isNewTurn: true, isOver: true }), "over");
  assert.equal(soundOf(update, { ...PLAYING, isNewTurn: true }), "turn");
  assert.equal(soundOf(update, PLAYING), "trick");
});
