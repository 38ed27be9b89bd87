// Tables of the lobby: to open, to join, to be matched, and to play again.
import type { MessageInitShape } from "@bufbuild/protobuf";

import type { CreateTableRequestSchema, FindMatchRequestSchema, ListGamesResponse } from "./generated/croupier_api/v1/lobby_pb.js";
import { type Table as LobbyTable, TableState } from "./generated/croupier_api/v1/tables_pb.js";
import { type Connection, forTable } from "./client.js";
import { randomId } from "./random_id.js";
import { reopen, repeat } from "./retry.js";

type NewTable = Exclude<MessageInitShape<typeof CreateTableRequestSchema>, { readonly $typeName: string }>;
type Match = Exclude<MessageInitShape<typeof FindMatchRequestSchema>, { readonly $typeName: string }>;

/** A table to open: options, times and access as `CreateTableRequest` has them, each by default that of the game. */
export interface TableSpec extends Pick<NewTable, "options" | "timeControl" | "access" | "fillWithBotsAfter"> {
  /** The id of the game. */
  readonly game: string;
  /** The number of seats. */
  readonly seats: number;
  /** The number of bots, on the seats after the player's; with bots on all of them the game begins at once. */
  readonly bots: number;
}

/** The match that a player asks for. */
export interface MatchSpec extends Pick<Match, "preset" | "fillWithBotsAfter"> {
  /** The id of the game. */
  readonly game: string;
  /** The number of seats. */
  readonly seatCount: number;
}

/** How a player waits for a match. */
export interface MatchSettings {
  /** Ends the search; the player loses their place soon. */
  readonly signal?: AbortSignal;
  /** Called with the number of players who wait for the same match, this one included, whenever the lobby reports it. */
  readonly waiting?: (waitingCount: number) => void;
}

/** Return the games, in the player's language, with the options of tables of so many seats; 0 for the most seats of each. */
export function listGames(
  { lobby, language }: Pick<Connection, "lobby" | "language">,
  seatCount = 0,
): Promise<ListGamesResponse> {
  return repeat(() => lobby.listGames({ language, seatCount }));
}

/**
 * Open a table, and return its id. Without an answer the request is sent again with the same id, so that it opens one
 * table, until `signal` is aborted: throws its reason then.
 */
export async function openTable({ lobby }: Pick<Connection, "lobby">, spec: TableSpec, signal?: AbortSignal): Promise<string> {
  const { seats: seatCount, bots, ...rest } = spec;
  const isReady = bots === seatCount - 1;
  const request = { ...rest, seatCount, bots: Array.from({ length: bots }, () => ""), isReady, requestId: randomId() };
  return known((await repeat(() => lobby.createTable(request), signal)).table).tableId;
}

/** A table, by the invite code that its players pass on, or by its id, which is enough for a public one. */
export type Target =
  | {
      /** The invite code, in upper or lower case. */
      readonly inviteCode: string;
    }
  | {
      /** The table's id. */
      readonly tableId: string;
    };

/** Return a table, without taking a seat; throws a refusal of one that does not exist. */
export async function findTable({ lobby }: Pick<Connection, "lobby">, target: Target): Promise<LobbyTable> {
  return known((await repeat(() => lobby.getTable({ target: oneOf(target) }))).table);
}

/**
 * Take the first free seat of a table, and return the table's id; a player who has a seat there keeps it, also once the
 * game has begun. Throws a refusal, for example of a full table, and the reason of `signal`.
 */
export async function joinTable(
  connection: Pick<Connection, "lobby" | "session">,
  target: Target,
  signal?: AbortSignal,
): Promise<string> {
  const { lobby, session } = connection;
  const { tableId, seats } = await findTable(connection, target);
  signal?.throwIfAborted();
  const isSeated = seats.some(({ playerId }) => playerId === session.player.playerId);
  if (!isSeated) await repeat(() => lobby.joinTable({ target: oneOf(target) }, forTable(tableId)), signal);
  return tableId;
}

function oneOf(target: Target) {
  if ("tableId" in target) return { case: "tableId", value: target.tableId } as const;
  return { case: "inviteCode", value: target.inviteCode } as const;
}

/**
 * Return the id of the table that follows a finished one, with a seat of the player: the first player who asks opens it.
 * Without an answer the request is sent again until `signal` is aborted: throws its reason then.
 */
export async function playAgain({ lobby }: Pick<Connection, "lobby">, tableId: string, signal?: AbortSignal): Promise<string> {
  return known((await repeat(() => lobby.rematch({ tableId }, forTable(tableId)), signal)).table).tableId;
}

/**
 * Get the player ready whenever all seats are taken, and wait until the cards are dealt; throws when the table is closed,
 * and the reason of `signal`.
 */
export async function waitForDeal(
  { lobby, session }: Pick<Connection, "lobby" | "session">,
  tableId: string,
  signal?: AbortSignal,
): Promise<void> {
  const watch = (signal: AbortSignal) => lobby.watchTables({ tableId }, { ...forTable(tableId), signal, timeoutMs: 0 });
  // A message without a table only shows that the stream is alive.
  for await (const { table } of reopen(watch, () => false, { signal })) {
    if (table?.state === TableState.PLAYING || table?.state === TableState.FINISHED) return;
    if (table?.state === TableState.CLOSED) throw new Error("the table was closed");
    const own = table?.seats.findIndex(({ playerId }) => playerId === session.player.playerId);
    if (table !== undefined && awaitsSeat(table, own)) await lobby.setReady({ tableId }, forTable(tableId));
  }
}

/** Return whether all seats of a forming table are taken, and one is not ready: each change of them resets readiness. */
export function awaitsSeat({ state, seats }: LobbyTable, seat: number | undefined): boolean {
  const isFull = seats.every(({ playerId, bot }) => playerId !== "" || bot !== "");
  return state === TableState.FORMING && isFull && seats[seat ?? -1]?.isReady === false;
}

/** Wait to be matched with others, and return the table's id, whose game has begun; throws the reason of the signal. */
export async function findMatch(
  { lobby }: Pick<Connection, "lobby">,
  spec: MatchSpec,
  { signal, waiting }: MatchSettings = {},
): Promise<string> {
  const request = { ...spec, requestId: randomId() };
  let tableId = "";
  // A stream that ends without a table is called again; one with a table is read to its end, which says it was received.
  const find = (signal: AbortSignal) => lobby.findMatch(request, { signal, timeoutMs: 0 });
  for await (const { table, waitingCount } of reopen(find, () => tableId !== "", { signal })) {
    tableId = table?.tableId ?? tableId;
    if (tableId === "") waiting?.(waitingCount);
  }
  return tableId;
}

function known(table: LobbyTable | undefined): LobbyTable {
  if (table === undefined) throw new Error("the lobby returned no table");
  return table;
}
