// Leaving the seat at a table and returning to it: when the player wants, and when they look at the page again.
import type { CroupierClient } from "./client.js";
import { setAway } from "./game.js";
import type { Table } from "./table.js";

/** Whether the player is away from their seat. A later change replaces one that has no answer yet. */
export class SeatAway {
  private change = new AbortController();
  private isReturning = false;

  constructor(
    private readonly client: CroupierClient,
    private readonly table: Table,
  ) {}

  /** Leave the seat to the engine. */
  leave(): Promise<void> {
    return this.set(true);
  }

  /** Return to the seat. It changes nothing if the engine does not play for it. */
  return(): Promise<void> {
    return this.set(false);
  }

  /** Give up a change without an answer, because the player acts: an action is a return. */
  stay(): void {
    this.change.abort();
  }

  /**
   * Return now, and whenever the page is shown again, also from the browser's cache of pages, until `signal` is aborted.
   * An opened stream is no reason to return, since a hidden page opens streams too. The table has its first snapshot.
   */
  returnWhenShown(failed: (error: unknown) => void, signal: AbortSignal): void {
    const look = () => {
      const isShown = document.visibilityState !== "hidden";
      // The engine knows whether the seat is away: the table of a page that was hidden may be out of date.
      if (isShown && this.table.seat !== undefined) this.return().catch(failed);
      // A return that waits for the connection would come while nobody looks.
      if (!isShown && this.isReturning) this.stay();
    };
    if (this.table.isAway) look();
    document.addEventListener("visibilitychange", look, { signal });
    window.addEventListener("pageshow", look, { signal });
  }

  private async set(isAway: boolean): Promise<void> {
    this.stay();
    const { signal } = (this.change = new AbortController());
    this.isReturning = !isAway;
    try {
      await setAway(this.client, this.table, isAway, signal);
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }
}
