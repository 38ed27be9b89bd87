// The way in: one address, a player who is signed in, and the services that he calls.
import { type CallOptions, type Client, createClient } from "@connectrpc/connect";
import { createGrpcWebTransport } from "@connectrpc/connect-web";

import { EngineService } from "./generated/croupier_api/v1/engine_pb";
import { LobbyService } from "./generated/croupier_api/v1/lobby_pb";
import { patient } from "./patience";
import { tokenKeeper, withToken } from "./tokens";

const CALL_MILLISECONDS = 10_000;

/** What a player calls, with tokens that are kept fresh. */
export interface House {
  readonly lobby: Client<typeof LobbyService>;
  readonly engine: Client<typeof EngineService>;
}

/** Sign in with a secret that the device made and keeps. */
export async function enter(address: string, deviceSecret: string, name: string): Promise<House> {
  const settings = { baseUrl: address, defaultTimeoutMs: CALL_MILLISECONDS };
  const token = await tokenKeeper(createClient(LobbyService, createGrpcWebTransport(settings)), deviceSecret, name);
  const transport = createGrpcWebTransport({ ...settings, interceptors: [patient, withToken(token)] });
  return { lobby: createClient(LobbyService, transport), engine: createClient(EngineService, transport) };
}

/** Says which table a call is about, so that a front door brings a table's calls together; nothing depends on it. */
export function about(tableId: string): CallOptions {
  return { headers: { "x-table-id": tableId } };
}
