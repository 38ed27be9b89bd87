// A table as a player follows it: a stream that goes on after a lost connection, and what may be done now.
import type { WatchTableResponse } from "./generated/croupier_api/v1/engine_pb";
import type { LegalActions, RankGroup } from "./generated/croupier_api/v1/table_pb";
import { type House, about } from "./house";
import { reopened } from "./patience";

/** Heartbeats come every 15 seconds: a path that brings nothing for so long has died in silence. */
const SILENCE_MILLISECONDS = 40_000;

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
    private readonly silenceMilliseconds = SILENCE_MILLISECONDS,
  ) {}

  /** Follow the table to the end of its game: once for the snapshot, once for each entry of the log. */
  async *follow(): AsyncGenerator<WatchTableResponse> {
    for await (const message of reopened(() => this.stream(), () => this.ranking.length > 0)) {
      if (message.event.case === "snapshot" || message.event.case === "update") yield message;
    }
  }

  /** One stream, from after what was seen; it fails when it has been silent for too long. */
  private async *stream(): AsyncGenerator<WatchTableResponse> {
    const silence = new AbortController();
    const restart = () => setTimeout(() => silence.abort(), this.silenceMilliseconds);
    let timer = restart();
    const seen = this.sequence === undefined ? {} : { afterSequence: this.sequence };
    const options = { ...about(this.id), signal: silence.signal, timeoutMs: 0 };
    this.streams += 1;
    try {
      for await (const message of this.house.engine.watchTable({ tableId: this.id, ...seen }, options)) {
        clearTimeout(timer);
        timer = restart();
        this.take(message);
        // A stream that brings nothing but its own end has failed, or this would go round in circles.
        if (message.event.case !== "resumeNotice") yield message;
      }
    } finally {
      clearTimeout(timer);
      silence.abort();
    }
  }

  /** Fold what is new. After a ResumeNotice the stream ends, and another engine goes on. */
  private take(message: WatchTableResponse): void {
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
    }
    if (event.case !== "update") return;
    if (event.value.sequence !== (this.sequence ?? 0n) + 1n) throw new Error("an entry of the table was left out");
    this.sequence = event.value.sequence;
    this.legal = message.legalActions;
    for (const { fact } of event.value.facts) {
      if (fact.case === "turnChanged") this.seatsToAct = fact.value.seatsToAct;
      if (fact.case === "roundEnded") this.scores = fact.value.totals;
      if (fact.case === "gameEnded") this.ranking = fact.value.ranking;
    }
  }
}
