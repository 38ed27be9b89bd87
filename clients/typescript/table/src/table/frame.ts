// What the table screen draws: one state of a table as its viewer knows it.
import type { LegalActions, PlayedSeat, Presence, Proposal, RoundScore, TableView, Team } from "@croupier/client/contract";

export interface Frame {
  readonly view: TableView;
  /** The score of the round whose end is shown. */
  readonly roundEnd: RoundScore | undefined;
  readonly seats: readonly PlayedSeat[];
  readonly teams: readonly Team[];
  /** The viewer's seat; undefined for a spectator. */
  readonly seat: number | undefined;
  /** The actions that the viewer may take now. */
  readonly legal: LegalActions | undefined;
  readonly presence: Presence | undefined;
  readonly proposal: Proposal | undefined;
  readonly awaySeats: readonly number[];
  readonly leftSeats: readonly number[];
}
