// The cards of a hand are in the order of the game, and equal cards have numbers.
import assert from "node:assert/strict";
import { test } from "vitest";

import { Card } from "@croupier/client/contract";

import { handCards } from "./hand.js";

test("the order of the game comes first, then the order of the deck", () => {
  const cards = handCards([Card.TWO_OF_CLUBS, Card.ACE_OF_SPADES, Card.KING_OF_HEARTS], [Card.KING_OF_HEARTS], () => true, []);
  assert.deepEqual(cards.map(({ card }) => card), [Card.KING_OF_HEARTS, Card.TWO_OF_CLUBS, Card.ACE_OF_SPADES]);
});

test("of two equal cards only as many are lifted as were chosen", () => {
  const cards = handCards([Card.JOKER, Card.JOKER], [], () => true, [Card.JOKER]);
  assert.deepEqual(cards.map(({ copy, isLifted }) => [copy, isLifted]), [[0, true], [1, false]]);
});
