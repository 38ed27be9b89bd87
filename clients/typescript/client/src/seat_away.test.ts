// A player who leaves their seat, and returns when they look at the page again, with an engine and a page in memory.
import assert from "node:assert/strict";
import { afterEach, test, vi } from "vitest";

import { create } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient, createRouterTransport } from "@connectrpc/connect";

import { EngineService, TurnClockSchema } from "./generated/croupier_api/v1/engine_pb.js";
import { LobbyService } from "./generated/croupier_api/v1/lobby_pb.js";
import type { CroupierClient } from "./client.js";
import { SeatAway } from "./seat_away.js";
import { Table } from "./table.js";

afterEach(() => void vi.useRealTimers());

/** A page that is shown or hidden, in place of a browser's. */
class FakePage extends EventTarget {
  visibilityState: DocumentVisibilityState = "visible";

  turn(visibilityState: DocumentVisibilityState): void {
    this.visibilityState = visibilityState;
    this.dispatchEvent(new Event("visibilitychange"));
  }
}

/** The engine's answer to a call: none while the connection is lost. */
type Answer = "lost" | "refused" | "done";

/** A player at a table whose engine gives these answers, then "done", on a page in memory. */
function seatOf(answers: readonly Answer[] = [], isSeated = true, awaySeats: number[] = [], isShown = true) {
  const calls: boolean[] = [];
  const refusals: unknown[] = [];
  const transport = createRouterTransport(({ service }) =>
    service(EngineService, {
      setAway({ isAway }) {
        const answer = answers[calls.push(isAway ?? assert.fail("is_away is required")) - 1];
        if (answer === "lost") throw new ConnectError("the connection is lost", Code.Unavailable);
        if (answer === "refused") throw new ConnectError("refused", Code.PermissionDenied);
        return {};
      },
    }),
  );
  const client: CroupierClient = { lobby: createClient(LobbyService, transport), engine: createClient(EngineService, transport) };
  const table = new Table(client, "t");
  table.seat = isSeated ? 1 : undefined;
  table.clock = create(TurnClockSchema, { awaySeats });
  const [page, window] = [new FakePage(), new EventTarget()];
  if (!isShown) page.turn("hidden");
  Object.assign(globalThis, { document: page, window });
  const [away, over] = [new SeatAway(client, table), new AbortController()];
  away.returnWhenShown((error) => refusals.push(error), over.signal);
  return { away, page, window, over, calls, refusals };
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise(setImmediate);
}

test("a player returns when the page is shown, also from the cache of pages, until the game is over", async () => {
  const { away, page, window, over, calls } = seatOf();
  const returns = vi.spyOn(away, "return");
  page.turn("hidden");
  page.turn("visible");
  await until(() => calls.length === 1);
  window.dispatchEvent(new Event("pageshow"));
  await until(() => calls.length === 2);
  over.abort();
  page.turn("visible");
  window.dispatchEvent(new Event("pageshow"));
  assert.deepEqual(calls, [false, false]);
  assert.equal(returns.mock.calls.length, 2);
});

test("a player who opens a table returns to their seat, as soon as the page is shown", async () => {
  const { calls } = seatOf([], true, [1]);
  await until(() => calls.length === 1);
  const { page, calls: later } = seatOf([], true, [1], false);
  await new Promise(setImmediate);
  assert.deepEqual(later, []);
  page.turn("visible");
  await until(() => later.length === 1);
  assert.deepEqual([calls, later], [[false], [false]]);
});

test("a player whose seat is not away makes no call when they open the table", async () => {
  const { calls } = seatOf([], true, [0]);
  await new Promise(setImmediate);
  assert.deepEqual(calls, []);
});

test("a spectator does not return", () => {
  const { away, page } = seatOf([], false);
  const returns = vi.spyOn(away, "return");
  page.turn("visible");
  assert.equal(returns.mock.calls.length, 0);
});

test("a later change replaces one that has no answer", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const { away, calls } = seatOf(["lost"]);
  const leaving = away.leave();
  await until(() => calls.length === 1);
  await away.return();
  vi.advanceTimersByTime(60_000);
  await leaving;
  assert.deepEqual(calls, [true, false]);
});

test("a player who acts does not leave later", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const { away, calls } = seatOf(["lost"]);
  const leaving = away.leave();
  await until(() => calls.length === 1);
  away.stay();
  vi.advanceTimersByTime(60_000);
  await leaving;
  assert.deepEqual(calls, [true]);
});

test("a return without an answer ends when the page is hidden, and leaving does not", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const { away, page, calls } = seatOf(["lost", "lost"]);
  const returning = away.return();
  await until(() => calls.length === 1);
  page.turn("hidden");
  await returning;
  const leaving = away.leave();
  await until(() => calls.length === 2);
  page.turn("hidden");
  let isAnswered = false;
  leaving.then(() => (isAnswered = true));
  while (!isAnswered) {
    await new Promise(setImmediate);
    vi.advanceTimersByTime(1_000);
  }
  assert.deepEqual(calls, [false, true, true]);
});

test("a refusal is reported", async () => {
  const { away, page, refusals } = seatOf(["refused", "refused"]);
  await assert.rejects(away.leave(), { code: Code.PermissionDenied });
  page.turn("visible");
  await until(() => refusals.length === 1);
});
