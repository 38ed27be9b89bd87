// The renewal of tokens, with a lobby and an engine in memory.
import assert from "node:assert/strict";
import test from "node:test";

import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, type Interceptor, createClient, createRouterTransport } from "@connectrpc/connect";

import { EngineService } from "./generated/croupier_api/v1/engine_pb";
import { LobbyService } from "./generated/croupier_api/v1/lobby_pb";
import { tokenSource, withToken } from "./tokens";

const LONG = 900_000;
const SHORT = 20_000;

/** A player, a lobby whose tokens are valid for `lasting`, and a gateway that accepts tokens for which `isAccepted` is true. */
async function player(isAccepted: (token: string) => boolean = () => true, lasting = LONG, refreshes = true) {
  const issued: string[] = [];
  const issueTokens = (source: string) => {
    const accessToken = `${source} ${issued.push(source)}`;
    const accessExpiryTime = timestampFromMs(Date.now() + lasting);
    return { tokens: { accessToken, refreshToken: `after ${accessToken}`, accessExpiryTime } };
  };
  const routes = createRouterTransport(({ service }) => {
    service(LobbyService, {
      signIn: () => issueTokens("signed in"),
      refreshToken() {
        if (!refreshes) throw new ConnectError("used up", Code.Unauthenticated);
        return issueTokens("renewed");
      },
    });
  });
  const token = await tokenSource(createClient(LobbyService, routes), "a secret", "Ada");
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
  return { engine: createClient(EngineService, guarded), issued, seen };
}

test("a token is renewed shortly before it expires, once for all calls that wait for it", async ({ mock }) => {
  let now = Date.now();
  mock.method(Date, "now", () => now);
  const { engine, issued, seen } = await player();
  await engine.getView({});
  now += LONG - SHORT;
  await Promise.all([engine.getView({}), engine.getView({})]);
  assert.deepEqual(issued, ["signed in", "renewed"]);
  assert.deepEqual(seen, ["signed in 1", "renewed 2", "renewed 2"]);
});

test("a token that is refused early is replaced once, and the call is retried", async () => {
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

test("a stream that ends with its token is opened again with a new one", async ({ mock }) => {
  let now = Date.now();
  mock.method(Date, "now", () => now);
  const { engine, seen } = await player();
  for (let stream = 0; stream < 2; stream++) {
    for await (const _ of engine.watchTable({}));
    now += LONG;
  }
  assert.deepEqual(seen, ["signed in 1", "renewed 2"]);
});

test("a second refusal is reported", async () => {
  const { engine, issued, seen } = await player(() => false);
  await assert.rejects(engine.getView({}), { code: Code.Unauthenticated });
  assert.deepEqual([issued.length, seen.length], [2, 2]);
});

test("a used refresh token leads to a new sign-in", async () => {
  const { engine, issued } = await player((token) => token !== "signed in 1", LONG, false);
  await engine.getView({});
  assert.deepEqual(issued, ["signed in", "signed in"]);
});

test("a device whose clock is ahead does not renew its token with each call", async () => {
  const { engine, issued } = await player(undefined, -LONG);
  for (let call = 0; call < 3; call++) await engine.getView({});
  assert.deepEqual(issued, ["signed in"]);
});
