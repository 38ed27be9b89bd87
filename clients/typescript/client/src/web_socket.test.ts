// Tables over WebSocket: tokens, actions in the stream, and every end of a stream, with sockets in memory.
import assert from "node:assert/strict";
import { test } from "vitest";

import { type MessageInitShape, create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { anyPack } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, createClient, createRouterTransport } from "@connectrpc/connect";

import { ActionSchema } from "./generated/croupier_api/v1/actions_pb.js";
import {
  EngineService,
  type PlayTableRequest,
  PlayTableRequestSchema,
  PlayTableResponseSchema,
  type SubmitActionRequest,
  type TableEventSchema,
} from "./generated/croupier_api/v1/engine_pb.js";
import { ErrorReason } from "./generated/croupier_api/v1/errors_pb.js";
import { LobbyService } from "./generated/croupier_api/v1/lobby_pb.js";
import { ErrorInfoSchema } from "./generated/google/rpc/error_details_pb.js";
import { type Status, StatusSchema } from "./generated/google/rpc/status_pb.js";
import { reasonOf } from "./errors.js";
import { retryNotExecuted } from "./retry.js";
import { Table } from "./table.js";
import { withToken } from "./tokens.js";
import { overWebSocket } from "./web_socket.js";

type EventKind = NonNullable<MessageInitShape<typeof TableEventSchema>["eventKind"]>;
const PASS = create(ActionSchema, { verb: { case: "passTurn", value: {} } });
const SNAPSHOT: EventKind = { case: "snapshot", value: { sequence: 3n, viewerSeat: 1, view: { seats: [{}, {}] } } };
const BROKEN = 1_006;

/** A browser's WebSocket, and the server at its other end. */
class FakeSocket extends EventTarget {
  binaryType: BinaryType = "blob";
  readonly received: PlayTableRequest[] = [];
  isClosed = false;

  constructor(readonly url: string) {
    super();
  }

  send(frame: Uint8Array): void {
    this.received.push(fromBinary(PlayTableRequestSchema, frame));
    this.dispatchEvent(new Event("received"));
  }

  close(): void {
    this.isClosed = true;
  }

  /** Complete the handshake, and return the first frame. */
  accept(): PlayTableRequest {
    this.dispatchEvent(new Event("open"));
    return this.received[0] ?? assert.fail("the first frame is missing");
  }

  deliver(response: MessageInitShape<typeof PlayTableResponseSchema>): void {
    this.deliverFrame(toBinary(PlayTableResponseSchema, create(PlayTableResponseSchema, response)));
  }

  deliverFrame(frame: Uint8Array): void {
    assert.equal(this.binaryType, "arraybuffer");
    this.dispatchEvent(Object.assign(new Event("message"), { data: new Uint8Array(frame).buffer }));
  }

  event(...kinds: EventKind[]): void {
    for (const eventKind of kinds) this.deliver({ tableEvent: { eventKind: eventKind } });
  }

  end(code: number, reason = ""): void {
    this.dispatchEvent(Object.assign(new Event("close"), { code, reason }));
  }

  /** Send the last entry of a game, and end the stream with it. */
  endGame(sequence: bigint): void {
    const ranking = [{ seats: [1, 0] }];
    this.event({ case: "update", value: { sequence, facts: [{ fact: { case: "gameEnded", value: { ranking } } }] } });
    this.end(1_000);
  }

  /** Return the next action that arrives. */
  async action(): Promise<SubmitActionRequest> {
    await new Promise((resolve) => this.addEventListener("received", resolve, { once: true }));
    const request = this.received.at(-1)?.request;
    return request?.case === "action" ? request.value : assert.fail("expected an action");
  }
}

/** A client with sockets that the test serves in their order, an engine for unary calls, and tokens by their number. */
function player(silenceMilliseconds?: number, renewing?: () => void) {
  const opened: FakeSocket[] = [];
  const changes = new EventTarget();
  const open = (url: string) => {
    const socket = new FakeSocket(url);
    opened.push(socket);
    changes.dispatchEvent(new Event("opened"));
    return socket;
  };
  const unary: SubmitActionRequest[] = [];
  let tokens = 1;
  const token = async (refused?: string) => {
    if (refused !== undefined) renewing?.();
    return `token ${refused === undefined ? tokens : ++tokens}`;
  };
  const transport = createRouterTransport(({ service }) => {
    service(EngineService, {
      submitAction: (request) => ({ sequence: BigInt(100 * unary.push(request)) }),
      getView: () => ({}),
    });
  }, { transport: { interceptors: [retryNotExecuted, withToken(token), overWebSocket("http://a.example:7700/", open)] } });
  const client = { lobby: createClient(LobbyService, transport), engine: createClient(EngineService, transport) };
  /** Return a socket by its number, as soon as it is opened. */
  const socket = async (index: number): Promise<FakeSocket> => {
    while (opened.length <= index) await new Promise((resolve) => changes.addEventListener("opened", resolve, { once: true }));
    return opened[index] ?? assert.fail();
  };
  return { client, table: new Table(client, "t/1", silenceMilliseconds === undefined ? {} : { silenceMilliseconds }), opened, socket, unary };
}

/** Follow a table; `reached` waits until it has a sequence, and `over` ends with its game, or throws. */
function follow(table: Table, signal?: AbortSignal) {
  const changes = new EventTarget();
  const seen: (string | undefined)[] = [];
  const over = (async () => {
    for await (const { eventKind } of table.follow(signal)) {
      seen.push(eventKind.case);
      changes.dispatchEvent(new Event("changed"));
    }
  })();
  const reached = async (sequence: bigint) => {
    while (table.sequence !== sequence) await new Promise((resolve) => changes.addEventListener("changed", resolve, { once: true }));
  };
  return { over, reached, seen };
}

/** Open a stream that has sent its snapshot. */
async function followed(silenceMilliseconds?: number) {
  const opened = player(silenceMilliseconds);
  const following = follow(opened.table);
  const first = await opened.socket(0);
  first.accept();
  first.event(SNAPSHOT);
  await following.reached(3n);
  return { ...opened, ...following, first };
}

function update(sequence: bigint): EventKind {
  return { case: "update", value: { sequence } };
}

function refusal(reason: keyof typeof ErrorReason, code: Code): Status {
  return create(StatusSchema, { code, message: "refused", details: [anyPack(ErrorInfoSchema, create(ErrorInfoSchema, { reason }))] });
}

/** Expect that the stream is opened again after a sequence, and end the game there. */
async function resumes({ socket, over }: Pick<Awaited<ReturnType<typeof followed>>, "socket" | "over">, after = 3n): Promise<void> {
  const second = await socket(1);
  const { request } = second.accept();
  assert.equal(request.case === "watch" && request.value.afterSequence, after);
  second.endGame(after + 1n);
  await over;
}

test("a stream begins with token and watch, and ends with the game", async () => {
  const { table, socket, opened } = player();
  const { over, seen } = follow(table);
  const first = await socket(0);
  assert.equal(first.url, "ws://a.example:7700/v1/tables/t%2F1/play");
  assert.deepEqual(first.received, [], "a frame before the handshake is an error");
  const { accessToken, request } = first.accept();
  assert.equal(accessToken, "token 1");
  assert.ok(request.case === "watch");
  assert.deepEqual([request.value.tableId, request.value.afterSequence], ["t/1", undefined]);
  first.event(SNAPSHOT, { case: "heartbeat", value: {} });
  first.endGame(4n);
  await over;
  assert.deepEqual([seen, opened.length, table.error], [["snapshot", "update"], 1, undefined]);
  assert.ok(first.isClosed);
});

test("a page with TLS has streams with TLS", async () => {
  const urls: string[] = [];
  const open = (url: string) => (urls.push(url), new FakeSocket(url));
  const transport = createRouterTransport(() => {}, { transport: { interceptors: [overWebSocket("https://a.example", open)] } });
  void createClient(EngineService, transport).watchTable({ tableId: "t" })[Symbol.asyncIterator]().next();
  while (urls.length === 0) await new Promise(setImmediate);
  assert.deepEqual(urls, ["wss://a.example/v1/tables/t/play"]);
});

test("actions and their answers travel in the stream, also while nobody reads its events", async () => {
  const { client, table, first, unary, over } = await followed();
  const [one, other] = [first.action(), table.act(PASS, { expectedSequence: 3n })];
  const { requestId, action, expectedSequence } = await one;
  assert.deepEqual([action, expectedSequence], [PASS, 3n]);
  first.deliver({ answer: { requestId: "of nobody", outcome: { case: "sequence", value: 9n } } });
  first.deliver({ answer: { requestId, outcome: { case: "sequence", value: 4n } }, tableEvent: { eventKind: update(4n) } });
  await other;
  assert.equal(unary.length, 0);
  first.endGame(5n);
  await over;
});

test("the end of a replaced stream leaves the actions to the newer one", async () => {
  const { client, first, socket, over } = await followed();
  const newer = new Table(client, "t/1");
  const following = follow(newer);
  const second = await socket(1);
  second.accept();
  second.event(SNAPSHOT);
  await following.reached(3n);
  first.endGame(4n);
  await over;
  const [sent, acting] = [second.action(), newer.act(PASS)];
  // Without the stream the unary call would answer at once.
  const action = await Promise.race([sent, acting]);
  assert.ok(action !== undefined, "the action went by another way");
  second.deliver({ answer: { requestId: action.requestId, outcome: { case: "sequence", value: 4n } }, tableEvent: { eventKind: update(4n) } });
  await acting;
  second.endGame(5n);
  await following.over;
});

test("a refused action has the reason, and leaves the stream open", async () => {
  const { client, table, first, over, opened } = await followed();
  const sent = first.action();
  const acting = table.act(PASS, { expectedSequence: 3n });
  const { requestId } = await sent;
  first.deliver({ answer: { requestId, outcome: { case: "refusal", value: refusal("ILLEGAL_ACTION", Code.FailedPrecondition) } } });
  await assert.rejects(acting, (error) => reasonOf(error) === ErrorReason.ILLEGAL_ACTION && (error as ConnectError).rawMessage === "refused");
  first.endGame(4n);
  await over;
  assert.equal(opened.length, 1);
});

test("all other calls, and actions without a stream, are those of gRPC-Web", async () => {
  const { client, table, unary, opened } = player();
  await client.engine.getView({});
  await table.act(PASS, { expectedSequence: undefined });
  assert.deepEqual([unary.length, opened.length], [1, 0]);
});

test("a broken connection is resumed, and an action without an answer is sent again with its id", async () => {
  const broken = await followed();
  const sent = broken.first.action();
  const acting = broken.table.act(PASS, { expectedSequence: 3n });
  const { requestId } = await sent;
  broken.first.end(BROKEN);
  await acting;
  assert.deepEqual(broken.unary.map((request) => request.requestId), [requestId]);
  await resumes(broken);
});

test("no action is sent into a stream that broke before its events were read", async () => {
  const { client, table, socket, unary } = player();
  const { over, reached } = follow(table);
  const first = await socket(0);
  first.accept();
  first.event(SNAPSHOT);
  first.end(BROKEN);
  await reached(3n);
  await table.act(PASS, { expectedSequence: 3n });
  assert.equal(unary.length, 1);
  await resumes({ socket, over });
});

test("a connection that breaks without a close is resumed", async () => {
  const broken = await followed();
  broken.first.dispatchEvent(new Event("error"));
  await resumes(broken);
});

test("an action without an answer in time shows that the stream has broken", async () => {
  const silent = await followed();
  const acting = silent.client.engine.submitAction({ tableId: "t/1", requestId: "1", action: PASS }, { timeoutMs: 20 });
  await assert.rejects(acting, { code: Code.DeadlineExceeded });
  assert.ok(silent.first.isClosed);
  await resumes(silent);
});

test("a stream that is silent for too long is closed and resumed", async () => {
  const silent = await followed(1_000);
  const second = await silent.socket(1);
  assert.ok(silent.first.isClosed && !second.isClosed);
  await resumes(silent);
});

test("a resume notice and its close code lead to the next stream", async () => {
  const drained = await followed();
  drained.first.event(update(4n), { case: "resumeNotice", value: {} });
  drained.first.end(1_001);
  await drained.socket(1);
  assert.equal(drained.table.error, undefined);
  await resumes(drained, 4n);
});

test("a frame that is no message of the contract ends the stream, which is resumed", async () => {
  const garbled = await followed();
  garbled.first.deliverFrame(new Uint8Array([255, 255]));
  assert.ok(garbled.first.isClosed);
  await resumes(garbled);
});

test("a reader who is far behind resumes after what they have read", async () => {
  const behind = await followed();
  behind.first.event(...Array.from({ length: 1_025 }, (_, index) => update(4n + BigInt(index))));
  assert.ok(behind.first.isClosed);
  behind.first.event(update(1_029n));
  await resumes(behind, 1_028n);
});

test("a refusal is that of the last frame, and no stream is opened again", async () => {
  const { table, socket, opened } = player();
  const { over } = follow(table);
  const first = await socket(0);
  first.accept();
  first.deliver({ error: refusal("UNKNOWN_TABLE", Code.NotFound) });
  first.end(4_005);
  await assert.rejects(over, (error) => reasonOf(error) === ErrorReason.UNKNOWN_TABLE && (error as ConnectError).code === Code.NotFound);
  assert.equal(opened.length, 1);
});

test("a stream that a newer one replaces is not opened again", async () => {
  const { first, over, opened } = await followed();
  first.deliver({ error: refusal("SUPERSEDED", Code.Aborted) });
  first.end(4_010);
  await assert.rejects(over, (error) => reasonOf(error) === ErrorReason.SUPERSEDED);
  assert.equal(opened.length, 1);
});

test("without a last frame the close code is the code of the refusal", async () => {
  const { table, socket } = player();
  const { over } = follow(table);
  const first = await socket(0);
  first.accept();
  first.end(4_003, "invalid table_id");
  await assert.rejects(over, { code: Code.InvalidArgument, rawMessage: "invalid table_id" });
});

test("a stream that ended because it was read too slowly is resumed", async () => {
  const slow = await followed();
  slow.first.end(4_008);
  await resumes(slow);
});

test("a refused token is renewed once, and the same stream is opened with the new one", async () => {
  const { table, socket, opened } = player();
  const { over } = follow(table);
  const first = await socket(0);
  first.accept();
  first.deliver({ error: refusal("INVALID_ACCESS_TOKEN", Code.Unauthenticated) });
  first.end(4_016);
  const second = await socket(1);
  const { accessToken, request } = second.accept();
  assert.deepEqual([accessToken, request.case], ["token 2", "watch"]);
  second.end(4_016);
  await assert.rejects(over, { code: Code.Unauthenticated });
  assert.equal(opened.length, 2);
});

test("the connection closes as soon as the caller stops", async () => {
  const { table, socket } = player();
  const stop = new AbortController();
  const { over } = follow(table, stop.signal);
  const first = await socket(0);
  first.accept();
  stop.abort(new Error("the person left"));
  assert.ok(first.isClosed);
  await assert.rejects(over, { message: "the person left" });
});

test("a caller who stops while the token is renewed opens no connection", async () => {
  const stop = new AbortController();
  const { table, socket, opened } = player(undefined, () => stop.abort(new Error("the person left")));
  const { over } = follow(table, stop.signal);
  (await socket(0)).end(4_016);
  await assert.rejects(over, { message: "the person left" });
  assert.equal(opened.length, 1);
});

test("an action goes by the stream that is open now", async () => {
  const broken = await followed();
  broken.first.end(BROKEN);
  const second = await broken.socket(1);
  second.accept();
  await broken.table.act(PASS, { expectedSequence: 3n });
  assert.equal(broken.unary.length, 1, "the second stream has no message yet, and may be refused");
  second.event(update(4n));
  await broken.reached(4n);
  const sent = second.action();
  const acting = broken.table.act(PASS, { expectedSequence: 4n });
  const { requestId } = await sent;
  second.deliver({ answer: { requestId, outcome: { case: "sequence", value: 5n } } });
  await acting;
  assert.equal(broken.unary.length, 1);
  second.endGame(5n);
  await broken.over;
});
