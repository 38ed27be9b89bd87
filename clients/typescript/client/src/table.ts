// A table as a player follows it: a stream that is resumed after a lost connection, and the calls at the table.
import type { ConnectError } from "@connectrpc/connect";

import type { Action } from "./generated/croupier_api/v1/actions_pb.js";
import { type LinkPurpose, type TableEvent, Vote } from "./generated/croupier_api/v1/engine_pb.js";
import type { Reaction } from "./generated/croupier_api/v1/games_pb.js";
import { type CroupierClient, forTable } from "./client.js";
import { faultOf, throwUnlessOvertaken } from "./errors.js";
import { Background } from "./background.js";
import { Listeners } from "./listeners.js";
import { randomId } from "./random_id.js";
import { reopen, repeat } from "./retry.js";
import { NO_SURROUNDINGS, Pace, type Surroundings } from "./surroundings.js";
import { ViewedTable } from "./viewed_table.js";

/** The events to show. */
const SHOWN: ReadonlySet<string | undefined> = new Set(["snapshot", "update", "turnState", "presence", "reaction"]);

/** An event at a table. */
export interface EventChange {
  /** Names this kind of change. */
  readonly kind: "event";
  /** The event: a snapshot, an update, a state of the turn, a presence or a reaction. */
  readonly event: TableEvent;
}

/** A change of a table without an event: it has another status, or no action is legal since the player has acted. */
export interface StatusChange {
  /** Names this kind of change. */
  readonly kind: "status";
}

/** A change of a table. */
export type TableChange = EventChange | StatusChange;

/** How a table is followed. */
export interface TableSettings {
  /** A link of `createLink`, for a spectator at a table that needs one. */
  readonly link?: string;
  /** A stream without a message for so many milliseconds is opened again; 40,000 by default. */
  readonly silenceMilliseconds?: number;
}

/** How a player acts. */
export interface ActSettings {
  /** `expectedSequence` when the action was decided, as a `Decision` has it; by default that of now. */
  readonly expectedSequence?: bigint | undefined;
  /** Ends the attempts to send the action. */
  readonly signal?: AbortSignal | undefined;
}

/** A table: what its viewer knows of it, kept up to date while it is followed, and all that its players do. */
export class Table extends ViewedTable {
  private readonly listeners = new Listeners<TableChange>();
  /** The link by which the viewer has access; empty without one. */
  readonly link: string;
  private readonly silenceMilliseconds: number | undefined;
  private pace: Pace | undefined;
  private openedStreams = 0;
  private readonly background = new Background((surroundings, signal) => this.drain(surroundings, signal));
  /** Ends a change of the player's presence at the seat that has no answer yet. */
  private awayChange = new AbortController();
  private isReturning = false;
  /** The server's time at the first entry of the stream, if it began with one: those up to this time were missed. */
  private resumedAt: bigint | undefined;

  constructor(
    private readonly client: Pick<CroupierClient, "engine">,
    /** The id. */
    readonly id: string,
    { link = "", silenceMilliseconds }: TableSettings = {},
  ) {
    super();
    this.link = link;
    this.silenceMilliseconds = silenceMilliseconds;
  }

  /** The number of streams that were opened. */
  get streams(): number {
    return this.openedStreams;
  }

  /** The number of changes, for frameworks that compare a value to see whether the table has changed. */
  get revision(): number {
    return this.listeners.count;
  }

  /**
   * Call a function after each change of the table, in order, until the returned function is called. An error of the
   * function is reported as one that nobody caught. May be passed on without the table, for example to a hook.
   */
  readonly subscribe = (listener: (change: TableChange) => void): (() => void) => this.listeners.add(listener);

  /**
   * Follow the table in the background to the end of its game, or until `close`. The stream is opened again at once when
   * the page is shown again, or the device has a network again; while the page is hidden for long there is none. A
   * player whose seat is away returns to it, as soon as the page is shown, unless a later change says otherwise.
   */
  open(surroundings?: Surroundings): void {
    this.background.open(surroundings);
  }

  /** Follow the table no more. */
  close(): void {
    this.background.close();
    this.awayChange.abort();
  }

  /**
   * Follow the table to the end of its game, for a program: yield events to show, which are snapshots, updates, states of
   * the turn, presences and reactions. Lost connections are resumed until the caller stops, or `signal` is aborted. Throws
   * a final refusal, and an Error if the table is followed already.
   */
  follow(signal?: AbortSignal): AsyncGenerator<TableEvent> {
    return this.run(NO_SURROUNDINGS, signal);
  }

  /**
   * Act once, as it was decided: if the table has moved on since, the action is refused, and `isOvertaken`. Without an
   * answer the request is sent again with the same id, so that it counts once, until `signal` is aborted: throws its
   * reason then. An action is a return to the seat.
   */
  async act(action: Action, settings: ActSettings = {}): Promise<void> {
    this.awayChange.abort();
    const expected = "expectedSequence" in settings ? settings.expectedSequence : this.expectedSequence;
    const expectedSequence = expected === undefined ? {} : { expectedSequence: expected };
    const request = { ...this.request(), action, ...expectedSequence };
    const { sequence } = await repeat(() => this.client.engine.submitAction(request, forTable(this.id)), settings.signal);
    this.acted(sequence);
    this.notify();
  }

  /** Send a reaction to all at the table, once; throws a refusal, for example of too many. */
  async react(reaction: Reaction): Promise<void> {
    await this.client.engine.sendReaction({ tableId: this.id, reaction, link: this.link }, forTable(this.id));
  }

  /** Make a proposal to all seats, one of `GameDescription.proposals`; throws a refusal. */
  async propose(proposal: string): Promise<void> {
    const request = { ...this.request(), proposal };
    await repeat(() => this.client.engine.createProposal(request, forTable(this.id)));
  }

  /** Agree with the pending proposal, or decline it; throws a refusal, and an Error without a proposal. */
  async vote(isAgreed: boolean): Promise<void> {
    if (this.proposal === undefined) throw new Error("no proposal waits for votes");
    const vote = isAgreed ? Vote.AGREE : Vote.DECLINE;
    const request = { ...this.request(), proposalSequence: this.proposal.sequence, vote };
    await repeat(() => this.client.engine.castVote(request, forTable(this.id)));
  }

  /**
   * Leave the player's seat to the engine; the stream shows it as for everybody. Without an answer the request is sent
   * again, until it has one or a later change replaces it. Throws a refusal.
   */
  leave(): Promise<void> {
    return this.setAway(true);
  }

  /** Return to the seat, as `leave` leaves it. It changes nothing if the engine does not play for it. */
  return(): Promise<void> {
    return this.setAway(false);
  }

  /** Return a link by which others watch the table, or see its replay; throws a refusal. */
  async createLink(purpose: LinkPurpose): Promise<string> {
    const call = () => this.client.engine.createLink({ tableId: this.id, purpose }, forTable(this.id));
    return (await repeat(call)).link;
  }

  private request(): { readonly tableId: string; readonly requestId: string } {
    return { tableId: this.id, requestId: randomId() };
  }

  private async setAway(isAway: boolean): Promise<void> {
    this.awayChange.abort();
    const { signal } = (this.awayChange = new AbortController());
    this.isReturning = !isAway;
    const request = { ...this.request(), isAway };
    try {
      await repeat(() => this.client.engine.setAway(request, { ...forTable(this.id), signal }), signal);
    } catch (error) {
      if (!signal.aborted) throwUnlessOvertaken(error);
    }
  }

  /** Return because the person looks at the table; a refusal shows itself as a seat that stays away. */
  private returnAsShown(): void {
    if (this.seat !== undefined && !this.isOver) void this.return().catch(() => undefined);
  }

  private async drain(surroundings: Surroundings, signal: AbortSignal): Promise<void> {
    let isOpen = false;
    for await (const _ of this.run(surroundings, signal)) {
      // A hidden page opens streams too, so a stream is no reason to return.
      if (!isOpen && this.isAway && surroundings.isVisible) this.returnAsShown();
      isOpen = true;
    }
  }

  private async *run(surroundings: Surroundings, signal?: AbortSignal): AsyncGenerator<TableEvent> {
    if (this.pace !== undefined) throw new Error("the table is followed already");
    const pace = (this.pace = new Pace(surroundings, {
      // A return that waits for the connection would come while the page is hidden.
      hidden: () => this.isReturning && this.awayChange.abort(),
      // The engine knows whether the seat is away: the table of a page that was hidden may be out of date.
      shown: () => this.returnAsShown(),
      disconnected: () => this.setStatus("offline"),
    }));
    const interrupt = () => pace.end();
    signal?.addEventListener("abort", interrupt);
    const following = {
      signal,
      silenceMilliseconds: this.silenceMilliseconds,
      interrupted: (error?: ConnectError) => this.change({ error: pace.isInterrupted ? undefined : error }),
      pacing: {
        pause: (milliseconds: number) => this.pause(pace, surroundings.isOnline, milliseconds),
        begun: (stop: () => void) => pace.begun(stop),
      },
    };
    try {
      const events = reopen((signal) => this.stream(signal), () => this.isOver, following);
      for await (const event of events) {
        this.setStatus(this.statusAfter(event));
        if (!SHOWN.has(event.eventKind.case)) continue;
        this.notify({ kind: "event", event });
        yield event;
      }
    } catch (error) {
      if (!signal?.aborted) {
        this.change({ error: faultOf(error) });
        this.setStatus("failed");
      }
      throw error;
    } finally {
      signal?.removeEventListener("abort", interrupt);
      pace.end();
      this.pace = undefined;
      if (this.status !== "failed") this.setStatus(this.isOver ? "over" : "away");
    }
  }

  /** Wait before the next stream, with the status of the wait and then of the attempt. */
  private async pause(pace: Pace, isOnline: boolean, milliseconds: number): Promise<void> {
    const opening = this.sequence === undefined ? "opening" : "catching up";
    const hasFailed = (milliseconds > 0 && !pace.isInterrupted) || !isOnline;
    const attempt = hasFailed ? "offline" : opening;
    this.setStatus(pace.isAway ? "away" : attempt);
    await pace.pause(milliseconds);
    if (this.status === "away") this.setStatus(opening);
  }

  /** Return the status after an event: missed entries come before all other events, the last of them with legal actions. */
  private statusAfter({ eventKind }: TableEvent): "over" | "live" | "catching up" {
    if (this.isOver) return "over";
    if (this.status === "live" || eventKind.case !== "update" || this.legal !== undefined) return "live";
    return this.resumedAt !== undefined && eventKind.value.storedUnixMs <= this.resumedAt ? "catching up" : "live";
  }

  private setStatus(status: Table["status"]): void {
    if (status === this.status) return;
    this.change({ status });
    this.notify();
  }

  private notify(change: TableChange = { kind: "status" }): void {
    this.listeners.call(change);
  }

  /** Open one stream after the last sequence. */
  private async *stream(signal: AbortSignal): AsyncGenerator<TableEvent> {
    const seen = this.sequence === undefined ? {} : { afterSequence: this.sequence };
    const request = { tableId: this.id, link: this.link, ...seen };
    this.openedStreams += 1;
    this.resumedAt = undefined;
    let isFirst = true;
    for await (const { tableEvent } of this.client.engine.watchTable(request, { ...forTable(this.id), signal, timeoutMs: 0 })) {
      if (tableEvent === undefined) continue;
      this.apply(tableEvent);
      if (isFirst && tableEvent.eventKind.case === "update") this.resumedAt = this.clock?.serverUnixMs;
      isFirst = false;
      // A stream with only a resume notice counts as failed: otherwise this would loop without a delay.
      if (tableEvent.eventKind.case !== "resumeNotice") yield tableEvent;
    }
  }
}
