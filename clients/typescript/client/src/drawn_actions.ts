// Which taps of a person on the actions that a page has drawn count.
import { equals } from "@bufbuild/protobuf";

import { type Action, LegalActionsSchema } from "./generated/croupier_api/v1/actions_pb.js";
import type { Decision } from "./viewed_table.js";

/** A tap so soon after a change was meant for what was there before. */
export const SETTLING_MILLISECONDS = 300;

/** Acts as it was decided, as `Table.act` does; rejects if that is refused. */
export type Act = (action: Action, decision: Decision) => Promise<void>;

/** Actions that were drawn together, of which a person takes one. */
export class DrawnActions {
  private readonly drawnAt: number;
  private isTaken = false;

  constructor(
    private readonly act: Act,
    private latest: Decision,
    /** Returns milliseconds by a clock that always goes on evenly. */
    private readonly now: () => number = () => performance.now(),
  ) {
    this.drawnAt = now();
  }

  /** `Table.decision()` when they were drawn, or later with the same actions. */
  get decision(): Decision {
    return this.latest;
  }

  /**
   * Replace the decision by a later one with the same actions, after which a tap counts as before. Returns false if the
   * actions are others, or one was taken: then they have to be drawn anew.
   */
  update(decision: Decision): boolean {
    if (this.isTaken || !equals(LegalActionsSchema, decision.legal, this.latest.legal)) return false;
    this.latest = decision;
    return true;
  }

  /** Whether a tap counts now: it is not too soon after the drawing, and no other one waits for its answer. */
  get isReady(): boolean {
    return !this.isTaken && this.now() - this.drawnAt >= SETTLING_MILLISECONDS;
  }

  /**
   * Take an action as it was drawn; does nothing while a tap does not count. Rejects if the action is refused; then the
   * person chooses again.
   */
  async take(action: Action): Promise<void> {
    if (!this.isReady) return;
    this.isTaken = true;
    try {
      await this.act(action, this.latest);
    } catch (error) {
      this.isTaken = false;
      throw error;
    }
  }
}
