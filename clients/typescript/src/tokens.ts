// Who the player is, in each of his calls: a token that is kept fresh.
import { type Client, Code, ConnectError, type Interceptor, type StreamRequest } from "@connectrpc/connect";

import type {
  LobbyService,
  RefreshTokenResponse,
  SignInResponse,
  Tokens,
} from "./generated/croupier_api/v1/lobby_pb";

const RENEW_BEFORE_MILLISECONDS = 30_000;

/** Gives an access token, another one than was refused. */
export type TokenSource = (refused?: string) => Promise<string>;

/** Put a token on each call. One that is refused, whatever the reason, is replaced once: nothing was done by then. */
export function withToken(token: TokenSource): Interceptor {
  return (next) => async (request) => {
    const twice = request.stream ? await repeatable(request) : request;
    const given = await token();
    twice.header.set("authorization", `Bearer ${given}`);
    try {
      return await next(twice);
    } catch (error) {
      if (ConnectError.from(error).code !== Code.Unauthenticated) throw error;
      twice.header.set("authorization", `Bearer ${await token(given)}`);
      return next(twice);
    }
  };
}

/** A stream that can be asked for twice: over gRPC-Web one message says all that is asked. */
async function repeatable(request: StreamRequest): Promise<StreamRequest> {
  const { value } = await request.message[Symbol.asyncIterator]().next();
  return { ...request, message: { [Symbol.asyncIterator]: () => once(value) } };
}

async function* once<T>(value: T): AsyncGenerator<T> {
  yield value;
}

/** Signs in, and gives tokens from then on: a new one shortly before the old one ends. Calls that come at once share it. */
export async function tokenKeeper(
  lobby: Client<typeof LobbyService>,
  deviceSecret: string,
  name: string,
): Promise<TokenSource> {
  let known = "";
  let renewAt = Infinity;
  const take = ({ tokens }: SignInResponse | RefreshTokenResponse): Tokens => {
    if (tokens === undefined) throw new Error("the lobby gave no tokens");
    known = tokens.accessToken;
    const early = Number(tokens.accessExpiresMilliseconds) - RENEW_BEFORE_MILLISECONDS;
    // Of a new token that seems to be old already the clock of this device is to blame: the door says when it ends.
    renewAt = early > Date.now() ? early : Infinity;
    return tokens;
  };
  const signIn = async () => take(await lobby.signIn({ deviceSecret, name }));
  const refresh = async ({ refreshToken }: Tokens) => take(await lobby.refreshToken({ refreshToken }));
  let current = signIn();
  await current;
  return async (refused) => {
    if (refused === known || Date.now() >= renewAt) {
      known = "";
      renewAt = Infinity;
      // A refresh token counts once. Where that has failed the device secret is what is left.
      current = current.then(refresh).catch(signIn);
      current.catch(() => (renewAt = 0));
    }
    return (await current).accessToken;
  };
}
