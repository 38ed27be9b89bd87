// Opens tables and plays games, without rules: every update contains the legal actions.
import type { JsonObject } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";

import type { Action } from "./generated/croupier_api/v1/actions_pb.js";
import { type Table as LobbyTable, TableState } from "./generated/croupier_api/v1/tables_pb.js";
import { type CroupierClient, forTable } from "./client.js";
import { retryDelay, throwUnlessOvertaken } from "./errors.js";
import { randomId } from "./random_id.js";
import { delay, isUnanswered, reopen } from "./retry.js";
import type { Table } from "./table.js";

const DELAY_MILLISECONDS = 300;

/** A table to open: `options` are those that differ from the defaults. */
export interface TableSpec {
  readonly game: string;
  readonly seats: number;
  readonly bots: number;
  readonly options?: JsonObject;
}

/**
 * Open a table with bots on the seats after the player's, and return its id; with bots on all of them its game begins at
 * once. Without an answer the request is sent again with the same id, so that it opens one table, until `signal` is
 * aborted: throws its reason then.
 */
export async function openTable(
  client: CroupierClient,
  spec: TableSpec,
  botDelayMilliseconds = 1,
  signal?: AbortSignal,
): Promise<string> {
  const { game, seats: seatCount, options = {} } = spec;
  const bots = Array.from({ length: spec.bots }, () => "");
  const timeControl = { botDelay: durationFromMs(botDelayMilliseconds) };
  const isReady = spec.bots === seatCount - 1;
  const request = { game, seatCount, options, timeControl, bots, isReady, requestId: randomId() };
  return idOf((await repeat(() => client.lobby.createTable(request), signal)).table);
}

/**
 * Return the id of the table that follows a finished one, with a seat of the player: the first player who asks opens it.
 * Without an answer the request is sent again until `signal` is aborted: throws its reason then.
 */
export async function playAgain(client: CroupierClient, tableId: string, signal?: AbortSignal): Promise<string> {
  const { table } = await repeat(() => client.lobby.rematch({ tableId }, forTable(tableId)), signal);
  return idOf(table);
}

function idOf(table: LobbyTable | undefined): string {
  if (table === undefined) throw new Error("the lobby returned no table");
  return table.tableId;
}

/**
 * As the host, get ready whenever all seats are taken, and wait until the cards are dealt; throws when the table is
 * closed, and the reason of `signal`.
 */
export async function waitForDeal(client: CroupierClient, tableId: string, signal?: AbortSignal): Promise<void> {
  const watch = (signal: AbortSignal) => client.lobby.watchTables({ tableId }, { ...forTable(tableId), signal, timeoutMs: 0 });
  // A message without a table only shows that the stream is alive.
  for await (const { table } of reopen(watch, () => false, { signal })) {
    if (table?.state === TableState.PLAYING || table?.state === TableState.FINISHED) return;
    if (table?.state === TableState.CLOSED) throw new Error("the table was closed");
    const host = table?.seats.findIndex(({ playerId }) => playerId === table.hostPlayerId);
    if (table !== undefined && awaitsSeat(table, host)) await client.lobby.setReady({ tableId }, forTable(tableId));
  }
}

/** Return whether all seats of a forming table are taken, and one is not ready: each change of them resets readiness. */
export function awaitsSeat({ state, seats }: LobbyTable, seat: number | undefined): boolean {
  const isFull = seats.every(({ playerId, bot }) => playerId !== "" || bot !== "");
  return state === TableState.FORMING && isFull && seats[seat ?? -1]?.isReady === false;
}

/** Wait to be matched with others, and return the table's id; throws the reason of `signal`. */
export async function findMatch(
  client: CroupierClient,
  criteria: { game: string; seatCount: number },
  signal?: AbortSignal,
): Promise<string> {
  const request = { ...criteria, requestId: randomId() };
  let tableId = "";
  // A stream that ends without a table is called again; one with a table is read to its end, which says it was received.
  const find = (signal: AbortSignal) => client.lobby.findMatch(request, { signal, timeoutMs: 0 });
  for await (const { table } of reopen(find, () => tableId !== "", { signal })) tableId = table?.tableId ?? tableId;
  return tableId;
}

/**
 * Act once, as it was decided when `Table.expectedSequence` was `expected`: if the table has moved on since, the action
 * is refused, and `isOvertaken`. Without an answer the request is sent again with the same id, so that it counts once,
 * until `signal` is aborted: throws its reason then.
 */
export async function act(
  client: CroupierClient,
  table: Table,
  action: Action,
  expected: bigint | undefined,
  signal?: AbortSignal,
): Promise<void> {
  const expectedSequence = expected === undefined ? {} : { expectedSequence: expected };
  const request = { tableId: table.id, requestId: randomId(), action, ...expectedSequence };
  const { sequence } = await repeat(() => client.engine.submitAction(request, forTable(table.id)), signal);
  table.acted(sequence);
}

/**
 * Leave the player's seat to the engine, or return to it; the stream shows it as for everybody. After the end of the
 * game it does nothing. Without an answer the request is sent again with the same id until `signal` is aborted: throws
 * its reason then.
 */
export async function setAway(client: CroupierClient, table: Table, isAway: boolean, signal?: AbortSignal): Promise<void> {
  const request = { tableId: table.id, requestId: randomId(), isAway };
  const options = signal === undefined ? {} : { signal };
  const call = () => client.engine.setAway(request, { ...forTable(table.id), ...options });
  await repeat(call, signal).catch(throwUnlessOvertaken);
}

/** Repeat a call about a table until it has an answer, and return it. */
async function repeat<T>(call: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!isUnanswered(error)) throw error;
      await delay(Math.max(DELAY_MILLISECONDS, retryDelay(error)), signal);
    }
  }
}
