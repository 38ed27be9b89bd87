// A table as a player follows it: a stream that goes on after a lost connection, and what may be done now.
import { Code, ConnectError } from "@connectrpc/connect";

import type { WatchTableResponse } from "./generated/croupier_api/v1/engine_pb";
import type { LegalActions, RankGroup } from "./generated/croupier_api/v1/table_pb";
import { type House, about } from "./house";
import { askedToWait, pause } from "./patience";

/** Heartbeats come every 15 seconds: a path that brings nothing for so long has died in silence. */
const SILENCE_MILLISECONDS = 40_000;
const MOST_FAILURES = 12;
const FIRST_PAUSE_MILLISECONDS = 100;
const LONGEST_PAUSE_MILLISECONDS = 3_000;
/** What opening a stream again cannot put right. */
const FINAL = new Set([
  Code.InvalidArgument,
  Code.NotFound,
  Code.PermissionDenied,
  Code.FailedPrecondition,
  Code.Unauthenticated,
  Code.Unimplemented,
]);

/** What a player has seen of a table. A client with pictures folds `update.facts` into `snapshot.view` here. */
export class Table {
  names: readonly string[] = [];
  scores: readonly number[] = [];
  seatsToAct: readonly number[] = [];
  seat: number | undefined;
  sequence: bigint | undefined;
  legal: LegalActions | undefined;
  /** Groups of seats, best first, once the game is over; else empty. */
  ranking: readonly RankGroup[] = [];
  /** How often the stream was opened. */
  streams = 0;

  constructor(
    private readonly house: House,
    readonly id: string,
  ) {}

  /** Follow the table to the end of its game: once for the snapshot, once for each entry of the log. */
  async *follow(): AsyncGenerator<WatchTableResponse> {
    for (let failures = 0, asked = 0; this.ranking.length === 0; failures++) {
      if (failures > MOST_FAILURES) throw new Error("the table's stream brings nothing");
      if (failures > 0) await pause(asked + longestPause(failures) * Math.random());
      asked = 0;
      try {
        for await (const message of this.stream()) {
          const isNews = this.take(message);
          // A stream that brings nothing but its own end has failed, or this would go round in circles.
          if (message.event.case !== "resumeNotice") failures = -1;
          if (isNews) yield message;
        }
      } catch (error) {
        const fault = ConnectError.from(error);
        if (FINAL.has(fault.code) || failures >= MOST_FAILURES) throw fault;
        asked = askedToWait(fault);
      }
    }
  }

  /** One stream, from after what was seen; it fails when it has been silent for too long. */
  private async *stream(): AsyncGenerator<WatchTableResponse> {
    const silence = new AbortController();
    const restart = () => setTimeout(() => silence.abort(), SILENCE_MILLISECONDS);
    let timer = restart();
    const seen = this.sequence === undefined ? {} : { afterSequence: this.sequence };
    const options = { ...about(this.id), signal: silence.signal, timeoutMs: 0 };
    this.streams += 1;
    try {
      for await (const message of this.house.engine.watchTable({ tableId: this.id, ...seen }, options)) {
        clearTimeout(timer);
        timer = restart();
        yield message;
      }
    } finally {
      clearTimeout(timer);
      silence.abort();
    }
  }

  /** Whether the message brought something new. After a ResumeNotice the stream ends, and another engine goes on. */
  private take(message: WatchTableResponse): boolean {
    const { event } = message;
    if (event.case === "snapshot") {
      const { table, view, viewerSeat, sequence, legalActions } = event.value;
      this.names = table?.seats.map((seat) => seat.name) ?? [];
      this.scores = view?.seats.map((seat) => seat.score) ?? [];
      this.seatsToAct = view?.seatsToAct ?? [];
      this.ranking = view?.ranking ?? [];
      this.seat = viewerSeat;
      this.sequence = sequence;
      this.legal = legalActions;
      return true;
    }
    if (event.case !== "update") return false;
    if (event.value.sequence !== (this.sequence ?? 0n) + 1n) throw new Error("an entry of the table was left out");
    this.sequence = event.value.sequence;
    this.legal = message.legalActions;
    for (const { fact } of event.value.facts) {
      if (fact.case === "turnChanged") this.seatsToAct = fact.value.seatsToAct;
      if (fact.case === "roundEnded") this.scores = fact.value.totals;
      if (fact.case === "gameEnded") this.ranking = fact.value.ranking;
    }
    return true;
  }
}

function longestPause(failures: number): number {
  return Math.min(LONGEST_PAUSE_MILLISECONDS, FIRST_PAUSE_MILLISECONDS * 2 ** failures);
}
