// The lines of all pages of the panel, with their switches: a page that is loaded again gets its line as it was.
import type { Line, Switches } from "./line.js";
import { Recording } from "./recording.js";
import type { Panel } from "./seat.js";

const ORDINARY: Switches = { isCut: false, delayMilliseconds: 0 };

export class Lines implements Panel {
  readonly recording = new Recording(() => this.changed());
  private readonly lines = new Map<number, Line>();
  private readonly switches = new Map<number, Switches>();
  private changed: () => void = () => {};

  /** Call a function after each change; returns one that ends this. */
  subscribe(changed: () => void): () => void {
    this.changed = changed;
    return () => void (this.changed = () => {});
  }

  attach(page: number, line: Line): void {
    line.set(this.of(page));
    this.lines.set(page, line);
  }

  recorder(page: number) {
    return {
      message: (message) => this.recording.message(page, message),
      action: (action) => this.recording.action(page, action),
    } satisfies Line["recorder"];
  }

  of(page: number): Switches {
    return this.switches.get(page) ?? ORDINARY;
  }

  set(page: number, change: Partial<Switches>): void {
    const switches = { ...this.of(page), ...change };
    this.switches.set(page, switches);
    this.lines.get(page)?.set(switches);
    this.changed();
  }
}
