// A player's sign-in, and the access tokens of their calls, which are used until a service refuses them.
import {
  type Client,
  Code,
  ConnectError,
  type Interceptor,
  type StreamRequest,
  type StreamResponse,
  type UnaryResponse,
} from "@connectrpc/connect";

import { ErrorReason } from "./generated/croupier_api/v1/errors_pb.js";
import type {
  LobbyService,
  Player,
  RefreshTokenResponse,
  SignInResponse,
  Tokens,
} from "./generated/croupier_api/v1/lobby_pb.js";
import { reasonOf } from "./errors.js";

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

/** A player who is signed in. */
export interface Session {
  /** The player as they signed in. */
  readonly player: Player;
  /** Returns a valid access token. */
  readonly token: TokenSource;
  /** End the sign-in, or those of all devices, whose secrets are removed too but for this one; no token is valid then. */
  signOut(allDevices?: boolean): Promise<void>;
}

/** How a player signs in. */
export interface Credentials {
  /** A secret that the device made and keeps. */
  readonly deviceSecret: string;
  /** A new name; by default the player keeps theirs. */
  readonly name?: string;
  /** A code of the player's other device; the secret is a new one then. */
  readonly deviceCode?: string;
  /** An ID token of the app's user. */
  readonly idToken?: string;
}

/**
 * Sign in, and return the session, whose tokens all calls share. A token is renewed once a service has refused it, so
 * that no clock of the device has to be right. Later sign-ins are by the device secret alone: the name may have changed
 * on another device.
 */
export async function signIn(lobby: Client<typeof LobbyService>, credentials: Credentials): Promise<Session> {
  const { deviceSecret } = credentials;
  const again = async () => take(await lobby.signIn({ deviceSecret }));
  const refresh = async ({ refreshToken }: Tokens) => take(await lobby.refreshToken({ refreshToken }));
  const first = await lobby.signIn(credentials);
  if (first.player === undefined) throw new Error("the lobby returned no player");
  let current = Promise.resolve(take(first));
  let lastToken: string | undefined = (await current).accessToken;
  let hasEnded = false;
  const token: TokenSource = async (refused) => {
    if (hasEnded) throw new ConnectError("the player has signed out", Code.Unauthenticated);
    if (lastToken === undefined || lastToken === refused) {
      // Other calls wait for the renewal. If it fails, the next call tries again.
      lastToken = "";
      // A refresh token is valid once. If the refresh fails, the device secret signs in again.
      current = current.then(refresh).catch(again);
      current.then(({ accessToken }) => (lastToken = accessToken), () => (lastToken = undefined));
    }
    return (await current).accessToken;
  };
  const signOut = async (allDevices = false) => {
    const end = async ({ refreshToken }: Tokens) => lobby.signOut({ refreshToken, allDevices });
    await current.then(end).catch(async (error) => {
      // The sign-in has ended already: the other devices need another one to be signed out.
      if (reasonOf(error) !== ErrorReason.INVALID_REFRESH_TOKEN) throw error;
      await end(await again());
    });
    hasEnded = true;
  };
  return { player: first.player, token, signOut };
}

function take({ tokens }: SignInResponse | RefreshTokenResponse): Tokens {
  if (tokens === undefined) throw new Error("the lobby returned no tokens");
  return tokens;
}
