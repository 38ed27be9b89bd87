// A signed-in player's clients of the services, through one address.
import { type CallOptions, type Client, createClient } from "@connectrpc/connect";
import { createGrpcWebTransport } from "@connectrpc/connect-web";

import { EngineService } from "./generated/croupier_api/v1/engine_pb";
import { LobbyService } from "./generated/croupier_api/v1/lobby_pb";
import { retryNotExecuted } from "./retry";
import { tokenSource, withToken } from "./tokens";

const CALL_MILLISECONDS = 10_000;

/** Clients of lobby and engine, whose calls have a valid token. */
export interface CroupierClient {
  readonly lobby: Client<typeof LobbyService>;
  readonly engine: Client<typeof EngineService>;
}

/** Sign in with a secret that the device made and keeps, and an ID token of the app's user, and return the clients. */
export async function connect(
  address: string,
  deviceSecret: string,
  name: string,
  idToken = "",
): Promise<CroupierClient> {
  const settings = { baseUrl: address, defaultTimeoutMs: CALL_MILLISECONDS };
  const lobby = createClient(LobbyService, createGrpcWebTransport(settings));
  const token = await tokenSource(lobby, deviceSecret, name, idToken);
  const transport = createGrpcWebTransport({ ...settings, interceptors: [retryNotExecuted, withToken(token)] });
  return { lobby: createClient(LobbyService, transport), engine: createClient(EngineService, transport) };
}

/** Return call options with the table's id, by which a gateway routes calls; services do not need it. */
export function forTable(tableId: string): CallOptions {
  return { headers: { "x-table-id": tableId } };
}
