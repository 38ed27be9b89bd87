// A table that is followed in the background, on a page that is hidden and shown, with an engine in memory.
import assert from "node:assert/strict";
import { afterEach, beforeEach, test, vi } from "vitest";

import { type MessageInitShape, create } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient, createRouterTransport } from "@connectrpc/connect";

import { ActionSchema } from "./generated/croupier_api/v1/actions_pb.js";
import { EngineService, type TableEventSchema, type WatchTableRequest } from "./generated/croupier_api/v1/engine_pb.js";
import { ErrorInfoSchema, RetryInfoSchema } from "./generated/google/rpc/error_details_pb.js";
import { FakeSurroundings } from "./fake_surroundings.js";
import { Table, type TableChange } from "./table.js";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => void vi.useRealTimers());

type Event = MessageInitShape<typeof TableEventSchema>["eventKind"] & object;
/** The engine's answer to a call: none while the connection is lost. */
type Answer = "lost" | "refused" | "done";
const LOST = new ConnectError("the connection is lost", Code.Unavailable);
const PASS = create(ActionSchema, { verb: { case: "passTurn", value: {} } });
const VIEW = { seats: [{}, {}], seatsToAct: [1] };
const LEGAL = { actions: [PASS] };

function snapshot(sequence: bigint, awaySeats: number[] = [], viewerSeat?: number): Event {
  const clock = { awaySeats, serverUnixMs: 1_000_000n };
  return { case: "snapshot", value: { sequence, view: VIEW, clock, ...(viewerSeat === undefined ? {} : { viewerSeat }) } };
}

function entry(sequence: bigint, storedUnixMs = 0n, serverUnixMs = storedUnixMs): Event {
  return { case: "update", value: { sequence, storedUnixMs, clock: { serverUnixMs } } };
}

/** The end of the game, in an entry. */
function last(sequence: bigint): Event {
  const facts = [{ fact: { case: "gameEnded" as const, value: { ranking: [{ seats: [1, 0] }] } } }];
  return { case: "update", value: { sequence, facts } };
}

/** A stream of the engine that a test serves. */
class Stream {
  readonly request: WatchTableRequest;
  isEnded = false;
  private readonly events: (Event | ConnectError)[] = [];
  private wake: () => void = () => {};

  constructor(request: WatchTableRequest, signal: AbortSignal) {
    this.request = request;
    signal.addEventListener("abort", () => {
      this.isEnded = true;
      this.wake();
    });
  }

  send(...events: (Event | ConnectError)[]): void {
    this.events.push(...events);
    this.wake();
  }

  async *messages() {
    while (!this.isEnded) {
      const event = this.events.shift();
      if (event instanceof ConnectError) throw event;
      if (event !== undefined) yield { tableEvent: { eventKind: event } };
      else await new Promise<void>((resolve) => (this.wake = resolve));
    }
  }
}

/** A table that is opened, with its streams and what it tells; the engine answers so to changes of the seat. */
function opened(answers: readonly Answer[] = [], surroundings = new FakeSurroundings()) {
  const streams: Stream[] = [];
  const calls: boolean[] = [];
  const transport = createRouterTransport(({ service }) =>
    service(EngineService, {
      watchTable(request, { signal }) {
        const stream = new Stream(request, signal);
        streams.push(stream);
        return stream.messages();
      },
      setAway({ isAway }) {
        const answer = answers[calls.push(isAway ?? assert.fail("is_away is required")) - 1];
        if (answer === "lost") throw LOST;
        if (answer === "refused") throw new ConnectError("refused", Code.PermissionDenied);
        return {};
      },
      submitAction: ({ expectedSequence = 0n }) => ({ sequence: expectedSequence + 1n }),
    }),
  );
  const client = { engine: createClient(EngineService, transport) };
  const table = new Table(client, "t");
  const statuses: string[] = [];
  table.subscribe(() => statuses.at(-1) !== table.status && statuses.push(table.status));
  table.open(surroundings);
  /** Return a stream by its number, as soon as it is opened. */
  const stream = async (index: number): Promise<Stream> => {
    await until(() => streams.length > index);
    return streams[index] ?? assert.fail();
  };
  return { table, surroundings, streams, stream, calls, statuses };
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise(setImmediate);
}

/** Let all that is on its way arrive: what a test expects not to happen would have happened. */
async function settled(): Promise<void> {
  for (let round = 0; round < 50; round++) await new Promise(setImmediate);
}

test("a table is followed to the end of its game, and tells each change after it", async () => {
  const { table, stream } = opened();
  const told: unknown[] = [];
  table.subscribe((change: TableChange) => {
    told.push([change.kind === "event" ? change.event.eventKind.case : change.kind, table.sequence, table.status]);
  });
  (await stream(0)).send(snapshot(3n), entry(4n), last(5n));
  await until(() => table.status === "over");
  assert.deepEqual(told, [
    ["status", 3n, "live"],
    ["snapshot", 3n, "live"],
    ["update", 4n, "live"],
    ["status", 5n, "over"],
    ["update", 5n, "over"],
  ]);
  assert.equal(table.isOver, true);
});

test("a table whose rules fail is tried again after the time that the refusal names, and goes on where it was", async () => {
  const { table, stream, streams } = opened();
  const failed = new ConnectError("the rules have failed", Code.FailedPrecondition, undefined, [
    { desc: ErrorInfoSchema, value: { reason: "RULES_FAILED" } },
    { desc: RetryInfoSchema, value: { retryDelay: { seconds: 60n } } },
  ]);
  (await stream(0)).send(snapshot(3n), failed);
  for (const attempt of [1, 2]) {
    // The stream with messages may have broken, so the first attempt follows at once.
    const refused = await stream(attempt);
    refused.send(failed);
    await settled();
    assert.deepEqual([table.status, table.error?.rawMessage], ["offline", "the rules have failed"]);
    vi.advanceTimersByTime(59_999);
    await settled();
    assert.equal(streams.length, attempt + 1);
    vi.advanceTimersByTime(4_000);
    await settled();
  }
  const last = await stream(3);
  assert.equal(last.request.afterSequence, 3n);
  last.send(entry(4n, 1n, 0n));
  await until(() => table.status === "live");
  assert.equal(table.error, undefined);
});

test("a listener that throws does not stop the others, and its error is not lost", async () => {
  const { table, stream } = opened();
  let calls = 0;
  const removed = table.subscribe(() => assert.fail("removed"));
  removed();
  table.subscribe(() => {
    throw new Error("a defect");
  });
  table.subscribe(() => void (calls += 1));
  (await stream(0)).send(snapshot(3n));
  await until(() => calls === 2);
  assert.equal(table.revision, 2);
  assert.throws(() => vi.advanceTimersByTime(1), /a defect/);
});

test("a stream that continues is catching up until its missed entries are complete", async () => {
  const { table, stream, statuses } = opened();
  (await stream(0)).send(snapshot(3n), LOST);
  const next = await stream(1);
  next.send(entry(4n, 5_000n, 9_000n));
  await until(() => table.sequence === 4n);
  assert.equal(table.status, "catching up");
  next.send(entry(5n, 9_000n, 9_000n));
  await until(() => table.sequence === 5n);
  assert.equal(table.status, "catching up");
  next.send(entry(6n, 9_001n, 9_001n));
  await until(() => table.sequence === 6n);
  assert.deepEqual(statuses, ["live", "catching up", "live"]);
  assert.equal(table.error, undefined);
});

test("the last missed entry has the legal actions, or another event follows the missed ones", async () => {
  const endings: readonly Event[] = [
    { case: "update", value: { sequence: 5n, storedUnixMs: 1n, legalActions: LEGAL } },
    { case: "presence", value: {} },
    { case: "heartbeat", value: {} },
  ];
  for (const completing of endings) {
    const { table, stream } = opened();
    (await stream(0)).send(snapshot(3n), LOST);
    const next = await stream(1);
    next.send(entry(4n, 1n, 2n));
    await until(() => table.sequence === 4n);
    assert.equal(table.status, "catching up");
    next.send(completing);
    await until(() => table.status === "live");
    table.close();
  }
});

test("a table is offline while attempts fail, and live with the next snapshot", async () => {
  const { table, stream, statuses } = opened();
  (await stream(0)).send(LOST);
  await until(() => table.status === "offline");
  assert.equal(table.error?.code, Code.Unavailable);
  await vi.advanceTimersByTimeAsync(3_000);
  (await stream(1)).send(snapshot(3n));
  await until(() => table.status === "live");
  assert.equal(table.error, undefined);
  assert.deepEqual(statuses, ["offline", "live"]);
});

test("a refusal for good is the error of the table", async () => {
  const { table, stream, streams, statuses } = opened();
  (await stream(0)).send(new ConnectError("no such table", Code.NotFound));
  await until(() => table.status === "failed");
  assert.equal(table.error?.code, Code.NotFound);
  await vi.advanceTimersByTimeAsync(60_000);
  assert.deepEqual([streams.length, statuses], [1, ["failed"]]);
});

test("a page that is hidden for long has no stream, and continues at once when it is shown", async () => {
  const { table, surroundings, stream, streams, statuses } = opened();
  (await stream(0)).send(snapshot(3n));
  await until(() => table.status === "live");
  surroundings.become({ isVisible: false });
  await vi.advanceTimersByTimeAsync(29_999);
  assert.equal(streams[0]?.isEnded, false);
  await vi.advanceTimersByTimeAsync(1);
  await until(() => table.status === "away");
  assert.deepEqual([streams[0]?.isEnded, table.error], [true, undefined]);
  await vi.advanceTimersByTimeAsync(600_000);
  surroundings.become({ network: "cellular" });
  await settled();
  assert.equal(streams.length, 1);
  surroundings.become({ isVisible: true });
  const next = await stream(1);
  assert.equal(next.request.afterSequence, 3n);
  next.send({ case: "turnState", value: { sequence: 3n } });
  await until(() => table.status === "live");
  assert.deepEqual(statuses, ["live", "away", "catching up", "live"]);
});

test("a page that is hidden for a moment opens its stream again when it is shown", async () => {
  const { table, surroundings, stream, streams, statuses } = opened();
  (await stream(0)).send(snapshot(3n));
  await until(() => table.status === "live");
  surroundings.become({ isVisible: false });
  surroundings.become({ isVisible: true });
  await stream(1);
  await vi.advanceTimersByTimeAsync(35_000);
  assert.deepEqual([streams[0]?.isEnded, streams.length, statuses], [true, 2, ["live", "catching up"]]);
});

test("a network that comes back, or another one, needs no wait", async () => {
  const { table, surroundings, stream, streams } = opened();
  (await stream(0)).send(snapshot(3n));
  await until(() => table.status === "live");
  surroundings.become({ isOnline: false });
  assert.equal(table.status, "offline");
  streams[0]?.send(LOST);
  const second = await stream(1);
  assert.equal(table.status, "offline");
  second.send(LOST);
  await settled();
  assert.deepEqual([streams.length, table.status], [2, "offline"]);
  surroundings.become({ isOnline: true });
  (await stream(2)).send({ case: "turnState", value: { sequence: 3n } });
  await until(() => table.status === "live");
  surroundings.become({ network: "cellular" });
  await stream(3);
  assert.deepEqual([streams[2]?.isEnded, table.status, table.error], [true, "catching up", undefined]);
  // Nor does a stream that had no message yet: it did not fail.
  surroundings.become({ network: "wifi" });
  await stream(4);
  assert.deepEqual([streams[3]?.isEnded, table.status, table.error], [true, "catching up", undefined]);
});

test("a stream without a message for long is opened again", async () => {
  const { table, stream, streams } = opened();
  (await stream(0)).send(snapshot(3n));
  await until(() => table.status === "live");
  await vi.advanceTimersByTimeAsync(40_000);
  await stream(1);
  assert.equal(streams[0]?.isEnded, true);
});

test("a table that is closed listens to nothing, and may be opened again at once", async () => {
  const { table, surroundings, stream, streams } = opened();
  (await stream(0)).send(snapshot(3n));
  await until(() => table.status === "live");
  table.close();
  table.open(surroundings);
  table.open(surroundings);
  await stream(1);
  assert.deepEqual([streams[0]?.isEnded, streams.length], [true, 2]);
  table.close();
  await until(() => table.status === "away");
  assert.equal(surroundings.isUnused, true);
});

test("a table that is closed as soon as it is opened has no stream", async () => {
  const { table, streams, statuses } = opened();
  table.close();
  await settled();
  assert.deepEqual([streams, statuses], [[], []]);
});

test("a table cannot be followed twice at a time", async () => {
  const { table, stream } = opened();
  (await stream(0)).send(snapshot(3n));
  await until(() => table.status === "live");
  await assert.rejects(table.follow().next(), /followed already/);
});

test("the server's time goes on evenly from the last clock", async () => {
  const { table, stream } = opened();
  assert.equal(table.serverNow, undefined);
  (await stream(0)).send(snapshot(3n));
  await until(() => table.status === "live");
  await vi.advanceTimersByTimeAsync(250);
  assert.equal(table.serverNow, 1_000_250);
});

test("a proposal has the time that is left, and ends with the next entry", async () => {
  const { table, stream } = opened();
  const proposal = { sequence: 4n, name: "throw_in", expiryTime: { seconds: 31n, nanos: 500_000_000 } };
  (await stream(0)).send(snapshot(3n), { case: "update", value: { sequence: 4n, proposal, clock: { serverUnixMs: 1_000n } } });
  await until(() => table.sequence === 4n);
  assert.deepEqual([table.proposal?.name, table.proposalSecondsLeft], ["throw_in", 30.5]);
  await vi.advanceTimersByTimeAsync(31_000);
  assert.equal(table.proposalSecondsLeft, 0);
  (await stream(0)).send(entry(5n));
  await until(() => table.sequence === 5n);
  assert.deepEqual([table.proposal, table.proposalSecondsLeft], [undefined, undefined]);
});

test("a snapshot has all of the table, and the last entry its seed", async () => {
  const { table, stream } = opened();
  const played = { game: "thulla", rulesVersion: 2, options: { stall_limit: 9 }, seats: [{ name: "Ada" }, { name: "Bo" }], teams: [{ seats: [0, 1] }] };
  (await stream(0)).send({ case: "snapshot", value: { sequence: 3n, view: VIEW, table: played } });
  await until(() => table.status === "live");
  assert.deepEqual([table.game, table.rulesVersion, table.options, table.revealedSeed], ["thulla", 2, { stall_limit: 9 }, ""]);
  assert.deepEqual([table.seats.map(({ name }) => name), table.teams[0]?.seats], [["Ada", "Bo"], [0, 1]]);
  const { value } = last(4n);
  (await stream(0)).send({ case: "update", value: { ...(value as object), revealedSeed: "5eed" } });
  await until(() => table.isOver);
  assert.equal(table.revealedSeed, "5eed");
});

test("the answer to an earlier action makes no action legal again", async () => {
  const { table, stream } = opened();
  (await stream(0)).send({ case: "snapshot", value: { sequence: 3n, viewerSeat: 1, view: VIEW, legalActions: LEGAL } });
  await until(() => table.status === "live");
  await table.act(PASS, { expectedSequence: 4n });
  await table.act(PASS, { expectedSequence: 3n });
  (await stream(0)).send({ case: "update", value: { sequence: 4n, legalActions: LEGAL } });
  await until(() => table.sequence === 4n);
  assert.equal(table.legal, undefined);
});

test("a decision is of its turn, also later", async () => {
  const { table, stream } = opened();
  assert.equal(table.decision(), undefined);
  (await stream(0)).send({ case: "snapshot", value: { sequence: 3n, viewerSeat: 1, view: VIEW, legalActions: LEGAL } });
  await until(() => table.status === "live");
  const decision = table.decision();
  (await stream(0)).send(entry(4n));
  await until(() => table.sequence === 4n);
  assert.deepEqual([decision?.sequence, decision?.expectedSequence, decision?.legal.actions.length], [3n, 3n, 1]);
  assert.equal(Object.isFrozen(decision), true);
  assert.equal(table.decision(), undefined);
});

/** A seat at a table that is opened, live, and away or not. */
async function seated(answers: readonly Answer[] = [], awaySeats: number[] = [], viewerSeat: number | undefined = 1) {
  const at = opened(answers);
  (await at.stream(0)).send(snapshot(3n, awaySeats, viewerSeat));
  await until(() => at.table.status === "live");
  await settled();
  return at;
}

test("a player returns when the page is shown, until the table is closed", async () => {
  const { table, surroundings, calls } = await seated();
  assert.deepEqual(calls, []);
  surroundings.become({ isVisible: false });
  surroundings.become({ isVisible: true });
  await until(() => calls.length === 1);
  table.close();
  await until(() => surroundings.isUnused);
  assert.deepEqual(calls, [false]);
});

test("a player who opens a table returns to their seat, as soon as the page is shown", async () => {
  const { calls } = await seated([], [1]);
  await until(() => calls.length === 1);
  const hidden = new FakeSurroundings();
  hidden.isVisible = false;
  const { calls: later, stream, table } = opened([], hidden);
  (await stream(0)).send(snapshot(3n, [1], 1));
  await until(() => table.status === "live");
  await settled();
  assert.deepEqual(later, []);
  hidden.become({ isVisible: true });
  await until(() => later.length === 1);
  assert.deepEqual([calls, later], [[false], [false]]);
});

test("a spectator does not return", async () => {
  const { table, surroundings, calls, stream, streams } = opened();
  (await stream(0)).send(snapshot(3n, [0, 1]));
  await until(() => table.status === "live");
  surroundings.become({ isVisible: false });
  surroundings.become({ isVisible: true });
  await until(() => streams.length === 2);
  await settled();
  assert.deepEqual(calls, []);
});

test("a later change replaces one that has no answer", async () => {
  const { table, calls } = await seated(["lost"]);
  const leaving = table.leave();
  await until(() => calls.length === 1);
  await table.return();
  await vi.advanceTimersByTimeAsync(10_000);
  await leaving;
  assert.deepEqual(calls, [true, false]);
});

test("a player who acts does not leave later", async () => {
  const { table, calls } = await seated(["lost"]);
  const leaving = table.leave();
  await until(() => calls.length === 1);
  await table.act(PASS);
  await vi.advanceTimersByTimeAsync(10_000);
  await leaving;
  assert.deepEqual(calls, [true]);
});

test("a return without an answer ends when the page is hidden, and leaving does not", async () => {
  const { table, surroundings, calls } = await seated(["lost", "lost"]);
  const returning = table.return();
  await until(() => calls.length === 1);
  surroundings.become({ isVisible: false });
  await returning;
  surroundings.become({ isVisible: true });
  await until(() => calls.length === 2);
  await settled();
  const leaving = table.leave();
  await until(() => calls.length === 3);
  surroundings.become({ isVisible: false });
  await vi.advanceTimersByTimeAsync(1_000);
  await leaving;
  assert.deepEqual(calls, [false, false, true]);
});

test("a refusal to leave is reported, and one of a return that nobody asked for is not", async () => {
  const { table, surroundings, calls } = await seated(["refused", "refused"]);
  await assert.rejects(table.leave(), { code: Code.PermissionDenied });
  surroundings.become({ isVisible: false });
  surroundings.become({ isVisible: true });
  await until(() => calls.length === 2);
  await settled();
});
