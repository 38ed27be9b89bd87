// The screen of a table's address: the waiting room before the game, and the table from the first deal on.
import { useEffect, useMemo, useState } from "preact/hooks";

import { type MyTables, Table } from "@croupier/client";
import { type Table as LobbyTable, TableState } from "@croupier/client/contract";

import { useChanges, useShared } from "../connection.js";
import { standstillOf } from "../errors.js";
import { JoinScreen } from "../lobby/join_screen.js";
import { WaitingRoom } from "../lobby/waiting_room.js";
import { HomeButton, Message, UnknownGame } from "../message.js";
import { useSay } from "../texts/page_texts.js";
import { TableScreen } from "./table_screen.js";

interface TableRouteProps {
  readonly id: string;
  readonly link: string;
  readonly myTables: MyTables;
}

export function TableRoute({ id, link, myTables }: TableRouteProps) {
  const { connection, games } = useShared();
  useChanges(myTables);
  const known = useLobbyTable(id);
  const mine = myTables.get(id);
  const game = games.find((each) => each.game === mine?.table.game);
  if (mine?.table.state === TableState.FORMING && game !== undefined) return <WaitingRoom mine={mine} game={game} />;
  if (!myTables.isComplete || known === "unread") return <Connecting />;
  // The engine knows a table from the first deal on.
  if (mine !== undefined || known?.state !== TableState.FORMING) return <Following key={id} id={id} link={link} />;
  // The list of one's own tables may come a little later.
  const isSeated = known.seats.some(({ playerId }) => playerId === connection.session.player.playerId);
  return isSeated ? <Connecting /> : <JoinScreen key={id} target={{ tableId: id }} />;
}

/** Return a table of the lobby; undefined if the lobby does not have it, as it deletes old ones. */
function useLobbyTable(id: string): LobbyTable | "unread" | undefined {
  const { connection } = useShared();
  const [table, setTable] = useState<LobbyTable | "unread" | undefined>("unread");
  useEffect(() => {
    connection.lobby.getTable({ target: { case: "tableId", value: id } }).then(
      ({ table }) => setTable(table),
      () => setTable(undefined),
    );
  }, [id]);
  return table;
}

function Connecting() {
  const say = useSay();
  return <Message text={say("connecting")} />;
}

function Following({ id, link }: { readonly id: string; readonly link: string }) {
  const { connection, games } = useShared();
  const say = useSay();
  const table = useMemo(() => new Table(connection, id, link === "" ? {} : { link }), [id, link]);
  useChanges(table);
  useEffect(() => {
    table.open();
    return () => table.close();
  }, [table]);
  const game = games.find((each) => each.game === table.game);
  if (table.sequence !== undefined) return game === undefined ? <UnknownGame /> : <TableScreen key={table.id} table={table} game={game} />;
  const text = standstillOf(table, undefined, say) ?? say(table.status === "offline" ? "serverGone" : "connecting");
  return <Message text={text}><HomeButton /></Message>;
}
