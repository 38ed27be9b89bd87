// The tables at which a player has a seat, as one stream of the lobby shows them.
import { ConnectError } from "@connectrpc/connect";

import type { MySeat, WatchTablesResponse } from "./generated/croupier_api/v1/lobby_pb.js";
import { type Table, TableState } from "./generated/croupier_api/v1/tables_pb.js";
import { Background } from "./background.js";
import type { CroupierClient } from "./client.js";
import { Listeners } from "./listeners.js";
import { type Following, reopen } from "./retry.js";
import { Pace, type Surroundings } from "./surroundings.js";

/** A table, and the seat that the player has there. */
export interface MyTable {
  /** The table. */
  readonly table: Table;
  /** The player's seat, and whether it is to act. */
  readonly seat: MySeat;
}

/** The player's own tables: those that form or are played, and those that ended while they were followed. */
export class MyTables {
  private tables = new Map<string, MyTable>();
  /** The tables with which a stream begins; undefined once it has sent them all. */
  private beginning: Map<string, MyTable> | undefined;
  private isKnown = false;
  private refusal: ConnectError | undefined;
  private readonly listeners = new Listeners<void>();
  private readonly background = new Background((surroundings, signal) => this.drain(surroundings, signal));

  constructor(private readonly client: Pick<CroupierClient, "lobby">) {}

  /** The tables, in the order in which the player came to see them. */
  get list(): readonly MyTable[] {
    return [...this.tables.values()];
  }

  /** Whether the list was complete once: before, it says nothing. */
  get isComplete(): boolean {
    return this.isKnown;
  }

  /** Why the stream is lost, or was refused for good; undefined while messages arrive. */
  get error(): ConnectError | undefined {
    return this.refusal;
  }

  /** The number of changes, for frameworks that compare a value to see whether the list has changed. */
  get revision(): number {
    return this.listeners.count;
  }

  /** Return a table by its id; undefined if the player has no seat there, or the list is not known yet. */
  get(tableId: string): MyTable | undefined {
    return this.tables.get(tableId);
  }

  /** Call a function after each change of the list or the error, until the returned function is called. */
  readonly subscribe = (listener: () => void): (() => void) => this.listeners.add(listener);

  /** Follow the tables in the background until `close`, as `Table.open` follows one. */
  open(surroundings?: Surroundings): void {
    this.background.open(surroundings);
  }

  /** Follow the tables no more. */
  close(): void {
    this.background.close();
  }

  /**
   * Follow the tables, and yield whenever the list has changed, for the first time when it is complete. A stream that was
   * lost is opened again until the caller stops, or its signal is aborted; it begins with the whole list, and tables that
   * are not in it are gone.
   */
  async *follow(following: Following = {}): AsyncGenerator<void> {
    const open = (signal: AbortSignal) => {
      this.beginning = new Map();
      return this.client.lobby.watchTables({ mine: true }, { signal, timeoutMs: 0 });
    };
    for await (const message of reopen(open, () => false, following)) {
      if (!this.apply(message)) continue;
      this.listeners.call();
      yield;
    }
  }

  private async drain(surroundings: Surroundings, signal: AbortSignal): Promise<void> {
    const pacing = new Pace(surroundings);
    const end = () => pacing.end();
    signal.addEventListener("abort", end);
    const interrupted = (error?: ConnectError) => this.setError(pacing.isInterrupted ? undefined : error);
    try {
      for await (const _ of this.follow({ signal, pacing, interrupted }));
    } catch (error) {
      if (!signal.aborted) this.setError(ConnectError.from(error));
    } finally {
      end();
    }
  }

  private setError(error: ConnectError | undefined): void {
    if (error === this.refusal) return;
    this.refusal = error;
    this.listeners.call();
  }

  /** Apply a message; returns whether the list has changed. */
  private apply({ table, mySeat, isListComplete }: WatchTablesResponse): boolean {
    const { beginning } = this;
    const hasBegun = beginning !== undefined && isListComplete;
    if (hasBegun) [this.tables, this.beginning, this.isKnown] = [beginning, undefined, true];
    if (table === undefined) return hasBegun;
    const tables = this.beginning ?? this.tables;
    // A table that closed, or at which the player has no seat any more, may come with its id alone.
    if (mySeat === undefined || table.state === TableState.CLOSED) tables.delete(table.tableId);
    else tables.set(table.tableId, { table, seat: mySeat });
    return this.beginning === undefined;
  }
}
