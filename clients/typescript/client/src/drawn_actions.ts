// Which taps of a person on the actions that a page has drawn count.
import type { Action } from "./generated/croupier_api/v1/actions_pb.js";

/** A tap so soon after a change was meant for what was there before. */
const SETTLING_MILLISECONDS = 300;

/** Acts as it was decided at a sequence of the table; rejects if that is refused. */
export type Act = (action: Action, expectedSequence: bigint | undefined) => Promise<void>;

/** Actions that were drawn together, of which a person takes one. */
export class DrawnActions {
  private readonly drawnAt: number;
  private isTaken = false;

  constructor(
    private readonly act: Act,
    /** `Table.expectedSequence` when they were drawn, or when the page last showed that nothing has changed since. */
    public expectedSequence: bigint | undefined,
    /** Returns milliseconds by a clock that always goes on evenly. */
    private readonly now: () => number,
  ) {
    this.drawnAt = now();
  }

  /**
   * Take an action as it was drawn. A tap too soon after the drawing, or while another one has no answer, does nothing.
   * Rejects if the action is refused; then the person chooses again.
   */
  async take(action: Action): Promise<void> {
    if (this.isTaken || this.now() - this.drawnAt < SETTLING_MILLISECONDS) return;
    this.isTaken = true;
    try {
      await this.act(action, this.expectedSequence);
    } catch (error) {
      this.isTaken = false;
      throw error;
    }
  }
}
