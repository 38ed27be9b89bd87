// A player's own tables, with a lobby in memory.
import assert from "node:assert/strict";
import { test } from "vitest";

import type { MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient, createRouterTransport } from "@connectrpc/connect";

import { LobbyService, type WatchTablesResponseSchema } from "./generated/croupier_api/v1/lobby_pb.js";
import { TableState } from "./generated/croupier_api/v1/tables_pb.js";
import { FakeSurroundings } from "./fake_surroundings.js";
import { MyTables } from "./my_tables.js";

type Message = MessageInitShape<typeof WatchTablesResponseSchema>;

const COMPLETE: Message = { isListComplete: true };
const SILENT = "a stream that sends no more messages, and does not end";
const LOST = new ConnectError("the connection is lost", Code.Unavailable);

function tableAt(tableId: string, state: TableState, seat?: number): Message {
  return { table: { tableId, state }, ...(seat === undefined ? {} : { mySeat: { seat } }) };
}

function change(...parts: Parameters<typeof tableAt>): Message {
  return { ...tableAt(...parts), isListComplete: true };
}

/** The tables of a lobby that sends these messages and errors stream by stream, and what its requests asked for. */
function tablesOf(streams: readonly (readonly (Message | ConnectError | typeof SILENT)[])[]) {
  const requests: boolean[] = [];
  const transport = createRouterTransport(({ service }) =>
    service(LobbyService, {
      async *watchTables({ mine }) {
        for (const message of streams[requests.push(mine) - 1] ?? [new ConnectError("over", Code.PermissionDenied)]) {
          if (message instanceof ConnectError) throw message;
          if (message === SILENT) await new Promise(() => undefined);
          else yield message;
        }
      },
    }),
  );
  return { tables: new MyTables({ lobby: createClient(LobbyService, transport) }), requests };
}

/** The tables after each change, of streams with these messages. */
async function followed(streams: readonly (readonly (Message | ConnectError)[])[]): Promise<string[][]> {
  const { tables, requests } = tablesOf(streams);
  const lists: string[][] = [];
  const follow = async () => {
    for await (const _ of tables.follow()) {
      lists.push(tables.list.map(({ table, seat }) => `${table.tableId} ${TableState[table.state]} ${seat.seat}`));
    }
  };
  await assert.rejects(follow(), { code: Code.PermissionDenied });
  assert.ok(requests.every((mine) => mine));
  return lists;
}

test("the list is shown once it is complete, also an empty one", async () => {
  const beginning = [tableAt("a", TableState.FORMING, 1), tableAt("b", TableState.PLAYING, 0)];
  assert.deepEqual(await followed([[...beginning, COMPLETE, COMPLETE]]), [["a FORMING 1", "b PLAYING 0"]]);
  assert.deepEqual(await followed([[COMPLETE]]), [[]]);
});

test("the message that completes the list may have a change", async () => {
  const lists = await followed([[tableAt("a", TableState.FORMING, 1), change("a", TableState.PLAYING, 1)]]);
  assert.deepEqual(lists, [["a PLAYING 1"]]);
});

test("tables come, change, end and go", async () => {
  const lists = await followed([[
    COMPLETE,
    change("a", TableState.FORMING, 0),
    change("a", TableState.FINISHED, 0),
    change("b", TableState.FORMING, 2),
    { table: { tableId: "b" }, isListComplete: true },
    change("c", TableState.FORMING, 0),
    change("c", TableState.CLOSED, 0),
  ]]);
  const [over, next] = ["a FINISHED 0", "b FORMING 2"];
  assert.deepEqual(lists, [[], ["a FORMING 0"], [over], [over, next], [over], [over, "c FORMING 0"], [over]]);
});

test("a stream that is opened again replaces the list once it is complete", async () => {
  const first = [tableAt("a", TableState.FORMING, 0), tableAt("b", TableState.FORMING, 0), COMPLETE, LOST];
  const lists = await followed([first, [tableAt("b", TableState.PLAYING, 0), LOST], [tableAt("c", TableState.FORMING, 0), COMPLETE]]);
  assert.deepEqual(lists, [["a FORMING 0", "b FORMING 0"], ["c FORMING 0"]]);
});

test("tables that are followed in the background tell each change, and continue when the page is shown", async () => {
  const { tables, requests } = tablesOf([
    [COMPLETE, change("a", TableState.FORMING, 0), SILENT],
    [tableAt("b", TableState.PLAYING, 1), COMPLETE, SILENT],
  ]);
  const surroundings = new FakeSurroundings();
  const lists: string[][] = [];
  let reached: () => void = () => {};
  const until = (count: number) => new Promise<void>((resolve) => (reached = () => lists.length === count && resolve()));
  tables.subscribe(() => {
    lists.push(tables.list.map(({ table }) => table.tableId));
    reached();
  });
  assert.equal(tables.isComplete, false);
  const begun = until(2);
  tables.open(surroundings);
  await begun;
  const shown = until(3);
  surroundings.become({ isVisible: false });
  surroundings.become({ isVisible: true });
  await shown;
  assert.deepEqual([lists, requests.length], [[[], ["a"], ["b"]], 2]);
  assert.deepEqual([tables.isComplete, tables.revision, tables.error], [true, 3, undefined]);
  tables.close();
  assert.equal(surroundings.isUnused, true);
});

test("a refusal of the stream is the error of the tables", async () => {
  const { tables } = tablesOf([]);
  const told = new Promise<void>((resolve) => tables.subscribe(resolve));
  tables.open(new FakeSurroundings());
  await told;
  assert.equal(tables.error?.code, Code.PermissionDenied);
});
