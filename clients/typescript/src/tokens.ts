// Access tokens of a player's calls, which are used until a service refuses them.
import {
  type Client,
  Code,
  ConnectError,
  type Interceptor,
  type StreamRequest,
  type StreamResponse,
  type UnaryResponse,
} from "@connectrpc/connect";

import type {
  LobbyService,
  RefreshTokenResponse,
  SignInResponse,
  Tokens,
} from "./generated/croupier_api/v1/lobby_pb";

/** Returns an access token, which differs from a refused one. */
export type TokenSource = (refused?: string) => Promise<string>;

/** Add a token to each call. A refused one is replaced once, because the call was not executed. */
export function withToken(token: TokenSource): Interceptor {
  return (next) => async (request) => {
    const repeatable = request.stream ? await repeatableStream(request) : request;
    const send = (accessToken: string) => {
      repeatable.header.set("authorization", `Bearer ${accessToken}`);
      return next(repeatable);
    };
    const accessToken = await token();
    const sendAgain = async (error: unknown) => {
      if (ConnectError.from(error).code !== Code.Unauthenticated) throw error;
      return send(await token(accessToken));
    };
    let response;
    try {
      response = await send(accessToken);
    } catch (error) {
      return sendAgain(error);
    }
    return response.stream ? { ...response, message: untilRefused(response.message, sendAgain) } : response;
  };
}

/** Yield the messages of a stream, which is opened again if its token is refused before the first of them. */
async function* untilRefused(
  messages: StreamResponse["message"],
  sendAgain: (error: unknown) => Promise<UnaryResponse | StreamResponse>,
): StreamResponse["message"] {
  let isOpen = false;
  try {
    for await (const message of messages) {
      isOpen = true;
      yield message;
    }
  } catch (error) {
    if (isOpen) throw error;
    const response = await sendAgain(error);
    if (response.stream) yield* response.message;
  }
}

/** Return a stream request that can be sent twice: over gRPC-Web it has one message. */
async function repeatableStream(request: StreamRequest): Promise<StreamRequest> {
  const { value } = await request.message[Symbol.asyncIterator]().next();
  return { ...request, message: { [Symbol.asyncIterator]: () => once(value) } };
}

async function* once<T>(value: T): AsyncGenerator<T> {
  yield value;
}

/**
 * Sign in, and return a source of tokens, which all calls share. A token is renewed once a service has refused it, so
 * that no clock of the device has to be right. Later sign-ins send no name: it may have changed on another device.
 * An ID token of the app's identity provider is for the first sign-in; later ones are by the device secret.
 */
export async function tokenSource(
  lobby: Client<typeof LobbyService>,
  deviceSecret: string,
  name: string,
  idToken = "",
): Promise<TokenSource> {
  const signIn = async (first = {}) => take(await lobby.signIn({ deviceSecret, ...first }));
  const refresh = async ({ refreshToken }: Tokens) => take(await lobby.refreshToken({ refreshToken }));
  let current = signIn({ name, idToken });
  let lastToken: string | undefined = (await current).accessToken;
  return async (refused) => {
    if (lastToken === undefined || lastToken === refused) {
      // Other calls wait for the renewal. If it fails, the next call tries again.
      lastToken = "";
      // A refresh token is valid once. If the refresh fails, the device secret signs in again.
      current = current.then(refresh).catch(() => signIn());
      current.then(({ accessToken }) => (lastToken = accessToken), () => (lastToken = undefined));
    }
    return (await current).accessToken;
  };
}

function take({ tokens }: SignInResponse | RefreshTokenResponse): Tokens {
  if (tokens === undefined) throw new Error("the lobby returned no tokens");
  return tokens;
}
