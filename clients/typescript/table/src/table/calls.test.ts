// The call at a seat's name: of an auction, or a word in the play.
import assert from "node:assert/strict";
import { test } from "vitest";

import { type MessageInitShape, create } from "@bufbuild/protobuf";
import { Card, type CallSchema, TableViewSchema } from "@croupier/client/contract";

import { callAt } from "./calls.js";

const PASS = { verb: { case: "passTurn", value: {} } } as const;
const GO = { verb: { case: "declareWord", value: { word: "go" } } } as const;
const PLAYED = [{ name: "trick", count: 1, cards: [{ card: Card.KING_OF_SPADES, seat: 1 }] }];

/** Return the verbs of the calls at two seats. */
function shown(calls: readonly MessageInitShape<typeof CallSchema>[], piles: typeof PLAYED | []) {
  const view = create(TableViewSchema, { calls: [...calls], piles });
  return [0, 1].map((seat) => callAt(seat, view)?.action?.verb.case);
}

test("in an auction each seat has its last call", () => {
  assert.deepEqual(shown([{ seat: 0, action: PASS }, { seat: 1, action: GO }], []), ["passTurn", "declareWord"]);
});

test("in the play only the latest word is shown, and no bid", () => {
  assert.deepEqual(shown([{ seat: 0, action: GO }, { seat: 1, action: GO }], PLAYED), [undefined, "declareWord"]);
  assert.deepEqual(shown([{ seat: 1, action: GO }, { seat: 0, action: PASS }], PLAYED), [undefined, undefined]);
});
