// What a viewer knows of a table: the state that the events of its stream make.
import { type JsonObject, create } from "@bufbuild/protobuf";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { ConnectError } from "@connectrpc/connect";

import type { LegalActions } from "./generated/croupier_api/v1/actions_pb.js";
import type { Presence, Proposal, Snapshot, TableEvent, TableUpdate, TurnClock, TurnState } from "./generated/croupier_api/v1/engine_pb.js";
import { type RankGroup, type TableView, TableViewSchema } from "./generated/croupier_api/v1/facts_pb.js";
import type { Team } from "./generated/croupier_api/v1/games_pb.js";
import type { PlayedSeat } from "./generated/croupier_api/v1/tables_pb.js";
import { fold } from "./view.js";

/**
 * How a table is followed:
 * - `opening`: there is no snapshot yet.
 * - `live`: the stream is open, and all entries are there.
 * - `catching up`: a stream was lost or is opened again, and entries may be missing.
 * - `away`: no stream is open, because the page has been hidden for long, or the table was closed.
 * - `offline`: the device says that it has no network, or the last attempt to open a stream failed, by `error`; more follow.
 * - `over`: the game is over.
 * - `failed`: the stream was refused for good, by `error`.
 */
export type TableStatus = "opening" | "live" | "catching up" | "away" | "offline" | "over" | "failed";

/** A turn as a person sees it: what they decide now is for this turn only. */
export interface Decision {
  /** `ViewedTable.sequence` of the turn. */
  readonly sequence: bigint;
  /** `ViewedTable.expectedSequence` of the turn. */
  readonly expectedSequence: bigint | undefined;
  /** The legal actions of the turn. */
  readonly legal: LegalActions;
}

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };

/** All that a viewer may know of a table now. */
export class ViewedTable {
  /** How the table is followed. */
  readonly status: TableStatus = "opening";
  /** Why the last stream was lost or refused; undefined while messages arrive. */
  readonly error: ConnectError | undefined = undefined;
  /** The id of the game; empty before the first snapshot, as all else. */
  readonly game: string = "";
  /** The version of the game's rules; 0 before the first snapshot. */
  readonly rulesVersion: number = 0;
  /** Every option of the game by name. */
  readonly options: JsonObject = {};
  /** The seats by number. */
  readonly seats: readonly PlayedSeat[] = [];
  /** The teams; empty if each seat plays for itself. */
  readonly teams: readonly Team[] = [];
  /** The view of the game: another value after each change. */
  readonly view: TableView = create(TableViewSchema);
  /** The clock of the turn. */
  readonly clock: TurnClock | undefined = undefined;
  /** The seats whose players are connected, and the number of spectators; undefined while that is not known. */
  readonly presence: Presence | undefined = undefined;
  /** The pending proposal; it ends without an event after `proposalSecondsLeft`. */
  readonly proposal: Proposal | undefined = undefined;
  /** The player's seat; undefined for a spectator. */
  readonly seat: number | undefined = undefined;
  /** The sequence of the last entry that the view includes; undefined before the first snapshot. */
  readonly sequence: bigint | undefined = undefined;
  /** The actions that the player may take now; undefined if it is not their turn. */
  readonly legal: LegalActions | undefined = undefined;
  /** The secret seed of the shuffles, 64 hexadecimal digits; empty until the game is over. */
  readonly revealedSeed: string = "";
  /** When the clock arrived, in milliseconds by a clock that always goes on evenly. */
  private clockArrivedAt = 0;
  /** The sequence of the player's last action, which may be ahead of the stream. */
  private actedAt = 0n;

  /** Groups of seats, best first, once the game is over; else empty. */
  get ranking(): readonly RankGroup[] {
    return this.view.ranking;
  }

  /** Whether the game is over. */
  get isOver(): boolean {
    return this.ranking.length > 0;
  }

  /** The seats that the engine plays for until their players act or return: their time ran out, or they left. */
  get awaySeats(): readonly number[] {
    return this.clock?.awaySeats ?? [];
  }

  /** Those of `awaySeats` whose players left. */
  get leftSeats(): readonly number[] {
    return this.clock?.leftSeats ?? [];
  }

  /** The seats of players who are not connected; none while the presence is not known. */
  get offlineSeats(): readonly number[] {
    const { presence, seats } = this;
    const isOffline = (seat: number) => seats[seat]?.bot === "" && presence?.connectedSeats.includes(seat) === false;
    return [...seats.keys()].filter(isOffline);
  }

  /** Whether the engine plays for the player's own seat. */
  get isAway(): boolean {
    return this.seat !== undefined && this.awaySeats.includes(this.seat);
  }

  /** Whether the player has left their own seat. */
  get hasLeft(): boolean {
    return this.seat !== undefined && this.leftSeats.includes(this.seat);
  }

  /**
   * What an action that is decided now expects: the sequence, or undefined where several seats act at once. There the
   * action of another moves the table on, and leaves this one as legal as it was.
   */
  get expectedSequence(): bigint | undefined {
    return this.view.seatsToAct.length > 1 ? undefined : this.sequence;
  }

  /** The server's time now in milliseconds since 1970 UTC; undefined before the first snapshot. */
  get serverNow(): number | undefined {
    return this.clock && Number(this.clock.serverUnixMs) + performance.now() - this.clockArrivedAt;
  }

  /** The seconds until the deadline by the server's time, at least 0; undefined without a deadline. */
  get secondsLeft(): number | undefined {
    const { deadlineUnixMs = 0n } = this.clock ?? {};
    return deadlineUnixMs === 0n ? undefined : this.secondsUntil(Number(deadlineUnixMs));
  }

  /** The seconds until the pending proposal ends, at least 0; undefined without a proposal. */
  get proposalSecondsLeft(): number | undefined {
    const expiry = this.proposal?.expiryTime;
    return expiry && this.secondsUntil(timestampMs(expiry));
  }

  /** Return the turn as it is now, to keep with the buttons that show it; undefined if the player may not act. */
  decision(): Decision | undefined {
    const { sequence, expectedSequence, legal } = this;
    if (sequence === undefined || legal === undefined) return undefined;
    return Object.freeze({ sequence, expectedSequence, legal });
  }

  /** Replace some values. */
  protected change(values: Partial<Writable<ViewedTable>>): void {
    Object.assign(this, values);
  }

  /** Apply an event; throws for an entry that does not follow the last one, or a fact that does not fit the view. */
  protected apply({ eventKind }: TableEvent): void {
    if (eventKind.case === "snapshot") this.replace(eventKind.value);
    if (eventKind.case === "update") this.append(eventKind.value);
    if (eventKind.case === "turnState") this.setTurn(eventKind.value);
    if (eventKind.case === "presence") this.change({ presence: eventKind.value });
  }

  /** Note that an action of the player is stored: until the stream has reached it, no other action is legal. */
  protected acted(sequence: bigint): void {
    if (sequence > this.actedAt) this.actedAt = sequence;
    this.setLegal(this.legal);
  }

  private secondsUntil(unixMilliseconds: number): number {
    return Math.max(0, unixMilliseconds - (this.serverNow ?? 0)) / 1000;
  }

  private replace({ table, view, viewerSeat, presence, revealedSeed, ...turn }: Snapshot): void {
    const { game = "", rulesVersion = 0, options = {}, seats = [], teams = [] } = table ?? {};
    this.change({ game, rulesVersion, options, seats, teams, presence, revealedSeed, seat: viewerSeat });
    this.change({ view: view ?? create(TableViewSchema) });
    this.takeTurn(turn);
  }

  private append(update: TableUpdate): void {
    const { sequence, facts, revealedSeed } = update;
    if (sequence !== (this.sequence ?? 0n) + 1n) throw new Error("an entry of the log is missing");
    try {
      // Without facts the game is as it was: the same view shows that a decision still fits.
      if (facts.length > 0) this.change({ view: fold(this.view, facts, this.seat) });
    } catch (error) {
      // The next stream begins with a snapshot, so the view is right again.
      this.change({ sequence: undefined });
      throw error;
    }
    this.change({ revealedSeed });
    this.takeTurn(update);
  }

  private setTurn(state: TurnState): void {
    if (state.sequence !== this.sequence) throw new Error("an entry of the log is missing");
    this.takeTurn(state);
  }

  private takeTurn({ sequence, clock, proposal, legalActions }: Pick<TurnState, "sequence" | "clock" | "proposal" | "legalActions">): void {
    this.clockArrivedAt = performance.now();
    this.change({ sequence, clock, proposal });
    this.setLegal(legalActions);
  }

  private setLegal(legal: LegalActions | undefined): void {
    this.change({ legal: (this.sequence ?? 0n) < this.actedAt ? undefined : legal });
  }
}
