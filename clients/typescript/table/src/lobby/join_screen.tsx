// A table that a person may join, by an invite code or because it is public, and a button that takes a seat.
import { useEffect, useState } from "preact/hooks";

import { type Target, findTable, joinTable } from "@croupier/client";
import type { Table } from "@croupier/client/contract";

import { useShared } from "../connection.js";
import { refusalText } from "../errors.js";
import { IconButton } from "../icons.js";
import { HomeButton, Message } from "../message.js";
import { useSay } from "../texts/page_texts.js";

export function JoinScreen({ target }: { readonly target: Target }) {
  const { connection, games, go } = useShared();
  const say = useSay();
  const [table, setTable] = useState<Table>();
  const [fault, setFault] = useState("");
  const fail = (error: unknown) => setFault(refusalText(error, undefined, say));
  useEffect(() => {
    findTable(connection, target).then(setTable, fail);
  }, []);
  const join = () => joinTable(connection, target).then((id) => go({ screen: "table", id, link: "" }), fail);
  if (table === undefined && fault !== "") return <Message text={fault}><HomeButton /></Message>;
  const name = games.find(({ game }) => game === table?.game)?.name ?? table?.game;
  return (
    <main class="page">
      <header class="page-header">
        <IconButton name="back" label={say("home")} onClick={() => go({ screen: "home" })} />
        <h1>{name ?? say("joinByCode")}</h1>
      </header>
      {table !== undefined && (
        <ul class="seats">
          {table.seats.map(({ name: player, playerId, bot }, seat) => <li key={seat} data-free={playerId === "" && bot === ""}><span class="seat-name">{player || say("freeSeat")}</span></li>)}
        </ul>
      )}
      {fault !== "" && <p role="alert" class="fault">{fault}</p>}
      <div class="page-buttons">
        {table !== undefined && <button type="button" class="primary" onClick={() => void join()}>{say("takeSeat")}</button>}
        <HomeButton />
      </div>
    </main>
  );
}
