// The first screen: the player's tables, the games, and the field for an invite code.
import { useState } from "preact/hooks";

import type { MyTable } from "@croupier/client";
import { type GameDescription, TableState } from "@croupier/client/contract";

import { CardFront } from "../cards/card.js";
import { faceOf } from "../cards/face.js";
import { Icon, IconButton } from "../icons.js";
import { useSay } from "../texts/page_texts.js";
import { PublicTables } from "./public_tables.js";

interface HomeProps {
  readonly games: readonly GameDescription[];
  readonly tables: readonly MyTable[];
  readonly name: string;
  readonly play: (game: GameDescription) => void;
  readonly invite: (game: GameDescription) => void;
  readonly open: (tableId: string) => void;
  readonly join: (code: string) => void;
  readonly openSettings: () => void;
}

export function Home({ games, tables, name, play, invite, open, join, openSettings }: HomeProps) {
  const say = useSay();
  return (
    <main class="home">
      <header class="brand">
        <h1>croupier</h1>
        <p>{say("tagline")}</p>
        <IconButton name="settings" label={say("settings")} onClick={openSettings} />
      </header>
      {tables.length > 0 && (
        <section aria-labelledby="my-tables">
          <h2 id="my-tables">{say("myTables")}</h2>
          <ul class="my-tables">{tables.map((mine) => <MyTableRow key={mine.table.tableId} mine={mine} games={games} open={open} />)}</ul>
        </section>
      )}
      <ul class="games">{games.map((game) => <GameTile key={game.game} game={game} play={play} invite={invite} />)}</ul>
      <JoinForm join={join} />
      <PublicTables games={games} open={open} />
      <p class="identity">{say("youAre", { name })}</p>
    </main>
  );
}

function GameTile({ game, play, invite }: Pick<HomeProps, "play" | "invite"> & { readonly game: GameDescription }) {
  const say = useSay();
  return (
    <li class="game">
      <div class="game-cards" aria-hidden="true">{coverCards(game).map((card) => <CardFront key={card} face={faceOf(card, game)} />)}</div>
      <div class="game-text">
        <h2>{game.name}</h2>
        <p>{game.summary}</p>
        <p class="game-seats"><Icon name="people" /> {seatCounts(game)}</p>
      </div>
      <div class="game-buttons">
        <button type="button" class="primary" onClick={() => play(game)}>{say("play")}</button>
        <button type="button" onClick={() => invite(game)}>{say("withFriends")}</button>
      </div>
    </li>
  );
}

/** Return three cards for the picture of a game, always the same: of its own deck, or of the standard one. */
function coverCards({ game, deck }: GameDescription): number[] {
  const numbers = deck.length > 0 ? deck.map(({ number }) => number) : Array.from({ length: 52 }, (_, index) => index + 1);
  const start = [...game].reduce((sum, letter) => sum + (letter.codePointAt(0) ?? 0), 0);
  return [0, 17, 34].map((step) => numbers[(start * 7 + step) % numbers.length] ?? 1);
}

function seatCounts({ minSeats, maxSeats }: GameDescription): string {
  return minSeats === maxSeats ? `${minSeats}` : `${minSeats}–${maxSeats}`;
}

function MyTableRow({ mine: { table, seat }, games, open }: Pick<HomeProps, "games" | "open"> & { readonly mine: MyTable }) {
  const say = useSay();
  const name = games.find(({ game }) => game === table.game)?.name ?? table.game;
  const others = table.seats.map(({ name: other }, number) => (number === seat.seat ? "" : other)).filter(Boolean).join(", ");
  const isToAct = seat.isToAct === true;
  const state = { [TableState.FORMING]: say("forming"), [TableState.FINISHED]: say("finished") }[table.state as number] ?? say("playing");
  return (
    <li>
      <button type="button" onClick={() => open(table.tableId)}>
        <span class="row-name">{name}</span>
        <span class="row-others">{others}</span>
        <span class="row-state" data-turn={isToAct}>{isToAct ? say("yourTurnThere") : state}</span>
      </button>
    </li>
  );
}

function JoinForm({ join }: Pick<HomeProps, "join">) {
  const say = useSay();
  const [code, setCode] = useState("");
  const send = (event: Event) => {
    event.preventDefault();
    if (code.trim() !== "") join(code.trim());
  };
  return (
    <form class="join" onSubmit={send}>
      <label for="invite-code">{say("joinByCode")}</label>
      <input id="invite-code" value={code} onInput={({ currentTarget }) => setCode(currentTarget.value)} maxLength={64} autocomplete="off" autocapitalize="characters" spellcheck={false} placeholder={say("code")} />
      <button type="submit">{say("join")}</button>
    </form>
  );
}
