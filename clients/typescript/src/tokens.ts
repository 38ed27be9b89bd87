// Access tokens of a player's calls, which are renewed before they expire.
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { type Client, Code, ConnectError, type Interceptor, type StreamRequest } from "@connectrpc/connect";

import type {
  LobbyService,
  RefreshTokenResponse,
  SignInResponse,
  Tokens,
} from "./generated/croupier_api/v1/lobby_pb";

const RENEW_BEFORE_MILLISECONDS = 30_000;

/** Returns an access token, which differs from a refused one. */
export type TokenSource = (refused?: string) => Promise<string>;

/** Add a token to each call. A refused one is replaced once, because the call was not executed. */
export function withToken(token: TokenSource): Interceptor {
  return (next) => async (request) => {
    const repeatable = request.stream ? await repeatableStream(request) : request;
    const accessToken = await token();
    repeatable.header.set("authorization", `Bearer ${accessToken}`);
    try {
      return await next(repeatable);
    } catch (error) {
      if (ConnectError.from(error).code !== Code.Unauthenticated) throw error;
      repeatable.header.set("authorization", `Bearer ${await token(accessToken)}`);
      return next(repeatable);
    }
  };
}

/** Return a stream request that can be sent twice: over gRPC-Web it has one message. */
async function repeatableStream(request: StreamRequest): Promise<StreamRequest> {
  const { value } = await request.message[Symbol.asyncIterator]().next();
  return { ...request, message: { [Symbol.asyncIterator]: () => once(value) } };
}

async function* once<T>(value: T): AsyncGenerator<T> {
  yield value;
}

/** Sign in, and return a source of tokens, which are renewed shortly before they expire and shared by all calls. */
export async function tokenSource(
  lobby: Client<typeof LobbyService>,
  deviceSecret: string,
  name: string,
): Promise<TokenSource> {
  let currentToken = "";
  let renewAt = Infinity;
  const take = ({ tokens }: SignInResponse | RefreshTokenResponse): Tokens => {
    if (tokens?.accessExpiryTime === undefined) throw new Error("the lobby returned no tokens");
    currentToken = tokens.accessToken;
    const early = timestampMs(tokens.accessExpiryTime) - RENEW_BEFORE_MILLISECONDS;
    // If a new token seems expired, this device's clock is wrong: the token is used until the gateway refuses it.
    renewAt = early > Date.now() ? early : Infinity;
    return tokens;
  };
  const signIn = async () => take(await lobby.signIn({ deviceSecret, name }));
  const refresh = async ({ refreshToken }: Tokens) => take(await lobby.refreshToken({ refreshToken }));
  let current = signIn();
  await current;
  return async (refused) => {
    if (refused === currentToken || Date.now() >= renewAt) {
      currentToken = "";
      renewAt = Infinity;
      // A refresh token is valid once. If the refresh fails, the device secret signs in again.
      current = current.then(refresh).catch(signIn);
      current.catch(() => (renewAt = 0));
    }
    return (await current).accessToken;
  };
}
