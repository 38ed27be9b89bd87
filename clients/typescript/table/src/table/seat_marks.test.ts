// The marks at a seat's name: short ones of that seat alone.
import assert from "node:assert/strict";
import { test } from "vitest";

import { create } from "@bufbuild/protobuf";
import { Words } from "@croupier/client";
import { Card, GameDescriptionSchema, Suit, TableViewSchema, WordKind } from "@croupier/client/contract";

import { seatMarks } from "./seat_marks.js";

const WORDS = new Words(create(GameDescriptionSchema, { words: [{ kind: WordKind.MARK, word: "score", text: "points now" }] }), "en");

test("a seat has its numbers, words and suits", () => {
  const { marks } = create(TableViewSchema, {
    marks: [
      { name: "count", value: { value: { case: "number", value: 9 } } },
      { name: "cover", seat: 1, value: { value: { case: "suit", value: Suit.SPADES } } },
      { name: "given", seat: 1, value: { value: { case: "cards", value: { cards: [Card.ACE_OF_SPADES] } } } },
      { name: "passed", seat: 1, value: { value: { case: "word", value: "passed" } } },
      { name: "score", seat: 0, value: { value: { case: "number", value: 0 } } },
      { name: "score", seat: 1, value: { value: { case: "number", value: 2 } } },
    ],
  });
  assert.deepEqual(seatMarks({ marks }, 0, WORDS), ["points now: 0"]);
  assert.deepEqual(seatMarks({ marks }, 1, WORDS), ["cover: ♠", "passed", "points now: 2"]);
});
