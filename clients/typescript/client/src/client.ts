// A signed-in player's clients of the services, through one address.
import { type CallOptions, type Client, createClient } from "@connectrpc/connect";
import { createGrpcWebTransport } from "@connectrpc/connect-web";

import { EngineService } from "./generated/croupier_api/v1/engine_pb.js";
import { LobbyService } from "./generated/croupier_api/v1/lobby_pb.js";
import { ScoringService } from "./generated/croupier_api/v1/scoring_pb.js";
import { retryNotExecuted } from "./retry.js";
import { type Credentials, type Session, signIn, withToken } from "./tokens.js";
import { overWebSocket } from "./web_socket.js";

const CALL_MILLISECONDS = 10_000;

/** Clients of lobby and engine, whose calls have a valid token. */
export interface CroupierClient {
  readonly lobby: Client<typeof LobbyService>;
  readonly engine: Client<typeof EngineService>;
}

/** The clients of a player who is signed in. */
export interface Connection extends CroupierClient {
  readonly scoring: Client<typeof ScoringService>;
  readonly session: Session;
}

/** How the streams of tables travel; all else is gRPC-Web. */
export type TableTransport = "grpc-web" | "websocket";

/** Sign in, and return the clients. */
export async function connect(
  address: string,
  credentials: Credentials,
  { transport: tables = "grpc-web" }: { readonly transport?: TableTransport } = {},
): Promise<Connection> {
  const settings = { baseUrl: address, defaultTimeoutMs: CALL_MILLISECONDS };
  const session = await signIn(createClient(LobbyService, createGrpcWebTransport(settings)), credentials);
  const overSocket = tables === "websocket" ? [overWebSocket(address)] : [];
  const interceptors = [retryNotExecuted, withToken(session.token), ...overSocket];
  const transport = createGrpcWebTransport({ ...settings, interceptors });
  const [lobby, engine] = [createClient(LobbyService, transport), createClient(EngineService, transport)];
  return { session, lobby, engine, scoring: createClient(ScoringService, transport) };
}

/** Return call options with the table's id, by which a gateway routes calls; services do not need it. */
export function forTable(tableId: string): CallOptions {
  return { headers: { "x-table-id": tableId } };
}
