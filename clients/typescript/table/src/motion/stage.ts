// The queue of scenes: it shows each after the one before has been seen, and hurries when many wait.
import type { TableView } from "@croupier/client/contract";

import type { Scene } from "./scenes.js";

/** With more scenes than this the rests are shorter, and with many more there are none. */
const HURRIED = 4;
const MANY = 12;
const HURRIED_SPEED = 0.35;

/** Shows scenes by `show`, in order. */
export class Stage {
  private readonly waiting: Scene[] = [];
  private timer: ReturnType<typeof setTimeout> | undefined;
  private shown: Scene;
  private shownAt = Number.NEGATIVE_INFINITY;

  constructor(
    view: TableView,
    private readonly show: (scene: Scene) => void,
    /** Returns milliseconds by a clock that always goes on evenly. */
    private readonly now = () => performance.now(),
  ) {
    this.shown = { view, facts: [], restBefore: 0 };
  }

  /** The last scene that waits, or else the shown one: the next update follows on it. */
  get last(): Scene {
    return this.waiting.at(-1) ?? this.shown;
  }

  /** Whether the newest state is shown. */
  get isNewest(): boolean {
    return this.waiting.length === 0;
  }

  /** Show scenes after all that wait; the first one at once if nothing waits and it needs no rest. */
  add(scenes: readonly Scene[]): void {
    const isIdle = this.isNewest;
    this.waiting.push(...scenes);
    if (isIdle && this.wait() === 0) this.showNext();
    this.schedule();
  }

  /** Show a state at once, in place of all that wait. */
  replace(view: TableView): void {
    this.stop();
    this.take({ view, facts: [], restBefore: 0 });
  }

  /** Show the newest state at once. */
  hurry(): void {
    const last = this.waiting.at(-1);
    if (last !== undefined) this.replace(last.view);
  }

  /** Show nothing any more. */
  stop(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.waiting.length = 0;
  }

  private schedule(): void {
    if (this.timer !== undefined || this.isNewest) return;
    this.timer = setTimeout(() => {
      this.timer = undefined;
      this.showNext();
      this.schedule();
    }, this.wait());
  }

  /** Return the milliseconds until the next scene is due. */
  private wait(): number {
    const [next] = this.waiting;
    const count = this.waiting.length;
    const speed = count > MANY ? 0 : count > HURRIED ? HURRIED_SPEED : 1;
    return Math.max(0, (next?.restBefore ?? 0) * speed - (this.now() - this.shownAt));
  }

  private showNext(): void {
    const next = this.waiting.shift();
    if (next !== undefined) this.take(next);
  }

  private take(scene: Scene): void {
    this.shown = scene;
    this.shownAt = this.now();
    this.show(scene);
  }
}
