// The line of a page: cut, healed and slow, with a WebSocket in memory.
import assert from "node:assert/strict";
import { afterEach, beforeEach, test, vi } from "vitest";

import { create, toBinary } from "@bufbuild/protobuf";
import { ActionSchema, PlayTableRequestSchema, PlayTableResponseSchema } from "@croupier/client/contract";

import { Line } from "./line.js";
import { Recording } from "./recording.js";

class FakeSocket extends EventTarget {
  static readonly opened: FakeSocket[] = [];
  readonly sent: Uint8Array[] = [];
  isClosed = false;

  constructor() {
    super();
    FakeSocket.opened.push(this);
  }

  send(data: Uint8Array): void {
    this.sent.push(data);
  }

  close(): void {
    this.isClosed = true;
  }
}

const action = create(ActionSchema, { verb: { case: "passTurn", value: {} } });
const acting = toBinary(PlayTableRequestSchema, create(PlayTableRequestSchema, { accessToken: "secret", request: { case: "action", value: { requestId: "1", action } } }));
const answer = toBinary(PlayTableResponseSchema, create(PlayTableResponseSchema, { answer: { requestId: "1", outcome: { case: "sequence", value: 7n } } }));

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("WebSocket", FakeSocket);
  FakeSocket.opened.length = 0;
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

function opened() {
  const recording = new Recording(() => {});
  const line = new Line({ message: (message) => recording.message(1, message), action: (taken) => recording.action(1, taken) });
  const open = () => {
    const events: string[] = [];
    const socket = line.socket("wss://a.example");
    for (const type of ["open", "message", "close"]) socket.addEventListener(type, () => events.push(type));
    return { socket, events };
  };
  return { line, recording, open };
}

test("a cut line closes its sockets and opens none until it is healed", async () => {
  const { line, open } = opened();
  const first = open();
  line.set({ isCut: true, delayMilliseconds: 0 });
  assert.equal(FakeSocket.opened[0]?.isClosed, true);
  assert.deepEqual(first.events, ["close"]);
  const second = open();
  await vi.advanceTimersByTimeAsync(0);
  assert.deepEqual(second.events, ["close"]);
  assert.equal(FakeSocket.opened.length, 1);
  line.set({ isCut: false, delayMilliseconds: 0 });
  open();
  assert.equal(FakeSocket.opened.length, 2);
});

test("a cut line sends no call", async () => {
  const { line } = opened();
  const sent = vi.fn();
  vi.stubGlobal("fetch", sent);
  line.set({ isCut: true, delayMilliseconds: 0 });
  await assert.rejects(line.fetch("https://a.example"), TypeError);
  assert.equal(sent.mock.calls.length, 0);
});

test("a slow line delays both directions, and keeps the order when it gets fast", async () => {
  const { line, open } = opened();
  line.set({ isCut: false, delayMilliseconds: 300 });
  const { socket, events } = open();
  socket.send(acting);
  FakeSocket.opened[0]?.dispatchEvent(new Event("open"));
  line.set({ isCut: false, delayMilliseconds: 0 });
  FakeSocket.opened[0]?.dispatchEvent(new MessageEvent("message", { data: answer.slice().buffer }));
  await vi.advanceTimersByTimeAsync(299);
  assert.deepEqual([events, FakeSocket.opened[0]?.sent.length], [[], 0]);
  await vi.advanceTimersByTimeAsync(1);
  assert.deepEqual([events, FakeSocket.opened[0]?.sent.length], [["open", "message"], 1]);
});

test("a recording has the messages, newest first and without tokens, and the actions that were taken", async () => {
  const { recording, open } = opened();
  const { socket } = open();
  socket.send(acting);
  FakeSocket.opened[0]?.dispatchEvent(new MessageEvent("message", { data: answer.slice().buffer }));
  await vi.advanceTimersByTimeAsync(0);
  assert.deepEqual(recording.of(1).map(({ title }) => title), ["← answer", "→ action"]);
  assert.ok(recording.of(1).every(({ text }) => !text.includes("secret")));
  assert.deepEqual(recording.actions, [{ page: 1, action: { passTurn: {} } }]);
});

test("a recording keeps the 500 newest messages", () => {
  const recording = new Recording(() => {});
  for (let count = 0; count < 501; count += 1) recording.message(1, { isSent: true, json: {} });
  assert.deepEqual([recording.of(1).length, recording.of(1)[0]?.number], [500, 501]);
});
