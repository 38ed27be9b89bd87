import { create } from "@bufbuild/protobuf";
import { type GameDescription, GameDescriptionSchema, TableEventSchema } from "@croupier/client/contract";
import { replayOf } from "@croupier/client/replays";
import { expect, test } from "vitest";

import { eyesOf, eyesText } from "./eyes.js";
import { Playback } from "./playback.js";

const GAME: GameDescription = create(GameDescriptionSchema, {});

/** A replay of six steps, of which the third begins a round. */
function played(step = 0) {
  const update = (sequence: number) =>
    create(TableEventSchema, {
      eventKind: { case: "update", value: { sequence: BigInt(sequence), facts: sequence === 3 ? [{ fact: { case: "roundStarted", value: { round: 1 } } }] : [] } },
    });
  const replay = replayOf([create(TableEventSchema, { eventKind: { case: "snapshot", value: { view: {} } } }), ...[1, 2, 3, 4, 5, 6].map(update)], undefined);
  let waits: { readonly milliseconds: number; readonly then: () => void }[] = [];
  const wait = (milliseconds: number, then: () => void) => {
    const own = { milliseconds, then };
    waits.push(own);
    return () => void (waits = waits.filter((each) => each !== own));
  };
  let changes = 0;
  const playback = new Playback(replay, GAME, step, 1, () => void changes++, wait);
  const pass = () => {
    const [next] = waits;
    waits = waits.slice(1);
    next?.then();
  };
  return { playback, pass, waits: () => waits.map(({ milliseconds }) => milliseconds), changes: () => changes };
}

test("it plays step by step, and pauses at the end", () => {
  const { playback, pass, waits } = played(4);
  playback.play();
  pass();
  expect([playback.step, playback.isPlaying]).toEqual([5, true]);
  pass();
  expect([playback.step, playback.isPlaying]).toEqual([6, false]);
  expect(waits()).toEqual([]);
});

test("at the end it plays again from the beginning", () => {
  const { playback, waits } = played(6);
  playback.play();
  expect([playback.step, playback.isPlaying]).toEqual([0, true]);
  expect(waits()).toHaveLength(1);
});

test("another speed holds for the step that waits", () => {
  const { playback, waits } = played();
  playback.play();
  const [normal = 0] = waits();
  playback.speed = 4;
  expect(waits()).toEqual([normal / 4]);
});

test("a pause cancels the next step", () => {
  const { playback, waits, changes } = played();
  playback.play();
  playback.pause();
  expect(waits()).toEqual([]);
  expect(changes()).toBe(2);
});

test("a step beyond the ends is the nearest one", () => {
  const { playback } = played(99);
  expect(playback.step).toBe(6);
  playback.seek(-1);
  expect(playback.step).toBe(0);
});

test("moments lead to rounds, and to the ends", () => {
  const { playback } = played();
  const steps = ([1, 1, -1, -1] as const).map((direction) => {
    playback.seekMoment(direction);
    return playback.step;
  });
  expect(steps).toEqual([3, 6, 3, 0]);
});

test.each([["", undefined], ["all", "all"], ["2", 2], ["nonsense", undefined]] as const)("the eyes %j of an address are %j", (text, eyes) => {
  expect(eyesOf(text)).toBe(eyes);
  expect(eyesOf(eyesText(eyes))).toBe(eyes);
});
