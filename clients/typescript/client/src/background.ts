// What is followed in the background, from its opening to its closing.
import { type Surroundings, ownSurroundings } from "./surroundings.js";

/** Runs a function in the background at most once at a time. */
export class Background {
  private running: AbortController | undefined;
  /** Settles when the last run has ended. */
  private ended: Promise<void> = Promise.resolve();

  constructor(
    /** Runs until its end or the signal's; keeps its error itself, if it throws one. */
    private readonly run: (surroundings: Surroundings, signal: AbortSignal) => Promise<void>,
  ) {}

  /** Run, once the run before has ended; if one is going on, do nothing. */
  open(surroundings: Surroundings = ownSurroundings()): void {
    if (this.running !== undefined) return;
    const running = (this.running = new AbortController());
    this.ended = this.ended.then(async () => {
      try {
        if (!running.signal.aborted) await this.run(surroundings, running.signal);
      } catch {
        // The run has kept its error, or was closed.
      } finally {
        if (this.running === running) this.running = undefined;
      }
    });
  }

  /** End the run. */
  close(): void {
    this.running?.abort();
    this.running = undefined;
  }
}
