// The player and their connection, with a lobby in memory.
import assert from "node:assert/strict";
import { test } from "vitest";

import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient, createRouterTransport } from "@connectrpc/connect";

import { connect } from "./client.js";
import { Device, memoryStore } from "./device.js";
import { LobbyService, SignInRequestSchema, SignInResponseSchema } from "./generated/croupier_api/v1/lobby_pb.js";
import { deletePlayer, deviceCode, me, rename } from "./player.js";

const LOST = new ConnectError("the answer is lost", Code.Unavailable);

/** A player's lobby, which loses its first answer, and their device, which has a secret. */
function player() {
  let name = "Ada";
  const calls: string[] = [];
  const called = (call: string) => {
    if (calls.push(call) === 1) throw LOST;
  };
  const transport = createRouterTransport(({ service }) =>
    service(LobbyService, {
      getPlayer({ playerId }) {
        called(`get ${playerId}`);
        return { player: { name } };
      },
      updatePlayer(request) {
        called(`rename ${request.name}`);
        name = request.name;
        return { player: { name } };
      },
      createDeviceCode() {
        called("code");
        return { deviceCode: "ABCDEF" };
      },
      deletePlayer() {
        called("delete");
        return {};
      },
    }),
  );
  const device = new Device(memoryStore(), "http://a.example");
  device.keep("secret");
  return { connection: { lobby: createClient(LobbyService, transport), device }, calls };
}

test("each call about the player is repeated until it has an answer", async () => {
  const { connection, calls } = player();
  assert.equal((await me(connection)).name, "Ada");
  assert.equal((await rename(connection, "Bo")).name, "Bo");
  assert.equal(await deviceCode(connection), "ABCDEF");
  assert.deepEqual(calls, ["get me", "get me", "rename Bo", "code"]);
});

test("the device forgets the secret of a player who is deleted", async () => {
  const { connection, calls } = player();
  assert.equal(connection.device.secret, "secret");
  await deletePlayer(connection);
  assert.deepEqual([calls, connection.device.secret], [["delete", "delete"], undefined]);
});

test("the secret of a sign-in is kept, and signs the same player in", async () => {
  const response = create(SignInResponseSchema, { player: { name: "Ada" }, tokens: { accessToken: "a" } });
  const message = toBinary(SignInResponseSchema, response);
  const trailer = new TextEncoder().encode("grpc-status: 0");
  const answer = Uint8Array.of(0, 0, 0, 0, message.length, ...message, 0x80, 0, 0, 0, trailer.length, ...trailer);
  const secrets: string[] = [];
  const fetch = async (url: RequestInfo | URL, init?: RequestInit): Promise<Response> => {
    const body = await new Request(url, init).arrayBuffer();
    secrets.push(fromBinary(SignInRequestSchema, new Uint8Array(body).subarray(5)).deviceSecret);
    return new Response(answer);
  };
  const store = memoryStore();
  const first = await connect("http://a.example:7700", { store, fetch, language: "nb" });
  await connect("http://a.example:7700/", { store, fetch });
  await connect("http://b.example:7700", { store, fetch });
  assert.deepEqual([first.session.player.name, first.language, first.device.secret], ["Ada", "nb", secrets[0]]);
  assert.deepEqual([secrets[1] === secrets[0], secrets[2] === secrets[0]], [true, false]);
});

test("a developer's own function sends the calls, and no secret is kept before a sign-in", async () => {
  const asked: string[] = [];
  const store = memoryStore();
  const fetch = async (url: RequestInfo | URL): Promise<Response> => {
    asked.push(String(url));
    throw new TypeError("the connection is cut");
  };
  await assert.rejects(connect("http://a.example:7700", { store, fetch }), /the connection is cut/);
  assert.deepEqual(asked, ["http://a.example:7700/croupier_api.v1.LobbyService/SignIn"]);
  assert.equal(new Device(store, "http://a.example:7700").secret, undefined);
});
