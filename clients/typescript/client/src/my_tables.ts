// The tables at which a player has a seat, as one stream of the lobby shows them.
import type { MySeat, WatchTablesResponse } from "./generated/croupier_api/v1/lobby_pb.js";
import { type Table, TableState } from "./generated/croupier_api/v1/tables_pb.js";
import type { CroupierClient } from "./client.js";
import { type Following, reopen } from "./retry.js";

/** A table, and the seat that the player has there. */
export interface MyTable {
  readonly table: Table;
  readonly seat: MySeat;
}

/** The player's own tables: those that form or are played, and those that ended while they were followed. */
export class MyTables {
  private tables = new Map<string, MyTable>();
  /** The tables with which a stream begins; undefined once it has sent them all. */
  private beginning: Map<string, MyTable> | undefined;

  constructor(private readonly client: CroupierClient) {}

  /** The tables, in the order in which the player came to see them. */
  get list(): readonly MyTable[] {
    return [...this.tables.values()];
  }

  /** Return a table by its id; undefined if the player has no seat there, or the list is not known yet. */
  get(tableId: string): MyTable | undefined {
    return this.tables.get(tableId);
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
      if (this.apply(message)) yield;
    }
  }

  /** Apply a message; returns whether the list has changed. */
  private apply({ table, mySeat, isListComplete }: WatchTablesResponse): boolean {
    const { beginning } = this;
    const hasBegun = beginning !== undefined && isListComplete;
    if (hasBegun) [this.tables, this.beginning] = [beginning, undefined];
    if (table === undefined) return hasBegun;
    const tables = this.beginning ?? this.tables;
    // A table that closed, or at which the player has no seat any more, may come with its id alone.
    if (mySeat === undefined || table.state === TableState.CLOSED) tables.delete(table.tableId);
    else tables.set(table.tableId, { table, seat: mySeat });
    return this.beginning === undefined;
  }
}
