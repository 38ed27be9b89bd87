// How a proposal ended.
import type { Proposal, TableUpdate } from "@croupier/client/contract";

/** All agreed, a seat declined, or it ended before: its time was over, or the game went on. */
export type ProposalOutcome = { readonly kind: "agreed" | "lapsed" } | { readonly kind: "declined"; readonly seat: number };

/** Return how an update ended a proposal; undefined if it did not. */
export function outcomeOf(before: Proposal | undefined, { proposal, seat, facts, isAway }: TableUpdate, seats: number): ProposalOutcome | undefined {
  if (before === undefined || proposal?.sequence === before.sequence) return undefined;
  if (before.agreedSeats.length === seats) return { kind: "agreed" };
  // An entry of a seat without facts is its vote, unless it leaves its seat or returns.
  const isVote = seat !== undefined && facts.length === 0 && isAway === undefined && proposal === undefined;
  return isVote ? { kind: "declined", seat } : { kind: "lapsed" };
}
