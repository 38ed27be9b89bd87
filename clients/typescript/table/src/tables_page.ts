// The part of the page that lists the player's own tables, and shows one before they join it.
import { create } from "@bufbuild/protobuf";

import { type GameDescription, GameDescriptionSchema, type Table, TableState } from "@croupier/client/contract";
import { type CroupierClient, type Language, type MyTable, type MyTables, Words, texts } from "@croupier/client";
import { element, make, onSubmit } from "./dom.js";

const STATES: Readonly<Partial<Record<TableState, string>>> = {
  [TableState.FORMING]: "not begun",
  [TableState.PLAYING]: "begun",
  [TableState.FINISHED]: "over",
};

/** Show the player's tables as a list of buttons, which open them. */
export function showTables(tables: MyTables, games: readonly GameDescription[], open: (tableId: string) => void): void {
  const lines = tables.list.map((mine) => {
    const button = make("button", {}, myTableText(mine, games));
    button.onclick = () => open(mine.table.tableId);
    return make("li", {}, button);
  });
  element("tables").replaceChildren(...(lines.length > 0 ? lines : [make("li", {}, "none")]));
}

/** Offer a look at a table by its invite code, and a seat there. */
export function offerJoining(
  client: CroupierClient,
  games: readonly GameDescription[],
  language: Language,
  open: (tableId: string) => void,
): void {
  const found = element("found");
  onSubmit(element("look") as HTMLFormElement, async () => {
    found.hidden = true;
    const inviteCode = (element("code") as HTMLInputElement).value;
    const { table } = await client.lobby.getTable({ target: { case: "inviteCode", value: inviteCode } });
    if (table === undefined) return;
    element("found-table").textContent = tableText(table, games, language);
    found.hidden = false;
    onSubmit(element("join") as HTMLFormElement, async () => {
      await client.lobby.joinTable({ target: { case: "inviteCode", value: inviteCode } });
      found.hidden = true;
      open(table.tableId);
    });
  });
}

/** Return the game, times, changed options and seats of a table that forms. */
export function tableText(
  { game, seats, timeControl, options }: Table,
  games: readonly GameDescription[],
  language: Language,
): string {
  const names = seats.map(({ name, reservedPlayerId }) => name || (reservedPlayerId === "" ? "free" : "reserved"));
  const [action, reserve] = [timeControl?.actionTime?.seconds, timeControl?.reserveTime?.seconds];
  const words = new Words(games.find((known) => known.game === game) ?? create(GameDescriptionSchema), language);
  const chosen = Object.entries(options ?? {}).map(([name, value]) => words.option(name, value));
  return texts(nameOf(game, games), names.join(", "), `${action} s for an action, ${reserve} s in reserve`, ...chosen);
}

/** Return one line about a table of the player. */
export function myTableText({ table, seat }: MyTable, games: readonly GameDescription[]): string {
  const names = table.seats.map(({ name, reservedPlayerId }) => name || (reservedPlayerId === "" ? "free" : "reserved"));
  return texts(
    nameOf(table.game, games),
    names.join(", "),
    STATES[table.state],
    seat.isToAct === true && "your turn",
    seat.isAway === true && "away",
    table.nextTableId !== "" && "played again",
  );
}

function nameOf(id: string, games: readonly GameDescription[]): string {
  return games.find(({ game }) => game === id)?.name || id;
}
