// Several seats of one table in one window, and a panel that cuts, slows down and records their lines. Its texts are in
// English only, because its readers are developers.
import { render } from "preact";
import { useEffect, useReducer, useState } from "preact/hooks";

import { type Connection, findTable, listGames } from "@croupier/client";
import type { GameDescription, Table } from "@croupier/client/contract";

import { refusalText } from "../errors.js";
import { hashOf, routeOf } from "../route.js";
import { sayIn } from "../texts/page_texts.js";
import { copiedTest } from "./copied_test.js";
import { dealTable, hostOf, signInAll } from "./dealt_table.js";
import { GameForm } from "./game_form.js";
import { Lines } from "./lines.js";
import { SeatFrame } from "./seat_frame.js";
import { Stream } from "./stream.js";
import "./panel.css";

const MIN_SEATS = 2;
const MAX_SEATS = 8;

/** Show the panel with so many seats. The pages in it find it by its window, which only those of this origin can read. */
export function showPanel(root: HTMLElement, seats: number): void {
  const count = Math.max(MIN_SEATS, Math.min(seats, MAX_SEATS));
  const lines = new Lines();
  window.croupierPanel = lines;
  render(<Panel count={count} lines={lines} />, root);
}

interface Entered {
  readonly connections: readonly Connection[];
  readonly games: readonly GameDescription[];
}

interface PanelProps {
  readonly count: number;
  readonly lines: Lines;
}

function Panel({ count, lines }: PanelProps) {
  const [entered, setEntered] = useState<Entered>();
  const [table, setTable] = useState<Table>();
  const [note, setNote] = useState("");
  const [shown, show] = useState(1);
  const [, redraw] = useReducer<number, void>((times) => times + 1, 0);
  const fail = (error: unknown) => setNote(refusalText(error, undefined, sayIn("en")));
  const open = (opened: Table) => {
    lines.recording.clear();
    setNote("");
    history.replaceState(null, "", hashOf({ screen: "table", id: opened.tableId, link: "" }));
    setTable(opened);
  };
  useEffect(() => lines.subscribe(() => redraw()), [lines]);
  useEffect(() => {
    const begin = async () => {
      const known = await enter(count);
      setEntered(known);
      const opened = await tableOfRoute(known);
      if (opened) open(opened);
    };
    begin().catch(fail);
  }, [count]);
  const pages = Array.from({ length: count }, (_, index) => index + 1);
  return (
    <div class="dev">
      <div class="dev-seats" data-columns={Math.min(count, 4)}>
        {entered && table && pages.filter((page) => seatOf(entered, table, page) >= 0).map((page) => (
          <SeatFrame key={`${table.tableId} ${page}`} page={page} tableId={table.tableId} lines={lines} />
        ))}
      </div>
      <aside class="dev-panel">
        {entered && <GameForm games={entered.games} deal={(game, options) => void dealTable(entered.connections, game, options).then(open, fail)} />}
        <p role="status">{note || (entered === undefined ? "Signing in…" : "")}</p>
        {entered && table && <button type="button" onClick={() => void copy(entered, table, lines).then(() => setNote("Copied: run it with pytest."), fail)}>Copy as test ({lines.recording.actions.length} actions)</button>}
        <Stream pages={pages} shown={shown} show={show} entries={lines.recording.of(shown)} />
      </aside>
    </div>
  );
}

async function enter(count: number): Promise<Entered> {
  const connections = await signInAll(location.origin, count);
  const { games } = await listGames(hostOf(connections), count);
  return { connections, games };
}

/** Return the table of the address, or a new one of its game; undefined if it has neither. */
async function tableOfRoute({ connections, games }: Entered): Promise<Table | undefined> {
  const route = routeOf(location.hash);
  if (route.screen === "table") return findTable(hostOf(connections), { tableId: route.id });
  const game = route.screen === "new" ? games.find((each) => each.game === route.game) : undefined;
  return game && dealTable(connections, game, {});
}

/** Return the seat of a page's player; -1 without one, as at a table of fewer seats. */
function seatOf({ connections }: Entered, { seats }: Table, page: number): number {
  return seats.findIndex(({ playerId }) => playerId === connections[page - 1]?.session.player.playerId);
}

/** Copy the table, as far as this panel has seen it, as a test. */
async function copy(entered: Entered, table: Table, { recording }: Lines): Promise<void> {
  const { game, options = {}, seats } = table;
  const actions = recording.actions.map(({ page, action }) => ({ seat: seatOf(entered, table, page), action }));
  const bots = seats.flatMap(({ bot }) => (bot === "" ? [] : [bot]));
  const address = new URL(location.origin);
  await navigator.clipboard.writeText(copiedTest({ address, game, seatCount: seats.length, options, bots, actions }));
}
