// The renewal of tokens, with a lobby and an engine in memory.
import assert from "node:assert/strict";
import { test, vi } from "vitest";

import { Code, ConnectError, type Interceptor, createClient, createRouterTransport } from "@connectrpc/connect";

import { EngineService } from "./generated/croupier_api/v1/engine_pb.js";
import { LobbyService } from "./generated/croupier_api/v1/lobby_pb.js";
import { ErrorInfoSchema } from "./generated/google/rpc/error_details_pb.js";
import { signIn, withToken } from "./tokens.js";

const CREDENTIALS = { deviceSecret: "a secret", name: "Ada", idToken: "of Ada's account" };

/** A player, a lobby whose refresh tokens may be used up, and a gateway that accepts tokens for which `isAccepted` is true. */
async function player(isAccepted: (token: string) => boolean = () => true, refreshes = true) {
  const issued: string[] = [];
  const signIns: { name: string; idToken: string }[] = [];
  const issueTokens = (source: string) => {
    const accessToken = `${source} ${issued.push(source)}`;
    return { player: {}, tokens: { accessToken, refreshToken: `after ${accessToken}` } };
  };
  const routes = createRouterTransport(({ service }) => {
    service(LobbyService, {
      signIn({ name, idToken }) {
        signIns.push({ name, idToken });
        return issueTokens("signed in");
      },
      refreshToken() {
        if (!refreshes) throw new ConnectError("used up", Code.Unauthenticated);
        return issueTokens("renewed");
      },
    });
  });
  const { token } = await signIn(createClient(LobbyService, routes), CREDENTIALS);
  const seen: string[] = [];
  const gateway: Interceptor = (next) => async (request) => {
    const token = request.header.get("authorization")?.replace("Bearer ", "") ?? "";
    seen.push(token);
    if (isAccepted(token)) return next(request);
    // The request was sent, so its stream cannot be read again.
    if (request.stream) for await (const _ of request.message);
    throw new ConnectError("the token has expired", Code.Unauthenticated);
  };
  const guarded = createRouterTransport(({ service }) => {
    service(EngineService, {
      getView: () => ({}),
      async *watchTable({ afterSequence = 0n }) {
        yield { tableEvent: { eventKind: { case: "update", value: { sequence: afterSequence } } } };
      },
    });
  }, { transport: { interceptors: [withToken(token), gateway] } });
  return { engine: createClient(EngineService, guarded), issued, signIns, seen };
}

test("a token is used until it is refused, whatever the clock of the device shows", async () => {
  let now = Date.now();
  vi.spyOn(Date, "now").mockImplementation(() => now);
  const { engine, issued } = await player();
  for (const years of [-50, 1, 50]) {
    now += years * 365 * 86_400_000;
    for (let call = 0; call < 20; call++) await engine.getView({});
  }
  assert.deepEqual(issued, ["signed in"]);
});

test("a token that is refused is replaced once for all calls, and they are retried", async () => {
  const { engine, issued } = await player((token) => token !== "signed in 1");
  await Promise.all([engine.getView({}), engine.getView({})]);
  assert.deepEqual(issued, ["signed in", "renewed"]);
});

test("a stream with a refused token is retried too", async () => {
  const { engine, seen } = await player((token) => token !== "signed in 1");
  for await (const { tableEvent } of engine.watchTable({ afterSequence: 7n })) {
    assert.ok(tableEvent?.eventKind.case === "update");
    assert.equal(tableEvent.eventKind.value.sequence, 7n);
  }
  assert.deepEqual(seen, ["signed in 1", "renewed 2"]);
});

test("a stream that ends with its token is opened again with a new one", async () => {
  const refused = new Set<string>();
  const { engine, seen } = await player((token) => !refused.has(token));
  for (let stream = 0; stream < 2; stream++) {
    for await (const _ of engine.watchTable({}));
    refused.add("signed in 1");
  }
  assert.deepEqual(seen, ["signed in 1", "signed in 1", "renewed 2"]);
});

test("a stream that is refused after its beginning is opened again with a new token", async () => {
  const opened: string[] = [];
  const routes = createRouterTransport(({ service }) => {
    service(EngineService, {
      async *watchTable(_, { requestHeader }) {
        opened.push(requestHeader.get("authorization") ?? "");
        if (opened.length === 1) throw new ConnectError("the token has expired", Code.Unauthenticated);
        yield { tableEvent: { eventKind: { case: "heartbeat", value: {} } } };
        if (opened.length === 2) throw new ConnectError("the token has expired", Code.Unauthenticated);
      },
    });
  }, { transport: { interceptors: [withToken(async (refused) => (refused === undefined ? "old" : "new"))] } });
  const messages = createClient(EngineService, routes).watchTable({})[Symbol.asyncIterator]();
  assert.equal((await messages.next()).done, false);
  await assert.rejects(messages.next(), { code: Code.Unauthenticated });
  assert.deepEqual(opened, ["Bearer old", "Bearer new"]);
});

test("a second refusal is reported", async () => {
  const { engine, issued, seen } = await player(() => false);
  await assert.rejects(engine.getView({}), { code: Code.Unauthenticated });
  assert.deepEqual([issued.length, seen.length], [2, 2]);
});

test("a used refresh token leads to a new sign-in, which keeps the name of another device", async () => {
  const { engine, issued, signIns } = await player((token) => token !== "signed in 1", false);
  await engine.getView({});
  assert.deepEqual(issued, ["signed in", "signed in"]);
  assert.deepEqual(signIns, [{ name: "Ada", idToken: "of Ada's account" }, { name: "", idToken: "" }]);
});

test("a renewal that failed is made again with the next call", async () => {
  let isLobbyAway = false;
  const routes = createRouterTransport(({ service }) => {
    service(LobbyService, {
      signIn() {
        if (isLobbyAway) throw new ConnectError("away", Code.Unavailable);
        return { player: {}, tokens: { accessToken: "a token" } };
      },
    });
  });
  const { token } = await signIn(createClient(LobbyService, routes), CREDENTIALS);
  isLobbyAway = true;
  await assert.rejects(token("a token"), { code: Code.Unavailable });
  await assert.rejects(token(), { code: Code.Unavailable });
  isLobbyAway = false;
  assert.equal(await token(), "a token");
});

/** A session whose lobby answers its sign-outs with these errors, then with none. */
async function sessionOf(...refusals: ConnectError[]) {
  const ended: [refreshToken: string, allDevices: boolean][] = [];
  const signedIn: [name: string, deviceCode: string][] = [];
  const routes = createRouterTransport(({ service }) => {
    service(LobbyService, {
      signIn({ name, deviceCode }) {
        const refreshToken = `refresh ${signedIn.push([name, deviceCode])}`;
        return { player: { playerId: "p" }, tokens: { accessToken: "a token", refreshToken } };
      },
      signOut({ refreshToken, allDevices }) {
        const refusal = refusals[ended.push([refreshToken, allDevices]) - 1];
        if (refusal !== undefined) throw refusal;
        return {};
      },
    });
  });
  const session = await signIn(createClient(LobbyService, routes), { ...CREDENTIALS, deviceCode: "a code" });
  return { ended, session, signedIn };
}

test("a code of another device is used once", async () => {
  const { session, signedIn } = await sessionOf();
  assert.equal(session.player.playerId, "p");
  await session.token("a token");
  assert.deepEqual(signedIn, [["Ada", "a code"], ["", ""]]);
});

test("no token is valid after a sign-out", async () => {
  const { ended, session, signedIn } = await sessionOf();
  await session.signOut();
  await assert.rejects(session.token(), { code: Code.Unauthenticated });
  assert.deepEqual(ended, [["refresh 1", false]]);
  assert.equal(signedIn.length, 1);
});

test("a player whose sign-in has ended signs in again to sign all devices out", async () => {
  const ERROR_INFO = { desc: ErrorInfoSchema, value: { reason: "INVALID_REFRESH_TOKEN" } };
  const { ended, session } = await sessionOf(new ConnectError("ended", Code.Unauthenticated, undefined, [ERROR_INFO]));
  await session.signOut(true);
  assert.deepEqual(ended, [["refresh 1", true], ["refresh 2", true]]);
});

test("a sign-out without an answer leaves the player signed in", async () => {
  const { session } = await sessionOf(new ConnectError("away", Code.Unavailable));
  await assert.rejects(session.signOut(), { code: Code.Unavailable });
  assert.equal(await session.token(), "a token");
});
