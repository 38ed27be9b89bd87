// A table as a player follows it: a stream that is resumed after a lost connection, the view, and the legal actions.
import { create } from "@bufbuild/protobuf";
import type { ConnectError } from "@connectrpc/connect";

import type { LegalActions } from "./generated/croupier_api/v1/actions_pb.js";
import type { Presence, Snapshot, TableEvent, TableUpdate, TurnClock, TurnState } from "./generated/croupier_api/v1/engine_pb.js";
import { type RankGroup, type TableView, TableViewSchema } from "./generated/croupier_api/v1/facts_pb.js";
import type { Team } from "./generated/croupier_api/v1/games_pb.js";
import type { PlayedSeat } from "./generated/croupier_api/v1/tables_pb.js";
import { type CroupierClient, forTable } from "./client.js";
import { reopen } from "./retry.js";
import { fold } from "./view.js";

/** Heartbeats come every 15 seconds: a connection without a message for this long has failed silently. */
const SILENCE_MILLISECONDS = 40_000;
/** The events to show. */
const SHOWN: ReadonlySet<string | undefined> = new Set(["snapshot", "update", "turnState", "presence", "reaction"]);

/** The state of a table for a player. */
export class Table {
  seats: readonly PlayedSeat[] = [];
  teams: readonly Team[] = [];
  /** The version of the game's rules; 0 before the first snapshot. */
  rulesVersion = 0;
  view: TableView = create(TableViewSchema);
  clock: TurnClock | undefined;
  /** The seats whose players are connected, and the number of spectators; undefined while that is not known. */
  presence: Presence | undefined;
  /** The player's seat; undefined for a spectator. */
  seat: number | undefined;
  /** The sequence of the last entry that the view includes; undefined before the first snapshot. */
  sequence: bigint | undefined;
  /** The actions that the player may take now; undefined if it is not their turn. */
  legal: LegalActions | undefined;
  /** The error of a stream that is being opened again; undefined while messages arrive. */
  interruption: ConnectError | undefined;
  /** The number of opened streams. */
  streams = 0;
  /** When the clock arrived, by a clock that always goes on evenly. */
  private clockArrivedAt = 0;
  /** The sequence of the player's last action, which may be ahead of the stream. */
  private actedAt = 0n;

  constructor(
    private readonly client: CroupierClient,
    readonly id: string,
    private readonly silenceMilliseconds = SILENCE_MILLISECONDS,
    /** A link of CreateLink, for a spectator at a table that needs one. */
    private readonly link = "",
  ) {}

  /** Groups of seats, best first, once the game is over; else empty. */
  get ranking(): readonly RankGroup[] {
    return this.view.ranking;
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

  /** The seconds until the deadline by the server's time, at least 0; undefined without a deadline. */
  get secondsLeft(): number | undefined {
    const { deadlineUnixMs = 0n, serverUnixMs = 0n } = this.clock ?? {};
    const passed = performance.now() - this.clockArrivedAt;
    return deadlineUnixMs === 0n ? undefined : Math.max(0, Number(deadlineUnixMs - serverUnixMs) - passed) / 1000;
  }

  /**
   * Follow the table to the end of its game, and yield events to show: snapshots, updates, states of the turn, presences,
   * reactions.
   * Lost connections are resumed until the caller stops, or `signal` is aborted.
   */
  async *follow(signal?: AbortSignal): AsyncGenerator<TableEvent> {
    const interrupted = (error?: ConnectError) => void (this.interruption = error);
    const events = reopen((signal) => this.stream(signal), () => this.ranking.length > 0, { signal, interrupted });
    for await (const event of events) {
      if (SHOWN.has(event.eventKind.case)) yield event;
    }
  }

  /** Note that an action of the player is stored: until the stream has reached it, no other action is legal. */
  acted(sequence: bigint): void {
    this.actedAt = sequence;
    this.setLegal(this.legal);
  }

  private setLegal(legal: LegalActions | undefined): void {
    this.legal = (this.sequence ?? 0n) < this.actedAt ? undefined : legal;
  }

  /** Open one stream after the last sequence; it fails when it has been silent for too long. */
  private async *stream(signal: AbortSignal): AsyncGenerator<TableEvent> {
    const silence = new AbortController();
    signal.addEventListener("abort", () => silence.abort());
    const restart = () => setTimeout(() => silence.abort(), this.silenceMilliseconds);
    let timer = restart();
    const seen = this.sequence === undefined ? {} : { afterSequence: this.sequence };
    const request = { tableId: this.id, link: this.link, ...seen };
    const options = { ...forTable(this.id), signal: silence.signal, timeoutMs: 0 };
    this.streams += 1;
    try {
      for await (const { tableEvent } of this.client.engine.watchTable(request, options)) {
        clearTimeout(timer);
        timer = restart();
        if (tableEvent === undefined) continue;
        this.apply(tableEvent);
        // A stream with only a resume notice counts as failed: otherwise this would loop without a delay.
        if (tableEvent.eventKind.case !== "resumeNotice") yield tableEvent;
      }
    } finally {
      clearTimeout(timer);
    }
  }

  /** Apply an event. After a ResumeNotice the stream ends, and another engine continues. */
  private apply({ eventKind }: TableEvent): void {
    if (eventKind.case === "snapshot") this.replace(eventKind.value);
    if (eventKind.case === "update") this.append(eventKind.value);
    if (eventKind.case === "turnState") this.setTurn(eventKind.value);
    if (eventKind.case === "presence") this.presence = eventKind.value;
  }

  private replace({ table, view, viewerSeat, sequence, clock, legalActions, presence }: Snapshot): void {
    this.seats = table?.seats ?? [];
    this.teams = table?.teams ?? [];
    this.rulesVersion = table?.rulesVersion ?? 0;
    this.view = view ?? create(TableViewSchema);
    this.seat = viewerSeat;
    this.sequence = sequence;
    this.presence = presence;
    this.setClock(clock);
    this.setLegal(legalActions);
  }

  private setClock(clock: TurnClock | undefined): void {
    this.clock = clock;
    this.clockArrivedAt = performance.now();
  }

  private append({ sequence, facts, clock, legalActions }: TableUpdate): void {
    if (sequence !== (this.sequence ?? 0n) + 1n) throw new Error("an entry of the log is missing");
    try {
      // Without facts the game is as it was: the same view shows that a decision still fits.
      if (facts.length > 0) this.view = fold(this.view, facts, this.seat);
    } catch (error) {
      // The next stream begins with a snapshot, so the view is right again.
      this.sequence = undefined;
      throw error;
    }
    this.sequence = sequence;
    this.setClock(clock);
    this.setLegal(legalActions);
  }

  private setTurn({ sequence, clock, legalActions }: TurnState): void {
    if (sequence !== this.sequence) throw new Error("an entry of the log is missing");
    this.setClock(clock);
    this.setLegal(legalActions);
  }
}
