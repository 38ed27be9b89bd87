// Scenes are shown in order, each after a rest, and without rests when many wait.
import assert from "node:assert/strict";
import { afterEach, beforeEach, test, vi } from "vitest";

import { create } from "@bufbuild/protobuf";
import { TableViewSchema } from "@croupier/client/contract";

import type { Scene } from "./scenes.js";
import { Stage } from "./stage.js";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function scene(round: number, restBefore: number): Scene {
  return { view: create(TableViewSchema, { round }), facts: [], restBefore };
}

function staged(): { readonly stage: Stage; readonly rounds: number[] } {
  const rounds: number[] = [];
  const stage = new Stage(create(TableViewSchema), ({ view }) => rounds.push(view.round), () => Date.now());
  return { stage, rounds };
}

test("a scene waits until the one before has rested", () => {
  const { stage, rounds } = staged();
  stage.add([scene(1, 0), scene(2, 400)]);
  assert.deepEqual(rounds, [1]);
  assert.equal(stage.isNewest, false);
  vi.advanceTimersByTime(399);
  assert.deepEqual(rounds, [1]);
  vi.advanceTimersByTime(1);
  assert.deepEqual(rounds, [1, 2]);
  assert.equal(stage.isNewest, true);
});

test("time that has passed already counts as rest", () => {
  const { stage, rounds } = staged();
  stage.add([scene(1, 0)]);
  vi.advanceTimersByTime(1_000);
  stage.add([scene(2, 400)]);
  vi.advanceTimersByTime(0);
  assert.deepEqual(rounds, [1, 2]);
});

test("many scenes that wait are shown without rests", () => {
  const { stage, rounds } = staged();
  stage.add(Array.from({ length: 14 }, (_, index) => scene(index + 1, 1_000)));
  vi.advanceTimersByTime(5);
  assert.deepEqual(rounds, [1, 2]);
  vi.advanceTimersByTime(20_000);
  assert.equal(rounds.length, 14);
});

test("a snapshot takes the place of all that waits", () => {
  const { stage, rounds } = staged();
  stage.add([scene(1, 0), scene(2, 400), scene(3, 400)]);
  vi.advanceTimersByTime(0);
  stage.replace(create(TableViewSchema, { round: 9 }));
  vi.advanceTimersByTime(5_000);
  assert.deepEqual(rounds, [1, 9]);
  assert.equal(stage.last.view.round, 9);
});

test("a hurried stage shows the newest state at once", () => {
  const { stage, rounds } = staged();
  stage.add([scene(1, 0), scene(2, 400), scene(3, 400)]);
  stage.hurry();
  assert.deepEqual(rounds, [1, 3]);
});
