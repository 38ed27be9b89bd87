// A signed-in player's clients of the services, through one address.
import { type CallOptions, type Client, createClient } from "@connectrpc/connect";

import { Device, type Store, ownStore } from "./device.js";
import { EngineService } from "./generated/croupier_api/v1/engine_pb.js";
import { LobbyService } from "./generated/croupier_api/v1/lobby_pb.js";
import { ScoringService } from "./generated/croupier_api/v1/scoring_pb.js";
import { grpcWebTransport } from "./grpc_web.js";
import { type Language, languageOf } from "./languages.js";
import { retryNotExecuted } from "./retry.js";
import { type Session, signIn, withToken } from "./tokens.js";
import { type Socket, overWebSocket } from "./web_socket.js";

const CALL_MILLISECONDS = 10_000;

/** Clients of lobby and engine, whose calls have a valid token. */
export interface CroupierClient {
  /** Players, forming tables and matches. */
  readonly lobby: Client<typeof LobbyService>;
  /** Tables whose games have begun. */
  readonly engine: Client<typeof EngineService>;
}

/** A player who is signed in, with the clients of all services: the whole contract. */
export interface Connection extends CroupierClient {
  /** Score sheets, results, statistics and leaderboards. */
  readonly scoring: Client<typeof ScoringService>;
  /** The player's sign-in. */
  readonly session: Session;
  /** The device that the player uses. */
  readonly device: Device;
  /** The language of the player. */
  readonly language: Language;
}

/** How the streams of tables travel; all else is gRPC-Web. */
export type TableTransport = "grpc-web" | "websocket";

/** How a player connects. */
export interface ConnectSettings {
  /** A new name; by default the player keeps theirs. */
  readonly name?: string;
  /** Keeps the secret of the device; by default that of the browser, and elsewhere none, so that each time is a new player. */
  readonly store?: Store;
  /** A code of the player's other device, which makes this one a further device of theirs. */
  readonly deviceCode?: string;
  /** An ID token of the app's user. */
  readonly idToken?: string;
  /** The language of the player; by default the first known one of the browser. */
  readonly language?: Language;
  /** How the streams of tables travel: by default over WebSocket, of which a browser may open many. */
  readonly transport?: TableTransport;
  /** Sends calls, in place of the built-in function: for tests, and for developers who cut the connection. */
  readonly fetch?: typeof globalThis.fetch;
  /** Opens WebSockets, in place of the built-in class. */
  readonly socket?: (url: string) => Socket;
}

/**
 * Sign in by the secret of this device, which is made before the first time, and return the clients. Throws a refusal, or
 * that the address does not answer.
 */
export async function connect(address: string, settings: ConnectSettings = {}): Promise<Connection> {
  const { name = "", store = ownStore(), deviceCode = "", idToken = "", fetch, socket } = settings;
  const base = { baseUrl: address, defaultTimeoutMs: CALL_MILLISECONDS, fetch };
  const device = new Device(store, new URL(address).origin);
  const deviceSecret = device.secretFor(deviceCode);
  const signingIn = createClient(LobbyService, grpcWebTransport(base));
  const session = await signIn(signingIn, { deviceSecret, name, deviceCode, idToken });
  device.keep(deviceSecret);
  const overSocket = settings.transport === "grpc-web" ? [] : [overWebSocket(address, socket)];
  const interceptors = [retryNotExecuted, withToken(session.token), ...overSocket];
  const transport = grpcWebTransport({ ...base, interceptors });
  return {
    session,
    device,
    language: settings.language ?? languageOf(typeof navigator === "undefined" ? [] : navigator.languages),
    lobby: createClient(LobbyService, transport),
    engine: createClient(EngineService, transport),
    scoring: createClient(ScoringService, transport),
  };
}

/** Return call options with the table's id, by which a gateway routes calls; services do not need it. */
export function forTable(tableId: string): CallOptions {
  return { headers: { "x-table-id": tableId } };
}
