// Opens tables and plays games, without rules: every update contains the legal actions.
import type { JsonObject } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";

import type { Action } from "./generated/croupier_api/v1/actions_pb";
import { ErrorReason } from "./generated/croupier_api/v1/errors_pb";
import { type Table as LobbyTable, TableState } from "./generated/croupier_api/v1/tables_pb";
import { type CroupierClient, forTable } from "./client";
import { reasonOf, retryDelay } from "./errors";
import { delay, isUnanswered, reopen } from "./retry";
import type { Table } from "./table";

/** The maximum time of retries; a gateway or an engine that ended is back within seconds. */
const RETRY_MILLISECONDS = 60_000;
const DELAY_MILLISECONDS = 300;
const WAIT_MILLISECONDS = 600_000;
/** Refusals because the table has moved on: the stream has the new legal actions, or the end of the game. */
const OVERTAKEN: ReadonlySet<ErrorReason | undefined> = new Set([
  ErrorReason.STALE_SEQUENCE,
  ErrorReason.NOT_YOUR_TURN,
  ErrorReason.TABLE_FINISHED,
]);

/** A table to open: `options` are those that differ from the defaults. */
export interface TableSpec {
  readonly game: string;
  readonly seats: number;
  readonly bots: number;
  readonly options?: JsonObject;
}

/** Open a table with bots on some seats, and return its id. */
export async function openTable(client: CroupierClient, spec: TableSpec, botDelayMilliseconds = 1): Promise<string> {
  const { game, seats: seatCount, bots, options = {} } = spec;
  const timeControl = { botDelay: durationFromMs(botDelayMilliseconds) };
  const { table } = await client.lobby.createTable({ game, seatCount, options, timeControl });
  if (table === undefined) throw new Error("the lobby opened no table");
  const { tableId } = table;
  for (let bot = 0; bot < bots; bot++) await client.lobby.addBot({ tableId }, forTable(tableId));
  return tableId;
}

/**
 * As the host, get ready whenever all seats are taken, and wait until the cards are dealt; throws after a time-out or
 * when the table is closed.
 */
export async function waitForDeal(client: CroupierClient, tableId: string): Promise<void> {
  const enough = new AbortController();
  const timer = setTimeout(() => enough.abort(), WAIT_MILLISECONDS);
  const options = { ...forTable(tableId), signal: enough.signal, timeoutMs: 0 };
  const watch = () => client.lobby.watchTables({ tableId }, options);
  try {
    for await (const { table } of reopen(watch, () => enough.signal.aborted)) {
      if (table?.state === TableState.PLAYING || table?.state === TableState.FINISHED) return;
      if (table?.state === TableState.CLOSED) throw new Error("the table was closed");
      if (table !== undefined && awaitsHost(table)) await client.lobby.setReady({ tableId, isReady: true }, forTable(tableId));
    }
    throw new Error("the table was not complete in time");
  } finally {
    clearTimeout(timer);
    enough.abort();
  }
}

/** Return whether all seats are taken and the host is not ready: each change of the seats resets their readiness. */
function awaitsHost({ hostPlayerId, seats }: LobbyTable): boolean {
  const isFull = seats.every(({ playerId, bot }) => playerId !== "" || bot !== "");
  return isFull && seats.some(({ playerId, isReady }) => playerId === hostPlayerId && !isReady);
}

/** Act once. Without an answer the request is sent again with the same id, so that it counts once. */
export async function act(client: CroupierClient, table: Table, action: Action): Promise<void> {
  const requestId = crypto.randomUUID();
  const request = { tableId: table.id, requestId, action, ...expectedSequence(table) };
  const retryUntil = Date.now() + RETRY_MILLISECONDS;
  for (;;) {
    try {
      const { sequence } = await client.engine.submitAction(request, forTable(table.id));
      return table.acted(sequence);
    } catch (error) {
      if (OVERTAKEN.has(reasonOf(error))) return;
      if (!isUnanswered(error) || Date.now() > retryUntil) throw error;
      await delay(Math.max(DELAY_MILLISECONDS, retryDelay(error)));
    }
  }
}

/** Where several seats act at once, the action of another moves the table on and leaves this one as legal as it was. */
function expectedSequence({ sequence, view }: Table): { expectedSequence?: bigint } {
  return sequence === undefined || view.seatsToAct.length > 1 ? {} : { expectedSequence: sequence };
}
