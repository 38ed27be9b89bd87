// What a player does when streams break and answers are lost, with an engine in memory.
import assert from "node:assert/strict";
import test from "node:test";

import { type MessageInitShape, create } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient, createRouterTransport } from "@connectrpc/connect";

import {
  EngineService,
  type SubmitActionRequest,
  type WatchTableRequest,
  type WatchTableResponseSchema,
} from "./generated/croupier_api/v1/engine_pb";
import { LobbyService, TableState } from "./generated/croupier_api/v1/lobby_pb";
import { ActionSchema, CardChoiceVerb, FactSchema, LegalActionsSchema } from "./generated/croupier_api/v1/table_pb";
import { ErrorInfoSchema, RetryInfoSchema } from "./generated/google/rpc/error_details_pb";
import type { House } from "./house";
import { patient } from "./patience";
import { act, randomLegal, untilDealt } from "./playing";
import { Table } from "./table";

type Told = MessageInitShape<typeof WatchTableResponseSchema>;
const LOST = new ConnectError("the connection is lost", Code.Unavailable);
const SNAPSHOT: Told = { event: { case: "snapshot", value: { sequence: 3n, viewerSeat: 1, legalActions: { actions: [{}] } } } };
const NEVER = "a stream that brings nothing from here on, and does not end";
const MOVING: Told = { event: { case: "resumeNotice", value: {} } };

/** An engine that tells one list after the other, and fails where a list says so; it notes what it was asked. */
function houseThat(streams: readonly (Told | ConnectError | typeof NEVER)[][], answers: (ConnectError | undefined)[] = []) {
  const watched: WatchTableRequest[] = [];
  const acted: SubmitActionRequest[] = [];
  const transport = createRouterTransport(({ service }) => {
    service(EngineService, {
      async *watchTable(request) {
        for (const told of streams[watched.push(request) - 1] ?? [new ConnectError("gone", Code.NotFound)]) {
          if (told instanceof ConnectError) throw told;
          if (told === NEVER) await new Promise(() => undefined);
          else yield told;
        }
      },
      submitAction(request) {
        const fault = answers[acted.push(request) - 1];
        if (fault !== undefined) throw fault;
        return { sequence: 4n };
      },
    });
  }, { transport: { interceptors: [patient] } });
  const house: House = { lobby: createClient(LobbyService, transport), engine: createClient(EngineService, transport) };
  return { table: new Table(house, "t"), house, watched, acted };
}

function entry(sequence: bigint, isLast = false): Told {
  const ranking = [{ seats: [1] }, { seats: [0] }];
  const ended: MessageInitShape<typeof FactSchema> = { fact: { case: "gameEnded", value: { ranking } } };
  return { event: { case: "update", value: { sequence, facts: isLast ? [ended] : [] } } };
}

async function sequencesOf(table: Table): Promise<(bigint | undefined)[]> {
  const seen: (bigint | undefined)[] = [];
  for await (const _ of table.follow()) seen.push(table.sequence);
  return seen;
}

test("a broken stream goes on after what was seen", async () => {
  const { table, watched } = houseThat([[LOST], [SNAPSHOT, entry(4n), LOST], [entry(5n), MOVING], [entry(6n, true)]]);
  assert.deepEqual(await sequencesOf(table), [3n, 4n, 5n, 6n]);
  assert.deepEqual(watched.map((request) => request.afterSequence), [undefined, undefined, 4n, 5n]);
  assert.deepEqual(table.ranking.map((group) => group.seats), [[1], [0]]);
  assert.equal(table.legal, undefined, "nothing is legal after what came last");
});

test("an entry that was left out is asked for again", async () => {
  const { table, watched } = houseThat([[SNAPSHOT, entry(5n)], [entry(4n), entry(5n, true)]]);
  assert.deepEqual(await sequencesOf(table), [3n, 4n, 5n]);
  assert.equal(watched[1]?.afterSequence, 3n);
});

test("a stream that was cut in the middle of a message was not refused", async () => {
  const cut = new ConnectError("protocol error: incomplete envelope", Code.InvalidArgument);
  const { table, watched } = houseThat([[SNAPSHOT, cut], [entry(4n, true)]]);
  assert.deepEqual(await sequencesOf(table), [3n, 4n]);
  assert.equal(watched[1]?.afterSequence, 3n);
});

test("a stream that is silent for too long is left", async () => {
  const { house, watched } = houseThat([[SNAPSHOT, NEVER], [entry(4n, true)]]);
  assert.deepEqual(await sequencesOf(new Table(house, "t", 1_000)), [3n, 4n]);
  assert.equal(watched[1]?.afterSequence, 3n);
});

test("streams that end, or send the player elsewhere, and bring nothing are not opened for ever", async ({ mock }) => {
  mock.method(Math, "random", () => 0);
  const { table, watched } = houseThat(Array.from({ length: 40 }, (_, stream) => (stream % 2 === 0 ? [MOVING] : [])));
  await assert.rejects(sequencesOf(table), { message: "the stream brings nothing" });
  assert.equal(watched.length, 13);
});

test("what cannot be put right is said at once", async () => {
  const { table, watched } = houseThat([]);
  await assert.rejects(sequencesOf(table), { code: Code.NotFound });
  assert.equal(watched.length, 1);
});

test("an action without an answer is sent again under its name, and only then", async () => {
  const cut = new ConnectError("missing trailer", Code.Internal);
  const wrong = new ConnectError("a fault", Code.Internal, undefined, [{ desc: ErrorInfoSchema, value: { reason: "FAULT" } }]);
  const { house, table, acted } = houseThat([], [LOST, cut, undefined, wrong]);
  const pass = create(ActionSchema, { verb: { case: "pass", value: {} } });
  await act(house, table, pass);
  assert.equal(acted.length, 3);
  assert.equal(new Set(acted.map(({ requestId }) => requestId)).size, 1);
  await assert.rejects(act(house, table, pass), { code: Code.Internal });
  assert.equal(new Set(acted.map(({ requestId }) => requestId)).size, 2);
});

test("who waits for the others hears it after a broken stream too", async () => {
  const states: (TableState | ConnectError)[][] = [[TableState.FORMING, LOST], [TableState.FORMING], [TableState.PLAYING]];
  let streams = 0;
  const transport = createRouterTransport(({ service }) =>
    service(LobbyService, {
      async *watchTables() {
        for (const state of states[streams++] ?? []) {
          if (state instanceof ConnectError) throw state;
          yield { table: { state } };
        }
      },
    }),
  );
  await untilDealt({ lobby: createClient(LobbyService, transport), engine: createClient(EngineService, transport) }, "t");
  assert.equal(streams, 3);
});

test("an action that others overtook is no fault, and one that is refused is", async () => {
  const refused = new ConnectError("it is not allowed", Code.InvalidArgument);
  const { house, table, acted } = houseThat([], [new ConnectError("stale", Code.Aborted), refused]);
  const pass = create(ActionSchema, { verb: { case: "pass", value: {} } });
  table.sequence = 3n;
  await act(house, table, pass);
  await assert.rejects(act(house, table, pass), { code: Code.InvalidArgument });
  assert.deepEqual(acted.map(({ expectedSequence }) => expectedSequence), [3n, 3n]);
});

/** What a service says to a player who calls too often, and to one who is at another limit. */
function tooMuch(reason: string, waitMilliseconds: number): ConnectError {
  return new ConnectError("too much", Code.ResourceExhausted, undefined, [
    { desc: ErrorInfoSchema, value: { reason } },
    { desc: RetryInfoSchema, value: { retryDelay: { seconds: 0n, nanos: waitMilliseconds * 1_000_000 } } },
  ]);
}

test("who called too often waits as long as he is asked to", async ({ mock }) => {
  mock.method(Math, "random", () => 0);
  const timers = mock.method(globalThis, "setTimeout");
  const tooOften = tooMuch("TOO_MANY_CALLS", 41);
  const { house, table, watched, acted } = houseThat([[tooOften], [SNAPSHOT, entry(4n, true)]], [tooOften, undefined]);
  await act(house, table, create(ActionSchema));
  await sequencesOf(table);
  const pauses = timers.mock.calls.map((call) => call.arguments[1]);
  assert.equal(pauses.filter((milliseconds) => milliseconds === 41).length, 2);
  assert.deepEqual([acted.length, watched.length], [2, 2]);
});

test("other limits are told at once", async () => {
  const { house, acted } = houseThat([], [tooMuch("TOO_MANY_REACTIONS", 40)]);
  await assert.rejects(house.engine.submitAction({ tableId: "t" }), { code: Code.ResourceExhausted });
  assert.equal(acted.length, 1);
});

test("patience ends", async () => {
  const { house, acted } = houseThat([], Array.from({ length: 9 }, () => tooMuch("TOO_MANY_CALLS", 1)));
  await assert.rejects(house.engine.submitAction({ tableId: "t" }), { code: Code.ResourceExhausted });
  assert.equal(acted.length, 5);
});

test("so many cards are chosen as are wanted, none of them twice", () => {
  const { table } = houseThat([]);
  const choice = { verb: CardChoiceVerb.SWAP, cards: [3, 4, 5, 6], minCards: 2, maxCards: 3 };
  table.legal = create(LegalActionsSchema, { choices: [choice] });
  for (const chance of [0, 0.5, 0.999]) {
    const verb = randomLegal(table, () => chance)?.verb;
    assert.ok(verb?.case === "swap");
    assert.equal(new Set(verb.value.cards).size, chance === 0 ? 2 : 3);
  }
});
