// Calls over gRPC-Web, byte by byte.
import assert from "node:assert/strict";
import { test } from "vitest";

import { create, toBinary } from "@bufbuild/protobuf";
import { anyPack } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, createClient } from "@connectrpc/connect";

import { reasonOf } from "./errors.js";
import { ErrorReason } from "./generated/croupier_api/v1/errors_pb.js";
import { CreateDeviceCodeResponseSchema, LobbyService, WatchTablesResponseSchema } from "./generated/croupier_api/v1/lobby_pb.js";
import { ErrorInfoSchema } from "./generated/google/rpc/error_details_pb.js";
import { StatusSchema } from "./generated/google/rpc/status_pb.js";
import { grpcWebTransport } from "./grpc_web.js";

const CODE = toBinary(CreateDeviceCodeResponseSchema, create(CreateDeviceCodeResponseSchema, { deviceCode: "ABCDEF" }));
const TABLE = toBinary(WatchTablesResponseSchema, create(WatchTablesResponseSchema, { table: { tableId: "a".repeat(300) } }));
const DONE = frame(0x80, text("grpc-status: 0\r\ngrpc-message: \r\n"));

function text(written: string): Uint8Array {
  return new TextEncoder().encode(written);
}

function frame(flags: number, data: Uint8Array): Uint8Array {
  return Uint8Array.of(flags, 0, 0, data.length >> 8, data.length & 255, ...data);
}

/** A body that arrives in pieces of so many bytes. */
function body(frames: readonly Uint8Array[], size = Infinity): ReadableStream<Uint8Array> {
  const bytes = frames.flatMap((part) => [...part]);
  return new ReadableStream({
    start(controller) {
      for (let at = 0; at < bytes.length; at += size) {
        controller.enqueue(Uint8Array.from(bytes.slice(at, at + Math.min(size, bytes.length))));
      }
      controller.close();
    },
  });
}

/** A client whose call gets this answer, and the requests that it sent. */
function clientOf(answer: BodyInit | null, init: ResponseInit = {}) {
  const requests: Request[] = [];
  const fetch = async (url: RequestInfo | URL, options?: RequestInit) => {
    requests.push(new Request(url, options));
    return new Response(answer, init);
  };
  const transport = grpcWebTransport({ baseUrl: "http://a.example/", defaultTimeoutMs: 9_000, fetch });
  return { lobby: createClient(LobbyService, transport), requests };
}

async function read(answer: BodyInit | null, init?: ResponseInit): Promise<number[]> {
  const lengths: number[] = [];
  for await (const { table } of clientOf(answer, init).lobby.watchTables({})) lengths.push(table?.tableId.length ?? 0);
  return lengths;
}

test("a call is a frame with a time, and its answer a frame with a status after it", async () => {
  const { lobby, requests } = clientOf(body([frame(0, CODE), DONE]));
  assert.equal((await lobby.createDeviceCode({}, { headers: { "x-table-id": "t" } })).deviceCode, "ABCDEF");
  const [request] = requests;
  assert.equal(request?.url, "http://a.example/croupier_api.v1.LobbyService/CreateDeviceCode");
  assert.deepEqual([...new Uint8Array((await request?.arrayBuffer()) ?? assert.fail())], [0, 0, 0, 0, 0]);
  const names = ["content-type", "x-grpc-web", "grpc-timeout", "x-table-id"];
  assert.deepEqual(names.map((name) => request?.headers.get(name)), ["application/grpc-web+proto", "1", "9000m", "t"]);
});

test("a stream has no time if that is 0", async () => {
  const { lobby, requests } = clientOf(body([DONE]));
  for await (const _ of lobby.watchTables({}, { timeoutMs: 0 })) assert.fail();
  assert.equal(requests[0]?.headers.get("grpc-timeout"), null);
});

test("messages arrive in pieces of any size", async () => {
  for (const size of [1, 4, 5, 6, 307, Infinity]) {
    assert.deepEqual(await read(body([frame(0, TABLE), frame(0, TABLE), DONE], size)), [300, 300], `${size} bytes at a time`);
  }
});

test("a refusal has its code, its text and its details, in a trailer or in headers", async () => {
  const info = anyPack(ErrorInfoSchema, create(ErrorInfoSchema, { reason: "UNKNOWN_TABLE" }));
  const status = create(StatusSchema, { code: Code.NotFound, message: "no such table ♠", details: [info] });
  const details = Buffer.from(toBinary(StatusSchema, status)).toString("base64").replaceAll("=", "");
  const trailer = frame(0x80, text(`grpc-status: 5\r\ngrpc-message: short\r\ngrpc-status-details-bin: ${details}\r\n`));
  const isRefused = (error: unknown) => {
    assert.ok(error instanceof ConnectError);
    assert.deepEqual([error.code, error.rawMessage, reasonOf(error)], [Code.NotFound, "no such table ♠", ErrorReason.UNKNOWN_TABLE]);
    return true;
  };
  await assert.rejects(clientOf(body([trailer])).lobby.createDeviceCode({}), isRefused);
  await assert.rejects(read(body([frame(0, TABLE), trailer])), isRefused);
  const headers = { "grpc-status": "5", "grpc-status-details-bin": details };
  await assert.rejects(read(null, { headers }), isRefused);
});

test("a status without details, and an answer without a status", async () => {
  const plain = { headers: { "grpc-status": "14", "grpc-message": "no%20healthy%20upstream" } };
  await assert.rejects(read(null, plain), { code: Code.Unavailable, rawMessage: "no healthy upstream" });
  await assert.rejects(read(null, { headers: { "grpc-status": "99" } }), { code: Code.Unknown });
  await assert.rejects(read("busy", { status: 503 }), { code: Code.Unavailable, rawMessage: "HTTP 503" });
  await assert.rejects(read("what", { status: 418 }), { code: Code.Unknown });
});

test("an answer that was cut is an error", async () => {
  const cut = { code: Code.Unknown, rawMessage: "the answer was cut: it has no status" };
  await assert.rejects(read(body([frame(0, TABLE)])), cut);
  await assert.rejects(read(body([frame(0, TABLE).subarray(0, 30)])), cut);
  await assert.rejects(clientOf(null).lobby.createDeviceCode({}), cut);
});

test("a call has one answer", async () => {
  await assert.rejects(clientOf(body([DONE])).lobby.createDeviceCode({}), { rawMessage: "0 answers" });
  await assert.rejects(clientOf(body([frame(0, CODE), frame(0, CODE), DONE])).lobby.createDeviceCode({}), { rawMessage: "2 answers" });
});
