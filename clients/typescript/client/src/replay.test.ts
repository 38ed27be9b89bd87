// A replay shows every step of a finished table, and is read again when its stream is lost.
import assert from "node:assert/strict";
import { test } from "vitest";

import { type MessageInitShape, create } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient, createRouterTransport } from "@connectrpc/connect";

import {
  EngineService,
  type TableEvent,
  TableEventSchema,
  type WatchReplayRequest,
} from "./generated/croupier_api/v1/engine_pb.js";
import type { FactSchema } from "./generated/croupier_api/v1/facts_pb.js";
import { LobbyService } from "./generated/croupier_api/v1/lobby_pb.js";
import type { CroupierClient } from "./client.js";
import { openReplay, replayOf } from "./replay.js";
import type { Viewer } from "./view.js";

type FactInit = NonNullable<MessageInitShape<typeof FactSchema>["fact"]>;
const STEPS = 300;
const START = 1_700_000_000_000;
const LOST = new ConnectError("the connection is lost", Code.Unavailable);
const DEALT: FactInit = {
  case: "cardsMoved",
  value: { target: { place: { case: "hand", value: 1 } }, cards: [7, 3], count: 2 },
};
const END: FactInit = { case: "gameEnded", value: { ranking: [{ seats: [1] }, { seats: [0] }] } };

/** The events of a table: a deal, tricks of seat 1, a score every 100 steps, and the end. */
const EVENTS: readonly TableEvent[] = [
  event({ case: "snapshot", value: { table: { tableId: "t" }, view: { seats: [{}, {}] } } }),
  ...Array.from({ length: STEPS }, (_, index) => entry(index + 1)),
];

function event(eventKind: MessageInitShape<typeof TableEventSchema>["eventKind"]): TableEvent {
  return create(TableEventSchema, { eventKind: eventKind ?? { case: undefined } });
}

function entry(step: number): TableEvent {
  const facts: FactInit[] = [{ case: "trickTaken", value: { seat: 1 } }];
  if (step === 1) facts.splice(0, 1, { case: "roundStarted", value: { round: 1 } }, DEALT);
  if (step % 100 === 0) facts.push({ case: "roundEnded", value: { score: { totals: [step, 0] } } });
  if (step === STEPS) facts.push(END);
  const revealedSeed = step === STEPS ? "5eed" : "";
  const storedUnixMs = BigInt(START + step);
  return event({ case: "update", value: { sequence: BigInt(step), storedUnixMs, revealedSeed, facts: facts.map((fact) => ({ fact })) } });
}

/** A client of an engine that sends these parts and errors stream by stream, and records its requests. */
function clientOf(...streams: readonly (readonly TableEvent[] | ConnectError)[][]) {
  const asked: WatchReplayRequest[] = [];
  const transport = createRouterTransport(({ service }) => {
    service(EngineService, {
      async *watchReplay(request) {
        for (const part of streams[asked.push(request) - 1] ?? []) {
          if (part instanceof ConnectError) throw part;
          yield { tableEvents: [...part] };
        }
      },
    });
  });
  const client: CroupierClient = { lobby: createClient(LobbyService, transport), engine: createClient(EngineService, transport) };
  return { client, asked };
}

test("every step has its view, update and time, in any order", () => {
  const replay = replayOf(EVENTS, "all");
  assert.deepEqual([replay.length, replay.table.tableId, replay.eyes], [STEPS, "t", "all"]);
  for (const step of [STEPS, 0, 1, 64, 63, 65, 32, 100, 99, 299]) {
    const { seats, round, ranking } = replay.viewAt(step);
    const [first, second] = seats;
    assert.equal(second?.tricksTaken, Math.max(0, step - 1), `step ${step}`);
    assert.deepEqual([round, second?.cards], step === 0 ? [0, []] : [1, [3, 7]]);
    assert.deepEqual([first?.score, ranking.length], [Math.floor(step / 100) * 100, step === STEPS ? 2 : 0]);
  }
  assert.equal(replay.updateAt(7).sequence, 7n);
  assert.equal(replay.timeAt(7), START + 7);
});

test("only all seats together have every hand as their own", () => {
  const cardsOf = (eyes: Viewer) => replayOf(EVENTS, eyes).viewAt(1).seats[1];
  assert.deepEqual([cardsOf("all")?.cards, cardsOf(1)?.cards], [[3, 7], [3, 7]]);
  for (const eyes of [undefined, 0]) assert.deepEqual([cardsOf(eyes)?.cards, cardsOf(eyes)?.knownCards], [[], [3, 7]]);
});

test("a view that a page changes stays as it was in the replay", () => {
  const replay = replayOf(EVENTS, "all");
  replay.viewAt(64).seats.pop();
  assert.equal(replay.viewAt(64).seats.length, 2);
  replay.viewAt(0).seats.pop();
  assert.equal(replay.viewAt(0).seats.length, 2);
});

test("a step that the replay does not have is refused", () => {
  const replay = replayOf(EVENTS, undefined);
  for (const step of [-1, 0.5, STEPS + 1, NaN]) assert.throws(() => replay.viewAt(step), RangeError);
  for (const step of [-1, 0, 1.5, STEPS + 1]) {
    assert.throws(() => replay.updateAt(step), RangeError);
    assert.throws(() => replay.timeAt(step), RangeError);
  }
});

test("the moments are the rounds, tricks, scores and the end", () => {
  const { moments } = replayOf(EVENTS, undefined);
  const of = (kind: string) => moments.filter((moment) => moment.kind === kind);
  assert.deepEqual(of("round"), [{ kind: "round", step: 1, round: 1, seat: undefined }]);
  assert.deepEqual(of("trick").map(({ step }) => step), Array.from({ length: STEPS - 1 }, (_, index) => index + 2));
  assert.deepEqual(of("trick")[0], { kind: "trick", step: 2, round: 1, seat: 1 });
  assert.deepEqual(of("score").map(({ step }) => step), [100, 200, 300]);
  assert.deepEqual(moments.at(-1), { kind: "end", step: STEPS, round: 1, seat: undefined });
});

test("events that do not fit together are refused", () => {
  assert.throws(() => replayOf([], undefined), /does not begin with a snapshot/);
  assert.throws(() => replayOf(EVENTS.slice(1), undefined), /does not begin with a snapshot/);
  assert.throws(() => replayOf(EVENTS.filter((_, index) => index !== 5), undefined), /entry 5 of the replay is missing/);
});

test("a replay is read in parts, with the link and the eyes of the request", async () => {
  const parts = [EVENTS.slice(0, 100), EVENTS.slice(100)];
  const { client, asked } = clientOf(parts, parts, parts);
  const eyes = ["all", 1, undefined] as const;
  for (const each of eyes) assert.equal((await openReplay(client, "t", { link: "the link", eyes: each })).length, STEPS);
  assert.deepEqual(asked.map(({ tableId, link, seat, allSeats }) => [tableId, link, seat, allSeats]), [
    ["t", "the link", undefined, true],
    ["t", "the link", 1, false],
    ["t", "the link", undefined, false],
  ]);
});

test("a stream that is lost, or ends early, is read again from its beginning", async () => {
  const { client, asked } = clientOf([EVENTS.slice(0, 100), LOST], [EVENTS.slice(0, 50)], [EVENTS]);
  assert.equal((await openReplay(client, "t")).length, STEPS);
  assert.equal(asked.length, 3);
});

test("a refusal is thrown, and the signal ends the attempts", async () => {
  const refusal = new ConnectError("the game is not over", Code.FailedPrecondition);
  await assert.rejects(openReplay(clientOf([refusal]).client, "t"), { code: Code.FailedPrecondition });
  const gone = new Error("the page was left");
  await assert.rejects(openReplay(clientOf([LOST]).client, "t", { signal: AbortSignal.abort(gone) }), gone);
});

test("a replay without end is not read", async () => {
  const endless = Array.from({ length: 101 }, (_, part) => Array.from({ length: 1_000 }, (_, index) => update(part * 1_000 + index)));
  await assert.rejects(openReplay(clientOf(endless).client, "t"), /more than 100000 steps/);
});

function update(sequence: number): TableEvent {
  return event({ case: "update", value: { sequence: BigInt(sequence) } });
}
