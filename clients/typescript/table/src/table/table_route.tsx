// The screen of a table's address: the waiting room before the game, and the table from the first deal on.
import { useEffect, useMemo, useState } from "preact/hooks";

import { type MyTables, Table } from "@croupier/client";
import { TableState } from "@croupier/client/contract";

import { useChanges, useShared } from "../connection.js";
import { refusalText } from "../errors.js";
import { WaitingRoom } from "../lobby/waiting_room.js";
import { useSay } from "../texts/page_texts.js";
import { TableScreen } from "./table_screen.js";

interface TableRouteProps {
  readonly id: string;
  readonly link: string;
  readonly myTables: MyTables;
}

export function TableRoute({ id, link, myTables }: TableRouteProps) {
  const { games } = useShared();
  useChanges(myTables);
  const isForming = useForming(id);
  const mine = myTables.get(id);
  const game = games.find((each) => each.game === mine?.table.game);
  if (mine?.table.state === TableState.FORMING && game !== undefined) return <WaitingRoom mine={mine} game={game} />;
  // The engine knows a table from the first deal on, and the list of one's own tables may come a little later.
  if (!myTables.isComplete || (mine === undefined && isForming)) return <Connecting />;
  return <Following key={id} id={id} link={link} />;
}

/** Return whether a table forms, or that is not known yet. */
function useForming(id: string): boolean {
  const { connection } = useShared();
  const [isForming, setForming] = useState(true);
  useEffect(() => {
    connection.lobby.getTable({ target: { case: "tableId", value: id } }).then(
      ({ table }) => setForming(table?.state === TableState.FORMING),
      // The lobby deletes old tables; the engine has the last word.
      () => setForming(false),
    );
  }, [id]);
  return isForming;
}

function Connecting() {
  const say = useSay();
  return <main class="page message"><p role="status">{say("connecting")}</p></main>;
}

function Following({ id, link }: { readonly id: string; readonly link: string }) {
  const { connection, games, go } = useShared();
  const say = useSay();
  const table = useMemo(() => new Table(connection, id, link === "" ? {} : { link }), [id, link]);
  useChanges(table);
  useEffect(() => {
    table.open();
    return () => table.close();
  }, [table]);
  const game = games.find((each) => each.game === table.game);
  if (table.sequence !== undefined && game !== undefined) return <TableScreen table={table} game={game} />;
  const isUnknown = table.sequence !== undefined;
  const text = isUnknown ? say("unknownGame") : table.status === "failed" ? refusalText(table.error, undefined, say) : say(table.status === "offline" ? "serverGone" : "connecting");
  return (
    <main class="page message">
      <p role="status">{text}</p>
      <button type="button" onClick={() => (isUnknown ? location.reload() : go({ screen: "home" }))}>{say(isUnknown ? "tryAgain" : "home")}</button>
    </main>
  );
}
