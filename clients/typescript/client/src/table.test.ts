// A player's recovery from broken streams and lost answers, with an engine in memory.
import assert from "node:assert/strict";
import { afterEach, test, vi } from "vitest";

import { type MessageInitShape, create } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient, createRouterTransport } from "@connectrpc/connect";

import { ActionSchema } from "./generated/croupier_api/v1/actions_pb.js";
import {
  EngineService,
  type SetAwayRequest,
  type SubmitActionRequest,
  type TableEventSchema,
  type WatchTableRequest,
} from "./generated/croupier_api/v1/engine_pb.js";
import { ErrorReason } from "./generated/croupier_api/v1/errors_pb.js";
import type { FactSchema } from "./generated/croupier_api/v1/facts_pb.js";
import { Reaction } from "./generated/croupier_api/v1/games_pb.js";
import { LobbyService } from "./generated/croupier_api/v1/lobby_pb.js";
import { ErrorInfoSchema, RetryInfoSchema } from "./generated/google/rpc/error_details_pb.js";
import type { CroupierClient } from "./client.js";
import { isOvertaken, throwUnlessOvertaken } from "./errors.js";
import { retryNotExecuted } from "./retry.js";
import { Table } from "./table.js";

afterEach(() => void vi.useRealTimers());

type Event = MessageInitShape<typeof TableEventSchema>;
const PASS = create(ActionSchema, { verb: { case: "passTurn", value: {} } });
const LEGAL = { actions: [PASS] };
const VIEW = { seats: [{}, {}], seatsToAct: [1] };
const LOST = new ConnectError("the connection is lost", Code.Unavailable);
const SNAPSHOT: Event = { eventKind: { case: "snapshot", value: { sequence: 3n, viewerSeat: 1, view: VIEW, legalActions: LEGAL } } };
const SILENT = "a stream that sends no more messages, and does not end";
const RESUME: Event = { eventKind: { case: "resumeNotice", value: {} } };

/** A client of an engine that sends these messages and errors stream by stream, and records its requests. */
function clientOf(streams: readonly (Event | ConnectError | typeof SILENT)[][], answers: (ConnectError | undefined)[] = [], answeredSequence = 4n) {
  const watched: WatchTableRequest[] = [];
  const acted: SubmitActionRequest[] = [];
  const set: SetAwayRequest[] = [];
  const transport = createRouterTransport(({ service }) => {
    service(EngineService, {
      async *watchTable(request) {
        for (const message of streams[watched.push(request) - 1] ?? [new ConnectError("gone", Code.NotFound)]) {
          if (message instanceof ConnectError) throw message;
          if (message === SILENT) await new Promise(() => undefined);
          else yield { tableEvent: message };
        }
      },
      submitAction(request) {
        const fault = answers[acted.push(request) - 1];
        if (fault !== undefined) throw fault;
        return { sequence: answeredSequence };
      },
      setAway(request) {
        const fault = answers[set.push(request) - 1];
        if (fault !== undefined) throw fault;
        return { sequence: 4n };
      },
    });
  }, { transport: { interceptors: [retryNotExecuted] } });
  const client: CroupierClient = { lobby: createClient(LobbyService, transport), engine: createClient(EngineService, transport) };
  return { table: new Table(client, "t"), client, watched, acted, set };
}

function entry(sequence: bigint, isLast = false): Event {
  const ranking = [{ seats: [1] }, { seats: [0] }];
  return update(sequence, isLast ? [{ fact: { case: "gameEnded", value: { ranking } } }] : []);
}

function update(sequence: bigint, facts: MessageInitShape<typeof FactSchema>[]): Event {
  return { eventKind: { case: "update", value: { sequence, facts } } };
}

function turnState(sequence: bigint): Event {
  return { eventKind: { case: "turnState", value: { sequence, legalActions: LEGAL } } };
}

function presence(...connectedSeats: number[]): Event {
  return { eventKind: { case: "presence", value: { connectedSeats, spectatorCount: 2 } } };
}

async function sequencesOf(table: Table): Promise<(bigint | undefined)[]> {
  const seen: (bigint | undefined)[] = [];
  for await (const _ of table.follow()) seen.push(table.sequence);
  return seen;
}

test("a spectator sends the link with every stream", async () => {
  const { client, watched } = clientOf([[SNAPSHOT, LOST], [entry(4n, true)]]);
  assert.deepEqual(await sequencesOf(new Table(client, "t", { link: "by a player" })), [3n, 4n]);
  assert.deepEqual(watched.map((request) => request.link), ["by a player", "by a player"]);
});

test("the presence is that of the last event, also over a lost connection", async () => {
  const seats = [{ name: "Ada" }, { name: "Ben" }, { bot: "quick" }];
  const snapshot: Event = { eventKind: { case: "snapshot", value: { sequence: 3n, table: { seats }, presence: { connectedSeats: [0, 1] } } } };
  const { table } = clientOf([[snapshot, presence(1), LOST], [turnState(3n), presence(0), entry(4n, true)]]);
  const seen: unknown[] = [];
  for await (const { eventKind } of table.follow()) {
    seen.push([eventKind.case, table.presence?.spectatorCount, table.offlineSeats]);
  }
  assert.deepEqual(seen, [["snapshot", 0, []], ["presence", 2, [0]], ["turnState", 2, [0]], ["presence", 2, [1]], ["update", 2, [1]]]);
});

test("reactions of players are shown", async () => {
  const { table } = clientOf([[SNAPSHOT, { eventKind: { case: "reaction", value: { seat: 1, reaction: Reaction.CLAP } } }, entry(4n, true)]]);
  const seen: unknown[] = [];
  for await (const { eventKind } of table.follow()) seen.push(eventKind.case === "reaction" ? eventKind.value.reaction : eventKind.case);
  assert.deepEqual(seen, ["snapshot", Reaction.CLAP, "update"]);
});

test("a broken stream is resumed after the last sequence", async () => {
  const { table, watched } = clientOf([[LOST], [SNAPSHOT, entry(4n), LOST], [entry(5n), RESUME], [entry(6n, true)]]);
  assert.deepEqual(await sequencesOf(table), [3n, 4n, 5n, 6n]);
  assert.deepEqual(watched.map((request) => request.afterSequence), [undefined, undefined, 4n, 5n]);
  assert.deepEqual(table.ranking.map((group) => group.seats), [[1], [0]]);
  assert.equal(table.legal, undefined, "there are no legal actions after the last message");
});

test("a missing entry is requested again", async () => {
  const { table, watched } = clientOf([[SNAPSHOT, entry(5n)], [entry(4n), entry(5n, true)]]);
  assert.deepEqual(await sequencesOf(table), [3n, 4n, 5n]);
  assert.equal(watched[1]?.afterSequence, 3n);
});

test("a stream that was cut in the middle of a message was not refused", async () => {
  const cut = new ConnectError("protocol error: incomplete envelope", Code.InvalidArgument);
  const { table, watched } = clientOf([[SNAPSHOT, cut], [entry(4n, true)]]);
  assert.deepEqual(await sequencesOf(table), [3n, 4n]);
  assert.equal(watched[1]?.afterSequence, 3n);
});

test("a stream that is silent for too long is opened again", async () => {
  const { client, watched } = clientOf([[SNAPSHOT, SILENT], [entry(4n, true)]]);
  assert.deepEqual(await sequencesOf(new Table(client, "t", { silenceMilliseconds: 1_000 })), [3n, 4n]);
  assert.equal(watched[1]?.afterSequence, 3n);
});

test("an outage of any length ends with the next stream, and is shown meanwhile", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const outage = Array.from({ length: 60 }, (_, stream) => (stream % 3 === 0 ? [RESUME] : stream % 3 === 1 ? [] : [LOST]));
  const { table, watched } = clientOf([[SNAPSHOT, LOST], ...outage, [entry(4n, true)]]);
  const following = sequencesOf(table);
  let isOver = false;
  following.finally(() => (isOver = true));
  let shown = 0;
  while (!isOver) {
    await new Promise(setImmediate);
    shown += Number(table.error?.code === Code.Unavailable);
    vi.advanceTimersByTime(3_000);
  }
  assert.deepEqual(await following, [3n, 4n]);
  assert.equal(watched.length, 62);
  assert.ok(shown > 0);
  assert.equal(table.error, undefined);
});

test("the caller ends the attempts at once, also those to act", async () => {
  const away = Array.from({ length: 99 }, () => LOST);
  const { table, acted } = clientOf(away.map((fault) => [fault]), away);
  const stop = new AbortController();
  const following = (async () => {
    for await (const _ of table.follow(stop.signal));
  })();
  const acting = table.act(PASS, { signal: stop.signal });
  while (table.error === undefined || acted.length === 0) await new Promise(setImmediate);
  stop.abort(new Error("the person left"));
  await assert.rejects(following, { message: "the person left" });
  await assert.rejects(acting, { message: "the person left" });
});

test("the time left is that of the server, counted from the arrival of the clock", async () => {
  let now = 500;
  vi.spyOn(performance, "now").mockImplementation(() => now);
  vi.spyOn(Date, "now").mockImplementation(() => 0);
  const clock = { deadlineUnixMs: 1_060_000n, serverUnixMs: 1_030_000n };
  const snapshot: Event = { eventKind: { case: "snapshot", value: { sequence: 3n, view: VIEW, clock } } };
  const { table } = clientOf([[snapshot]]);
  assert.equal(table.secondsLeft, undefined);
  for await (const _ of table.follow()) break;
  assert.equal(table.secondsLeft, 30);
  now += 10_500;
  assert.equal(table.secondsLeft, 19.5);
  now += 60_000;
  assert.equal(table.secondsLeft, 0);
});

test("ids need no secure context", async () => {
  vi.spyOn(crypto, "randomUUID").mockImplementation(() => assert.fail("a page over plain HTTP has no randomUUID"));
  const { table, acted } = clientOf([]);
  await table.act(PASS);
  await table.act(PASS);
  assert.equal(new Set(acted.map(({ requestId }) => requestId)).size, 2);
});

test("an error that a retry cannot resolve is reported at once", async () => {
  const { table, watched } = clientOf([]);
  await assert.rejects(sequencesOf(table), { code: Code.NotFound });
  assert.equal(watched.length, 1);
});

test("only an action without an answer is sent again, with its id", async () => {
  const cut = new ConnectError("missing trailer", Code.Internal);
  const wrong = new ConnectError("a fault", Code.Internal, undefined, [{ desc: ErrorInfoSchema, value: { reason: "NEWER" } }]);
  const { table, acted } = clientOf([], [LOST, cut, undefined, wrong]);
  await table.act(PASS);
  assert.equal(acted.length, 3);
  assert.equal(new Set(acted.map(({ requestId }) => requestId)).size, 1);
  await assert.rejects(table.act(PASS), { code: Code.Internal });
  assert.equal(new Set(acted.map(({ requestId }) => requestId)).size, 2);
});

test("a player who leaves or returns sends the same request until it has an answer", async () => {
  const { table, set } = clientOf([], [LOST, LOST, undefined, refusal("TABLE_FINISHED", Code.FailedPrecondition)]);
  await table.leave();
  assert.deepEqual(set.map(({ tableId, isAway }) => [tableId, isAway]), Array.from({ length: 3 }, () => ["t", true]));
  assert.equal(new Set(set.map(({ requestId }) => requestId)).size, 1);
  await table.return();
  assert.equal(set[3]?.isAway, false);
  assert.equal(new Set(set.map(({ requestId }) => requestId)).size, 2);
});

test("a player sees who is away and who left, themselves too, and opened streams are no return", async () => {
  const changes: [awaySeats: number[], leftSeats: number[]][] = [[[0], []], [[0, 1], [1]], [[1], []]];
  const entries = changes.map(([awaySeats, leftSeats], index): (Event | ConnectError)[] => [
    { eventKind: { case: "update", value: { sequence: BigInt(4 + index), clock: { awaySeats, leftSeats } } } },
    LOST,
  ]);
  const { table, set } = clientOf([[SNAPSHOT, LOST], ...entries, [entry(7n, true)]]);
  const seen: unknown[] = [];
  for await (const _ of table.follow()) seen.push([table.awaySeats, table.leftSeats, table.isAway, table.hasLeft]);
  assert.deepEqual(seen, [
    [[], [], false, false],
    [[0], [], false, false],
    [[0, 1], [1], true, true],
    [[1], [], true, false],
    [[], [], false, false],
  ]);
  assert.deepEqual(set, []);
});

test("an action expects the sequence at which it was decided, and is refused when the table has moved on", async () => {
  const illegal = refusal("ILLEGAL_ACTION", Code.FailedPrecondition);
  const { table, acted } = clientOf([[SNAPSHOT, entry(4n)]], [refusal("STALE_SEQUENCE", Code.Aborted), illegal]);
  const expected: (bigint | undefined)[] = [];
  for await (const _ of table.follow()) if (expected.push(table.expectedSequence) === 2) break;
  await assert.rejects(table.act(PASS, { expectedSequence: expected[0] }), isOvertaken);
  await assert.rejects(table.act(PASS, { expectedSequence: expected[1] }), (error) => !isOvertaken(error));
  assert.deepEqual(acted.map(({ expectedSequence }) => expectedSequence), [3n, 4n]);
  assert.equal(new Set(acted.map(({ requestId }) => requestId)).size, 2);
});

test("a program decides again when its action came too late, and no other error is lost", () => {
  for (const reason of ["STALE_SEQUENCE", "NOT_YOUR_TURN", "TABLE_FINISHED"] as const) {
    throwUnlessOvertaken(refusal(reason, Code.Aborted));
  }
  const illegal = refusal("ILLEGAL_ACTION", Code.FailedPrecondition);
  assert.throws(() => throwUnlessOvertaken(illegal), illegal);
});

test("an action expects no sequence where several seats act at once", async () => {
  const view = { ...VIEW, seatsToAct: [0, 1] };
  const snapshot: Event = { eventKind: { case: "snapshot", value: { sequence: 3n, view } } };
  const { table, acted } = clientOf([[snapshot]]);
  for await (const _ of table.follow()) break;
  await table.act(PASS);
  assert.deepEqual(acted.map(({ expectedSequence }) => expectedSequence), [undefined]);
});

test("an entry without facts leaves the view as it was", async () => {
  const fact = update(5n, [{ fact: { case: "trickTaken", value: { seat: 1 } } }]);
  const { table } = clientOf([[SNAPSHOT, entry(4n), fact, entry(6n, true)]]);
  const views: unknown[] = [];
  for await (const _ of table.follow()) views.push(table.view);
  assert.equal(views[1], views[0]);
  assert.notEqual(views[2], views[1]);
});

test("no action is legal until the stream has reached the last one", async () => {
  const after = (sequence: bigint): Event => ({ eventKind: { case: "update", value: { sequence, legalActions: LEGAL } } });
  const { table } = clientOf([[SNAPSHOT, after(4n), after(5n)]], [], 5n);
  const legal: boolean[] = [];
  for await (const _ of table.follow()) {
    legal.push(table.legal !== undefined);
    if (legal.length === 1) await table.act(PASS);
    if (legal.length === 3) break;
  }
  assert.deepEqual(legal, [true, false, true]);
});

test("a stream that missed nothing begins with the state of the turn", async () => {
  const { table, watched } = clientOf([[SNAPSHOT, entry(4n), LOST], [turnState(4n), entry(5n, true)]]);
  const legal: boolean[] = [];
  for await (const _ of table.follow()) legal.push(table.legal !== undefined);
  assert.deepEqual(legal, [true, false, true, false]);
  assert.equal(watched.length, 2);
});

test("a stream that missed too much begins with a snapshot", async () => {
  const later: Event = { eventKind: { case: "snapshot", value: { sequence: 300n, viewerSeat: 1, view: { ...VIEW, phase: "later" } } } };
  const { table, watched } = clientOf([[SNAPSHOT, entry(4n), LOST], [later, entry(301n), LOST], [entry(302n, true)]]);
  assert.deepEqual(await sequencesOf(table), [3n, 4n, 300n, 301n, 302n]);
  assert.deepEqual(watched.map((request) => request.afterSequence), [undefined, 4n, 301n]);
  assert.equal(table.view.phase, "later");
});

test("a fact that does not fit the view leads to a new snapshot", async () => {
  const misfit = update(4n, [{ fact: { case: "trickTaken", value: { seat: 2 } } }]);
  const { table, watched } = clientOf([[SNAPSHOT, misfit], [SNAPSHOT, entry(4n, true)]]);
  assert.deepEqual(await sequencesOf(table), [3n, 3n, 4n]);
  assert.equal(watched[1]?.afterSequence, undefined);
});

test("a stream that a newer one replaces is not opened again", async () => {
  const { table, watched } = clientOf([[SNAPSHOT, refusal("SUPERSEDED", Code.Aborted)], [entry(4n, true)]]);
  await assert.rejects(sequencesOf(table), { code: Code.Aborted });
  assert.equal(watched.length, 1);
});

/** Return a refusal for a reason. */
function refusal(reason: keyof typeof ErrorReason, code: Code): ConnectError {
  return new ConnectError("refused", code, undefined, [{ desc: ErrorInfoSchema, value: { reason } }]);
}

/** Return the error of a player who calls too often, or who is at another limit. */
function limitError(reason: keyof typeof ErrorReason, waitMilliseconds: number): ConnectError {
  return new ConnectError("too much", Code.ResourceExhausted, undefined, [
    { desc: ErrorInfoSchema, value: { reason } },
    { desc: RetryInfoSchema, value: { retryDelay: { seconds: 0n, nanos: waitMilliseconds * 1_000_000 } } },
  ]);
}

test("calls beyond the rate limit wait as long as the service asks", async () => {
  vi.spyOn(Math, "random").mockImplementation(() => 0);
  const timers = vi.spyOn(globalThis, "setTimeout");
  const tooOften = limitError("TOO_MANY_REQUESTS", 41);
  const { table, watched, acted } = clientOf([[tooOften], [SNAPSHOT, entry(4n, true)]], [tooOften, undefined]);
  await table.act(create(ActionSchema));
  await sequencesOf(table);
  const pauses = timers.mock.calls.map((call) => call[1]);
  // The delay of a stream is that and half of its own.
  assert.deepEqual(pauses.filter((milliseconds) => milliseconds === 41 || milliseconds === 141).length, 2);
  assert.deepEqual([acted.length, watched.length], [2, 2]);
});

test("other limits are reported at once", async () => {
  const { client, acted } = clientOf([], [limitError("TOO_MANY_REACTIONS", 40)]);
  await assert.rejects(client.engine.submitAction({ tableId: "t" }), { code: Code.ResourceExhausted });
  assert.equal(acted.length, 1);
});

test("retries end", async () => {
  const { client, acted } = clientOf([], Array.from({ length: 9 }, () => limitError("TOO_MANY_REQUESTS", 1)));
  await assert.rejects(client.engine.submitAction({ tableId: "t" }), { code: Code.ResourceExhausted });
  assert.equal(acted.length, 5);
});
