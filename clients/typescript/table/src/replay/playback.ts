// The playback of a replay: which step is shown, and when the next one follows.
import type { Replay } from "@croupier/client/replays";
import type { GameDescription } from "@croupier/client/contract";

import { ROUND_MILLISECONDS, type Scene, roundEndOf, scenesOf } from "../motion/scenes.js";

/** How long a step is shown at normal speed. */
const STEP_MILLISECONDS = 900;
export const SPEEDS = [0.5, 1, 2, 4] as const;

/** Calls a function later, unless the returned function is called before. */
export type Wait = (milliseconds: number, then: () => void) => () => void;

/** Shows a replay from a step on, and calls `changed` before anything of it changes on the screen. */
export class Playback {
  private waiting: readonly Scene[] = [];
  private cancel = () => {};
  private shownStep: number;
  private shown: Scene;
  private isOn = false;

  constructor(
    private readonly replay: Replay,
    private readonly game: GameDescription,
    step: number,
    private pace: number,
    private readonly changed: () => void,
    private readonly wait: Wait = waitByTimer,
  ) {
    this.shownStep = this.clamped(step);
    this.shown = this.sceneAt(this.shownStep);
  }

  get step(): number {
    return this.shownStep;
  }

  get scene(): Scene {
    return this.shown;
  }

  get isPlaying(): boolean {
    return this.isOn;
  }

  get speed(): number {
    return this.pace;
  }

  set speed(speed: number) {
    this.pace = speed;
    this.changed();
    this.schedule();
  }

  /** Show a step, or the nearest one that exists: the next one scene by scene, another one as it ends. */
  seek(step: number): void {
    const [before, next] = [this.shownStep, this.clamped(step)];
    const isNext = next === before + 1;
    this.waiting = isNext ? scenesOf(this.sceneAt(before), this.replay.updateAt(next), this.replay.eyes, this.game) : [this.sceneAt(next)];
    this.shownStep = next;
    if (next === this.replay.length) this.isOn = false;
    this.take();
  }

  /** Show the moment before (-1) or after (1) the step, or else the beginning or the end. */
  seekMoment(direction: -1 | 1): void {
    const steps = this.replay.moments.map(({ step }) => step);
    const before = steps.findLast((step) => step < this.shownStep) ?? 0;
    this.seek(direction === -1 ? before : steps.find((step) => step > this.shownStep) ?? this.replay.length);
  }

  /** Play on, from the beginning if the end is shown. */
  play(): void {
    this.isOn = this.replay.length > 0;
    if (this.shownStep === this.replay.length) return this.seek(0);
    this.changed();
    this.schedule();
  }

  pause(): void {
    this.isOn = false;
    this.changed();
    this.schedule();
  }

  /** Show nothing any more. */
  stop(): void {
    this.cancel();
  }

  private take(): void {
    const [scene, ...waiting] = this.waiting;
    this.waiting = waiting;
    this.shown = scene ?? this.shown;
    this.changed();
    this.schedule();
  }

  private schedule(): void {
    this.cancel();
    const [next] = this.waiting;
    if (next !== undefined) this.cancel = this.wait(next.restBefore / this.pace, () => this.take());
    else if (this.isOn) this.cancel = this.wait((roundEndOf(this.shown) === undefined ? STEP_MILLISECONDS : ROUND_MILLISECONDS) / this.pace, () => this.seek(this.shownStep + 1));
  }

  private sceneAt(step: number): Scene {
    return { view: this.replay.viewAt(step), facts: [], restBefore: 0 };
  }

  private clamped(step: number): number {
    return Math.max(0, Math.min(this.replay.length, step));
  }
}

function waitByTimer(milliseconds: number, then: () => void): () => void {
  const timer = setTimeout(then, milliseconds);
  return () => clearTimeout(timer);
}
