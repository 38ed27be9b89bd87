// Several seats of one table in one window, and a panel that cuts, slows down and records their lines. Its texts are in
// English only, because its readers are developers.
import type { JsonObject } from "@bufbuild/protobuf";
import { render } from "preact";
import { useEffect, useReducer, useState } from "preact/hooks";

import { type Connection, findTable, listGames } from "@croupier/client";
import type { GameDescription, Table } from "@croupier/client/contract";

import { refusalText } from "../errors.js";
import { hashOf, routeOf } from "../route.js";
import { sayIn } from "../texts/page_texts.js";
import { copiedTest } from "./copied_test.js";
import { CopyButton } from "./copy_button.js";
import { dealTable, hostOf, signInAll } from "./dealt_table.js";
import { GameForm } from "./game_form.js";
import { Lines } from "./lines.js";
import type { Recording } from "./recording.js";
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
  const { entered, table, fault, deal } = useTable(count, lines);
  const [shown, show] = useState(1);
  const [, redraw] = useReducer<number, void>((times) => times + 1, 0);
  useEffect(() => lines.subscribe(() => redraw()), [lines]);
  const pages = Array.from({ length: count }, (_, index) => index + 1);
  const { recording } = lines;
  return (
    <div class="dev">
      <div class="dev-seats" data-columns={Math.min(count, 4)}>
        {entered && !table && <p class="dev-hint">Choose a game and open a new table.</p>}
        {entered && table && pages.filter((page) => seatOf(entered, table, page) >= 0).map((page) => (
          <SeatFrame key={`${table.tableId} ${page}`} page={page} tableId={table.tableId} lines={lines} />
        ))}
      </div>
      <aside class="dev-panel">
        {entered ? <GameForm games={entered.games} deal={deal} /> : <p role="status">Signing in…</p>}
        {fault !== "" && <p role="alert" class="fault">{fault}</p>}
        {entered && table && (
          <CopyButton
            key={table.tableId}
            label={`Copy as test (${recording.actions.length} actions)`}
            placeholder="A test in Python, of the actions so far"
            write={() => testOf(entered, table, recording)}
          />
        )}
        <Stream pages={pages} shown={shown} show={show} entries={recording.of(shown)} />
      </aside>
    </div>
  );
}

/** Sign all players in, and return the table of the address, or the one that was dealt since. */
function useTable(count: number, { recording }: Lines) {
  const [entered, setEntered] = useState<Entered>();
  const [table, setTable] = useState<Table>();
  const [fault, setFault] = useState("");
  const fail = (error: unknown) => setFault(refusalText(error, undefined, sayIn("en")));
  const open = (opened: Table | undefined) => {
    if (opened === undefined) return;
    recording.clear();
    history.replaceState(null, "", hashOf({ screen: "table", id: opened.tableId, link: "" }));
    setFault("");
    setTable(opened);
  };
  useEffect(() => {
    enter(count).then((known) => {
      setEntered(known);
      return tableOfRoute(known);
    }).then(open).catch(fail);
  }, [count]);
  const deal = (game: GameDescription, options: JsonObject) => entered && void dealTable(entered.connections, game, options).then(open, fail);
  return { entered, table, fault, deal };
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

/** Return the table, as far as this panel has seen it, as a test. */
function testOf(entered: Entered, table: Table, recording: Recording): string {
  const { game, options = {}, seats } = table;
  const actions = recording.actions.map(({ page, action }) => ({ seat: seatOf(entered, table, page), action }));
  const bots = seats.flatMap(({ bot }) => (bot === "" ? [] : [bot]));
  return copiedTest({ address: new URL(location.origin), game, seatCount: seats.length, options, bots, actions });
}
