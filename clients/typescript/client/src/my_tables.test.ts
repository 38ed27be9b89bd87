// A player's own tables, with a lobby in memory.
import assert from "node:assert/strict";
import { test } from "vitest";

import type { MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient, createRouterTransport } from "@connectrpc/connect";

import { EngineService } from "./generated/croupier_api/v1/engine_pb.js";
import { LobbyService, type WatchTablesResponseSchema } from "./generated/croupier_api/v1/lobby_pb.js";
import { TableState } from "./generated/croupier_api/v1/tables_pb.js";
import { MyTables } from "./my_tables.js";

type Message = MessageInitShape<typeof WatchTablesResponseSchema>;

const COMPLETE: Message = { isListComplete: true };
const LOST = new ConnectError("the connection is lost", Code.Unavailable);

function tableAt(tableId: string, state: TableState, seat?: number): Message {
  return { table: { tableId, state }, ...(seat === undefined ? {} : { mySeat: { seat } }) };
}

function change(...parts: Parameters<typeof tableAt>): Message {
  return { ...tableAt(...parts), isListComplete: true };
}

/** The tables after each change, of streams with these messages. */
async function followed(streams: readonly (readonly (Message | ConnectError)[])[]): Promise<string[][]> {
  const requests: boolean[] = [];
  const transport = createRouterTransport(({ service }) =>
    service(LobbyService, {
      async *watchTables({ mine }) {
        for (const message of streams[requests.push(mine) - 1] ?? [new ConnectError("over", Code.PermissionDenied)]) {
          if (message instanceof ConnectError) throw message;
          yield message;
        }
      },
    }),
  );
  const client = { lobby: createClient(LobbyService, transport), engine: createClient(EngineService, transport) };
  const tables = new MyTables(client);
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
