// The page: a person, or random actions, at a table in a browser.
import type { GameDescription } from "./generated/croupier_api/v1/games_pb";
import { randomLegal } from "./choices";
import { type CroupierClient, connect } from "./client";
import { element, onSubmit, showStatus } from "./dom";
import { throwUnlessOvertaken } from "./errors";
import { type TableSpec, act, openTable, waitForDeal } from "./game";
import { offerGames } from "./game_form";
import { Presence } from "./presence";
import { randomId } from "./random_id";
import { Table } from "./table";
import { TablePage } from "./table_page";
import { Words } from "./words";

const BOT_DELAY_MILLISECONDS = 700;
const SECRET = "croupier device secret";
const TICK_MILLISECONDS = 1_000;

const signInForm = element("sign-in") as HTMLFormElement;
const tableForm = element("new-table") as HTMLFormElement;
const autoplay = element("autoplay") as HTMLInputElement;

onSubmit(signInForm, async () => {
  const valueOf = (name: string) => String(new FormData(signInForm).get(name));
  showStatus("waiting", "signing in");
  const address = valueOf("address");
  const client = await connect(address, deviceSecret(new URL(address).origin), valueOf("name"));
  const { games } = await client.lobby.listGames({});
  const chosen = offerGames(games);
  onSubmit(tableForm, () => play(client, ...chosen()));
  tableForm.hidden = false;
  showStatus("ready", "choose a game");
});

async function play(client: CroupierClient, game: GameDescription, spec: TableSpec): Promise<void> {
  showStatus("waiting", "opening a table");
  const id = await openTable(client, spec, autoplay.checked ? 1 : BOT_DELAY_MILLISECONDS);
  element("table").textContent = id;
  showStatus("waiting", "waiting for the others: they join the table by its number");
  await waitForDeal(client, id);
  const table = new Table(client, id);
  const presence = new Presence(client, table);
  const refused = (error: unknown) => page.showRefusal(error);
  const page: TablePage = new TablePage(table, {
    act: (action, expectedSequence) => {
      presence.stay();
      return act(client, table, action, expectedSequence);
    },
    leave: () => presence.leave().catch(refused),
    return: () => presence.return().catch(refused),
  });
  const over = new AbortController();
  presence.returnWhenShown(refused, over.signal);
  const ticking = setInterval(() => page.showTurn(wordsOf(table, game)), TICK_MILLISECONDS);
  try {
    for await (const { eventKind } of table.follow()) {
      const words = wordsOf(table, game);
      page.show(words, eventKind.case === "update" ? eventKind.value : undefined);
      const action = autoplay.checked && !table.hasLeft ? randomLegal(table.legal, Math.random) : undefined;
      if (action !== undefined) await act(client, table, action, table.expectedSequence).catch(throwUnlessOvertaken);
    }
  } finally {
    clearInterval(ticking);
    over.abort();
  }
  showStatus("over", `the game is over: ${wordsOf(table, game).ranking(table.ranking)}`);
}

function wordsOf(table: Table, game: GameDescription): Words {
  return new Words(game, table.seats.map(({ name }) => name));
}

/** Return the secret that identifies this device at a server: one that knew it for another could play there in its name. */
function deviceSecret(server: string): string {
  const key = `${SECRET} ${server}`;
  const secret = localStorage.getItem(key) ?? randomId();
  localStorage.setItem(key, secret);
  return secret;
}
