// How a player stays signed in, with a lobby and an engine in memory.
import assert from "node:assert/strict";
import test from "node:test";

import { Code, ConnectError, type Interceptor, createClient, createRouterTransport } from "@connectrpc/connect";

import { EngineService } from "./generated/croupier_api/v1/engine_pb";
import { LobbyService } from "./generated/croupier_api/v1/lobby_pb";
import { tokenKeeper, withToken } from "./tokens";

const LONG = 900_000;
const SHORT = 20_000;

/** A player, his lobby, whose tokens last for so long, and a door that takes those only that `isTaken` likes. */
async function player(isTaken: (token: string) => boolean = () => true, lasting = LONG, refreshes = true) {
  const asked: string[] = [];
  const given = (way: string) => {
    const accessToken = `${way} ${asked.push(way)}`;
    const accessExpiresMilliseconds = BigInt(Date.now() + lasting);
    return { tokens: { accessToken, refreshToken: `after ${accessToken}`, accessExpiresMilliseconds } };
  };
  const routes = createRouterTransport(({ service }) => {
    service(LobbyService, {
      signIn: () => given("signed in"),
      refreshToken() {
        if (!refreshes) throw new ConnectError("used up", Code.Unauthenticated);
        return given("renewed");
      },
    });
  });
  const token = await tokenKeeper(createClient(LobbyService, routes), "a secret", "Ada");
  const seen: string[] = [];
  const door: Interceptor = (next) => async (request) => {
    const given = request.header.get("authorization")?.replace("Bearer ", "") ?? "";
    seen.push(given);
    if (isTaken(given)) return next(request);
    // It is sent all the same, so it cannot be read a second time.
    if (request.stream) for await (const _ of request.message);
    throw new ConnectError("the token has expired", Code.Unauthenticated);
  };
  const guarded = createRouterTransport(({ service }) => {
    service(EngineService, {
      getView: () => ({}),
      async *watchTable({ afterSequence = 0n }) {
        yield { event: { case: "update", value: { sequence: afterSequence } } };
      },
    });
  }, { transport: { interceptors: [withToken(token), door] } });
  return { engine: createClient(EngineService, guarded), asked, seen };
}

test("a token is renewed shortly before it ends, once for all calls that wait for it", async ({ mock }) => {
  let now = Date.now();
  mock.method(Date, "now", () => now);
  const { engine, asked, seen } = await player();
  await engine.getView({});
  now += LONG - SHORT;
  await Promise.all([engine.getView({}), engine.getView({})]);
  assert.deepEqual(asked, ["signed in", "renewed"]);
  assert.deepEqual(seen, ["signed in 1", "renewed 2", "renewed 2"]);
});

test("a token that is refused before its time is replaced once, and the call is made again", async () => {
  const { engine, asked } = await player((token) => token !== "signed in 1");
  await Promise.all([engine.getView({}), engine.getView({})]);
  assert.deepEqual(asked, ["signed in", "renewed"]);
});

test("so it is for a stream, which is asked for as before", async () => {
  const { engine, seen } = await player((token) => token !== "signed in 1");
  for await (const { event } of engine.watchTable({ afterSequence: 7n })) {
    assert.ok(event.case === "update");
    assert.equal(event.value.sequence, 7n);
  }
  assert.deepEqual(seen, ["signed in 1", "renewed 2"]);
});

test("whoever is refused for good hears it", async () => {
  const { engine, asked, seen } = await player(() => false);
  await assert.rejects(engine.getView({}), { code: Code.Unauthenticated });
  assert.deepEqual([asked.length, seen.length], [2, 2]);
});

test("where the refresh token is used up the secret of the device is what is left", async () => {
  const { engine, asked } = await player((token) => token !== "signed in 1", LONG, false);
  await engine.getView({});
  assert.deepEqual(asked, ["signed in", "signed in"]);
});

test("a device whose clock is ahead does not ask for a token with each call", async () => {
  const { engine, asked } = await player(undefined, -LONG);
  for (let call = 0; call < 3; call++) await engine.getView({});
  assert.deepEqual(asked, ["signed in"]);
});
