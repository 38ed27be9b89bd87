// Shows a table by the component of docs/build-an-app.md, and presses its buttons to the end of the game.
import { type Connection, listGames, openTable } from "@croupier/client";
import { type FunctionComponent, createElement } from "react";
import { type ReactTestInstance, act, create } from "react-test-renderer";

import { signedIn } from "./connecting.ts";

Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });

const [game = "", component = ""] = process.argv.slice(2);
const { GameTable } = (await import(component)) as { GameTable: FunctionComponent<object> };
const connection: Connection = await signedIn("Ada");
const description = (await listGames(connection)).games.find((described) => described.game === game);
const seats = description?.maxSeats ?? 0;
const tableId = await openTable(connection, { game, seats, bots: seats - 1 });
let root = await rendering(() => create(createElement(GameTable, { connection, game: description, tableId } as object)));
let pressed = 0;
while (!JSON.stringify(root.toJSON()).includes("1. ")) {
  await rendering(() => new Promise((resolve) => setTimeout(resolve, 350)));
  const drawn = root.root.findAllByType("button");
  const button = drawn.find(({ props }) => props["className"] === "action") ?? drawn.find(({ props }) => !props["aria-pressed"]);
  if (button !== undefined) await press(button);
}
console.log(pressed);
await rendering(() => root.unmount());

async function press(button: ReactTestInstance): Promise<void> {
  pressed += 1;
  await rendering(() => button.props["onClick"]());
}

/** Run a function, and what React renders because of it; returns its result. */
async function rendering<T>(run: () => T | Promise<T>): Promise<T> {
  const results: T[] = [];
  await act(async () => {
    results.push(await run());
  });
  return results[0] as T;
}
