// Tables of the lobby, with a lobby in memory.
import assert from "node:assert/strict";
import { afterEach, test, vi } from "vitest";

import { create } from "@bufbuild/protobuf";
import { Code, ConnectError, type ServiceImpl, createClient, createRouterTransport } from "@connectrpc/connect";

import { type CreateTableRequest, LobbyService, PlayerSchema } from "./generated/croupier_api/v1/lobby_pb.js";
import { TableState } from "./generated/croupier_api/v1/tables_pb.js";
import { findMatch, joinTable, openTable, playAgain, waitForDeal } from "./lobby.js";

afterEach(() => void vi.useRealTimers());

const LOST = new ConnectError("the connection is lost", Code.Unavailable);

/** A player "h" who is signed in to a lobby with some methods. */
function playerAt(methods: Partial<ServiceImpl<typeof LobbyService>>) {
  const transport = createRouterTransport(({ service }) => service(LobbyService, methods));
  const session = { player: create(PlayerSchema, { playerId: "h" }), token: async () => "", signOut: async () => {} };
  return { lobby: createClient(LobbyService, transport), session };
}

test("a stream ends when its reader stops", async () => {
  const over = new Promise<void>((resolve) => {
    const player = playerAt({
      async *watchTables(_, { signal }) {
        signal.addEventListener("abort", () => resolve());
        yield { table: { tableId: "t", state: TableState.PLAYING } };
        await new Promise(() => undefined);
      },
    });
    void waitForDeal(player, "t");
  });
  await over;
});

test("a match without a table is called again with the same request", async () => {
  const requests: string[] = [];
  const player = playerAt({
    async *findMatch({ requestId }) {
      requests.push(requestId);
      yield { ticketId: "w", waitingCount: 1 };
      if (requests.length === 2) throw LOST;
      if (requests.length === 4) yield { ticketId: "w", waitingCount: 2, table: { tableId: "t" } };
    },
  });
  const waiting: number[] = [];
  const settings = { waiting: (count: number) => void waiting.push(count) };
  assert.equal(await findMatch(player, { game: "thulla", seatCount: 2 }, settings), "t");
  assert.deepEqual(waiting, [1, 1, 1, 1]);
  assert.equal(requests.length, 4);
  assert.equal(new Set(requests).size, 1);
  assert.match(requests[0] ?? "", /^[0-9a-f]{32}$/);
});

test("waiting for the deal survives a broken stream, and one whose token expires", async () => {
  const expired = new ConnectError("the token has expired", Code.Unauthenticated);
  const states: (TableState | ConnectError)[][] = [
    [TableState.FORMING, LOST],
    [TableState.FORMING, expired],
    [TableState.PLAYING],
  ];
  let streams = 0;
  const player = playerAt({
    async *watchTables() {
      for (const state of states[streams++] ?? []) {
        if (state instanceof ConnectError) throw state;
        yield { table: { state } };
        yield { isListComplete: true };
      }
    },
  });
  await waitForDeal(player, "t");
  assert.equal(streams, 3);
});

test("the host gets ready each time that all seats are taken, and not before", async () => {
  const host = { playerId: "h", isReady: false };
  const bot = { name: "Bot 3", bot: "random", isReady: true };
  const guest = { playerId: "g", isReady: true };
  const forming = [[host, {}, bot], [host, guest, bot], [{ ...host, isReady: true }, guest, bot], [host, guest, bot]];
  const readyAfter: number[] = [];
  let sent = 0;
  const player = playerAt({
    async *watchTables() {
      for (const seats of forming) {
        sent += 1;
        yield { table: { state: TableState.FORMING, hostPlayerId: "h", seats } };
      }
      yield { table: { state: TableState.PLAYING } };
    },
    setReady({ isReady }) {
      assert.notEqual(isReady, false);
      readyAfter.push(sent);
      return {};
    },
  });
  await waitForDeal(player, "t");
  assert.equal(readyAfter.length, 2);
  assert.ok((readyAfter[0] ?? 0) >= 2);
});

test("a table against bots begins at once, and is opened once although an answer was lost", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const requests: CreateTableRequest[] = [];
  const player = playerAt({
    createTable(request) {
      if (requests.push(request) === 1) throw new ConnectError("the answer is lost", Code.Unavailable);
      return { table: { tableId: "t" } };
    },
  });
  let id = "";
  void openTable(player, { game: "thulla", seats: 3, bots: 2 }).then((opened) => (id = opened));
  while (id === "") {
    await new Promise(setImmediate);
    vi.advanceTimersByTime(1_000);
  }
  assert.equal(id, "t");
  await openTable(player, { game: "thulla", seats: 3, bots: 1 });
  assert.deepEqual(requests.map(({ bots, isReady }) => [bots.length, isReady]), [[2, true], [2, true], [1, false]]);
  const ids = requests.map(({ requestId }) => requestId);
  assert.deepEqual([ids[0] === ids[1], ids[1] === ids[2], ids.includes("")], [true, false, false]);
});

test("a player who plays again gets the next table, also after a lost answer", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const asked: string[] = [];
  const player = playerAt({
    rematch({ tableId }) {
      if (asked.push(tableId) === 1) throw new ConnectError("the answer is lost", Code.Unavailable);
      return { table: { tableId: "next" } };
    },
  });
  let id = "";
  void playAgain(player, "t").then((next) => (id = next));
  while (id === "") {
    await new Promise(setImmediate);
    vi.advanceTimersByTime(1_000);
  }
  assert.deepEqual([id, asked], ["next", ["t", "t"]]);
});

/** A player at a lobby with a table of two seats, by the code "AB"; returns the codes by which they joined too. */
function invited(seatedId: string) {
  const joined: unknown[] = [];
  const player = playerAt({
    getTable: () => ({ table: { tableId: "t", seats: [{ playerId: seatedId }, {}] } }),
    joinTable({ target }) {
      joined.push(target.value);
      if (joined.length === 1) throw LOST;
      return {};
    },
  });
  return { player, joined };
}

test("a player takes a seat by an invite code, also after a lost answer", async () => {
  const { player, joined } = invited("other");
  assert.equal(await joinTable(player, { inviteCode: "AB" }), "t");
  assert.deepEqual(joined, ["AB", "AB"]);
});

test("a player who has a seat keeps it", async () => {
  const { player, joined } = invited("h");
  assert.equal(await joinTable(player, { inviteCode: "AB" }), "t");
  assert.deepEqual(joined, []);
});
