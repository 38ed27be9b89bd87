// Seats around the table: clockwise from the viewer, each with a place of its own.
import assert from "node:assert/strict";
import { test } from "vitest";

import { liesInRow, placeOf, trickPlaceOf } from "./places.js";

test("the viewer sits below, and the next seat at the left", () => {
  for (let seats = 2; seats <= 8; seats++) {
    assert.deepEqual(placeOf(1, seats, 1), { x: 50, y: 100 });
    const others = Array.from({ length: seats - 1 }, (_, step) => placeOf((2 + step) % seats, seats, 1));
    const [first, last] = [others[0], others.at(-1)];
    if (seats > 2) assert.ok((first?.x ?? 50) < 50 && (last?.x ?? 50) > 50, `${seats} seats`);
    assert.equal(new Set(others.map(({ x, y }) => `${x.toFixed(2)} ${y.toFixed(2)}`)).size, others.length);
    assert.ok(others.every(({ x, y }) => x >= 0 && x <= 100 && y >= 0 && y <= 70), `${seats} seats`);
  }
});

test("a card lies between the middle and its seat", () => {
  const [seat, card] = [placeOf(1, 4, 0), trickPlaceOf(1, 4, 0)];
  assert.ok(seat.x < card.x && card.x < 50);
  assert.deepEqual(trickPlaceOf(undefined, 4, 0), { x: 50, y: 50 });
});

test("cards lie in a row once a seat has two, or two came from no hand", () => {
  assert.equal(liesInRow([]), false);
  assert.equal(liesInRow([2, 0, undefined, 1]), false);
  assert.equal(liesInRow([2, 0, 2]), true);
  assert.equal(liesInRow([undefined, 0, undefined]), true);
});
