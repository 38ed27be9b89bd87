// Actions that complete choices.
import assert from "node:assert/strict";
import { test } from "vitest";

import { type MessageInitShape, create, toJson } from "@bufbuild/protobuf";

import { ActionSchema, LegalActionsSchema } from "./generated/croupier_api/v1/actions_pb.js";
import { Suit } from "./generated/croupier_api/v1/cards_pb.js";
import { randomLegal } from "./choices.js";

const CARDS = { cards: [64, 65, 66, 67], minCards: 2, maxCards: 3 };

/** Return the JSON of random actions of one choice, for three chances. */
function actions(choices: MessageInitShape<typeof LegalActionsSchema>["choices"] & object): unknown[] {
  const legal = create(LegalActionsSchema, { choices });
  return [0, 0.5, 0.999].map((chance) => {
    const action = randomLegal(legal, () => chance);
    return action && toJson(ActionSchema, action);
  });
}

test("the right number of distinct cards is chosen", () => {
  assert.deepEqual(actions([{ action: { verb: { case: "swapCards", value: {} } }, cards: CARDS }]), [
    { swapCards: { cards: [64, 65] } },
    { swapCards: { cards: [66, 65, 67] } },
    { swapCards: { cards: [67, 66, 65] } },
  ]);
});

test("standing pat is as likely as a swap of each number of cards", () => {
  const cards = { cards: [64, 65], minCards: 1, maxCards: 2 };
  const legal = create(LegalActionsSchema, {
    actions: [{ verb: { case: "standPat", value: {} } }],
    choices: [{ action: { verb: { case: "swapCards", value: {} } }, cards }],
  });
  const verbs = [0.1, 0.4, 0.7].map((chance) => {
    const verb = randomLegal(legal, () => chance)?.verb;
    return verb?.case === "swapCards" ? verb.value.cards.length : verb?.case;
  });
  assert.deepEqual(verbs, ["standPat", 1, 2]);
});

test("amounts keep their step", () => {
  const amount = { minAmount: 60, maxAmount: 110, step: 5 };
  const bids = actions([{ action: { verb: { case: "bid", value: {} } }, amount }]);
  assert.deepEqual(bids, [60, 85, 110].map((bid) => ({ bid: { amount: bid } })));
});

test("suits go into trump or suit, and other parts stay", () => {
  const suits = [Suit.CLUBS, Suit.DIAMONDS];
  const named = actions([{ action: { verb: { case: "nameTrump", value: { allTricks: true } } }, suits }]);
  assert.deepEqual(named[0], { nameTrump: { trump: "SUIT_CLUBS", allTricks: true } });
  const played = actions([{ action: { verb: { case: "play", value: { card: 7 } } }, suits }]);
  assert.deepEqual(played[2], { play: { card: "CARD_EIGHT_OF_CLUBS", suit: "SUIT_DIAMONDS" } });
});

test("cards, seat and amount go into one declaration", () => {
  const choice = { cards: { cards: [64], minCards: 1, maxCards: 1 }, seats: [0, 2], amount: { minAmount: 0, maxAmount: 3, step: 1 } };
  const declared = actions([{ action: { verb: { case: "declareWord", value: { word: "boast" } } }, ...choice }]);
  assert.deepEqual(declared[0], { declareWord: { word: "boast", cards: [64], seat: 0, amount: 0 } });
});

test("a choice for a verb that has no such part is refused", () => {
  assert.throws(() => actions([{ action: { verb: { case: "draw", value: {} } }, seats: [1] }]), /newer than this client/);
});

test("there is no action if none is legal", () => {
  assert.equal(randomLegal(undefined, Math.random), undefined);
});
