// The public tables of others: those with free seats can be joined, and those that are played watched.
import { useEffect, useState } from "preact/hooks";

import { type GameDescription, type Table, TableState, WatchPolicy } from "@croupier/client/contract";

import { useShared } from "../connection.js";
import { useSay } from "../texts/page_texts.js";

const SHOWN_TABLES = 20;
const RELOAD_MILLISECONDS = 10_000;

export function PublicTables({ games, open }: { readonly games: readonly GameDescription[]; readonly open: (tableId: string) => void }) {
  const say = useSay();
  const tables = usePublicTables();
  if (tables.length === 0) return null;
  return (
    <section aria-labelledby="public-tables">
      <h2 id="public-tables">{say("publicTables")}</h2>
      <ul class="my-tables">
        {tables.map((table) => (
          <li key={table.tableId}>
            <button type="button" onClick={() => open(table.tableId)}>
              <span class="row-name">{games.find(({ game }) => game === table.game)?.name ?? table.game}</span>
              <span class="row-others">{table.seats.map(({ name }) => name).filter(Boolean).join(", ")}</span>
              <span class="row-state">{say(table.state === TableState.FORMING ? "join" : "watch")}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Return the newest public tables that the player may join or watch; they are read again while the page is seen. */
function usePublicTables(): readonly Table[] {
  const { connection } = useShared();
  const [tables, setTables] = useState<readonly Table[]>([]);
  useEffect(() => {
    const load = () => {
      if (document.hidden) return;
      // After a failure the tables stay as they were until the next time.
      connection.lobby.listTables({ pageSize: SHOWN_TABLES }).then(({ tables }) => setTables(tables), () => undefined);
    };
    load();
    const timer = setInterval(load, RELOAD_MILLISECONDS);
    return () => clearInterval(timer);
  }, [connection]);
  const { playerId } = connection.session.player;
  return tables.filter((table) => !table.seats.some((seat) => seat.playerId === playerId) && isOpen(table));
}

function isOpen({ state, seats, access }: Table): boolean {
  if (state === TableState.FORMING) return seats.some(({ playerId, bot }) => playerId === "" && bot === "");
  return state === TableState.PLAYING && access?.watchPolicy === WatchPolicy.ANYONE;
}
