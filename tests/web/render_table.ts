// Shows a table by the hook of the README, in a renderer without a page, and plays there by random actions to the end.
import { Table, connect, openTable, randomLegal, throwUnlessOvertaken } from "@croupier/client";
import { createElement } from "react";
import { act, create } from "react-test-renderer";

import { useTable } from "./use_table.ts";

Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });

const connection = await connect("http://127.0.0.1:7700", { name: "Ada" });
const tableId = await openTable(connection, { game: "thulla", seats: 2, bots: 1 });
const rendered: string[] = [];
let shown = undefined as Table | undefined;

function Shown(): string {
  const table = useTable(connection, tableId);
  shown = table;
  rendered.push(`${table.status} ${table.sequence}`);
  return table.status;
}

const root = await rendering(() => create(createElement(Shown)));
while (shown?.isOver !== true) {
  await rendering(() => new Promise((resolve) => setTimeout(resolve, 5)));
  const action = randomLegal(shown?.legal, Math.random);
  if (action !== undefined) await rendering(() => shown?.act(action).catch(throwUnlessOvertaken));
}
console.log(JSON.stringify({ text: root.toJSON(), first: rendered[0], count: new Set(rendered).size, sequence: Number(shown.sequence) }));
await rendering(() => root.unmount());

/** Run a function, and what React renders because of it; returns its result. */
async function rendering<T>(run: () => T | Promise<T>): Promise<T> {
  const results: T[] = [];
  await act(async () => {
    results.push(await run());
  });
  return results[0] as T;
}
