// A table that forms: who sits where, how friends join, and when the game begins.
import { useState } from "preact/hooks";

import { type MyTable, forTable } from "@croupier/client";
import type { GameDescription, Seat } from "@croupier/client/contract";

import { useShared } from "../connection.js";
import { refusalText } from "../errors.js";
import { Icon, IconButton } from "../icons.js";
import { LinkField } from "../link_field.js";
import { hashOf } from "../route.js";
import { useSay } from "../texts/page_texts.js";
import { QrCode } from "./qr_code.js";

interface WaitingRoomProps {
  readonly mine: MyTable;
  readonly game: GameDescription;
}

export function WaitingRoom({ mine: { table, seat: { seat: own } }, game }: WaitingRoomProps) {
  const { connection, go } = useShared();
  const say = useSay();
  const [fault, setFault] = useState("");
  const { tableId, seats, inviteCode, hostPlayerId } = table;
  const isHost = seats[own]?.playerId === hostPlayerId;
  const options = forTable(tableId);
  const run = (call: Promise<unknown>) => void call.then(() => setFault(""), (error: unknown) => setFault(refusalText(error, undefined, say)));
  const leave = () => run(connection.lobby.leaveTable({ tableId }, options).then(() => go({ screen: "home" })));
  return (
    <main class="page waiting-room">
      <header class="page-header">
        <IconButton name="back" label={say("home")} onClick={() => go({ screen: "home" })} />
        <h1>{game.name}</h1>
      </header>
      {inviteCode !== "" && <Invitation code={inviteCode} />}
      <ul class="seats">
        {seats.map((seat, number) => (
          <SeatRow
            key={number}
            seat={seat}
            isHostSeat={seat.playerId !== "" && seat.playerId === hostPlayerId}
            isOwn={number === own}
            addBot={isHost ? () => run(connection.lobby.addBot({ tableId, seat: number }, options)) : undefined}
            clear={isHost ? () => run(connection.lobby.clearSeat({ tableId, seat: number }, options)) : undefined}
          />
        ))}
      </ul>
      <p class="note">{say("waitForOthers")}</p>
      {fault !== "" && <p role="alert" class="fault">{fault}</p>}
      <div class="page-buttons">
        {seats[own]?.isReady === false && <button type="button" class="primary" onClick={() => run(connection.lobby.setReady({ tableId }, options))}>{say("getReady")}</button>}
        <button type="button" onClick={leave}>{say("leaveTable")}</button>
      </div>
    </main>
  );
}

interface SeatRowProps {
  readonly seat: Seat;
  readonly isHostSeat: boolean;
  readonly isOwn: boolean;
  readonly addBot: (() => void) | undefined;
  readonly clear: (() => void) | undefined;
}

function SeatRow({ seat: { name, bot, playerId, isReady, isAway }, isHostSeat, isOwn, addBot, clear }: SeatRowProps) {
  const say = useSay();
  const isFree = playerId === "" && bot === "";
  return (
    <li data-own={isOwn} data-free={isFree}>
      <span class="seat-sign"><Icon name={bot === "" ? "people" : "bot"} /></span>
      <span class="seat-name">{isFree ? say("freeSeat") : name}{isHostSeat && <small> {say("host")}</small>}{isAway && <small> …</small>}</span>
      {!isFree && bot === "" && <span class="seat-ready" data-ready={isReady}>{isReady ? <><Icon name="check" /> {say("ready")}</> : say("notReady")}</span>}
      {isFree && addBot && <button type="button" onClick={addBot}>{say("addBot")}</button>}
      {!isFree && !isOwn && clear && <IconButton name="close" label={say("removeFromSeat", { name })} onClick={clear} />}
    </li>
  );
}

/** The invite code, its link, and a picture of the link for the camera of a phone. */
function Invitation({ code }: { readonly code: string }) {
  const say = useSay();
  const link = `${location.origin}${location.pathname}${hashOf({ screen: "join", code })}`;
  return (
    <section class="invitation" aria-labelledby="invite">
      <QrCode text={link} label={say("inviteTitle")} />
      <div>
        <h2 id="invite">{say("inviteTitle")}</h2>
        <p class="code">{code}</p>
        <p class="note">{say("inviteHow")}</p>
        <LinkField link={link} />
      </div>
    </section>
  );
}
