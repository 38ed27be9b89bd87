// The way in: one address, a player who is signed in, and the services that he calls.
import { type CallOptions, type Client, type Interceptor, createClient } from "@connectrpc/connect";
import { createGrpcWebTransport } from "@connectrpc/connect-web";

import { EngineService } from "./generated/croupier_api/v1/engine_pb";
import {
  LobbyService,
  type RefreshTokenResponse,
  type SignInResponse,
  type Tokens,
} from "./generated/croupier_api/v1/lobby_pb";
import { patient } from "./patience";

const CALL_MILLISECONDS = 10_000;
const RENEW_BEFORE_MILLISECONDS = 30_000;

type Lobby = Client<typeof LobbyService>;

/** What a player calls, with tokens that are kept fresh. */
export interface House {
  readonly lobby: Lobby;
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

function withToken(token: () => Promise<string>): Interceptor {
  return (next) => async (request) => {
    request.header.set("authorization", `Bearer ${await token()}`);
    return next(request);
  };
}

/** Gives an access token, a new one shortly before the old one ends; calls that come at once share it. */
async function tokenKeeper(lobby: Lobby, deviceSecret: string, name: string): Promise<() => Promise<string>> {
  let renewAt = Infinity;
  const take = ({ tokens }: SignInResponse | RefreshTokenResponse): Tokens => {
    if (tokens === undefined) throw new Error("the lobby gave no tokens");
    renewAt = Number(tokens.accessExpiresMilliseconds) - RENEW_BEFORE_MILLISECONDS;
    return tokens;
  };
  const signIn = async () => take(await lobby.signIn({ deviceSecret, name }));
  const refresh = async ({ refreshToken }: Tokens) => take(await lobby.refreshToken({ refreshToken }));
  let current = signIn();
  await current;
  return async () => {
    if (Date.now() >= renewAt) {
      renewAt = Infinity;
      // A refresh token counts once. Where that has failed the device secret is what is left.
      current = current.then(refresh).catch(signIn);
      current.catch(() => (renewAt = 0));
    }
    return (await current).accessToken;
  };
}
