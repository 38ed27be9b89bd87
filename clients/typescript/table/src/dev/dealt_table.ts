// One table for all identities of the panel.
import type { JsonObject } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";

import { type Connection, connect, findTable, forTable, joinTable, openTable } from "@croupier/client";
import type { GameDescription, Table } from "@croupier/client/contract";

import { BOT_DELAY_MILLISECONDS } from "../lobby/new_table.js";
import { storeOf } from "./seat.js";

/** A developer looks at things for long. */
const ACTION_MILLISECONDS = 3_600_000;

/** Sign in the identities, each of which is a player; throws a refusal. */
export async function signInAll(address: string, count: number): Promise<readonly Connection[]> {
  const connections: Connection[] = [];
  // One after the other, so that a new player's name is there before its page asks.
  for (let page = 1; page <= count; page += 1) connections.push(await connect(address, { name: `Seat ${page}`, store: storeOf(page), language: "en" }));
  return connections;
}

/** Return the first player; throws without any. */
export function hostOf([host]: readonly Connection[]): Connection {
  if (host === undefined) throw new Error("no players");
  return host;
}

/**
 * Open a table of the first player, which the others join by its code, and get all ready. Bots take seats that are left;
 * players beyond the last seat have none.
 */
export async function dealTable(connections: readonly Connection[], game: GameDescription, options: JsonObject): Promise<Table> {
  const seats = Math.max(game.minSeats, Math.min(connections.length, game.maxSeats));
  const players = connections.slice(0, seats);
  const host = hostOf(players);
  const timeControl = { actionTime: durationFromMs(ACTION_MILLISECONDS), botDelay: durationFromMs(BOT_DELAY_MILLISECONDS) };
  const tableId = await openTable(host, { game: game.game, seats, bots: seats - players.length, options, timeControl });
  const { inviteCode } = await findTable(host, { tableId });
  for (const player of players.slice(1)) await joinTable(player, { inviteCode });
  for (const player of players) await player.lobby.setReady({ tableId }, forTable(tableId));
  return findTable(host, { tableId });
}
