// The page: a person, or random actions, at their tables in a browser.
import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";

import {
  type GameDescription,
  GameDescriptionSchema,
  type Reaction,
  type ReactionDescription,
  TableState,
} from "@croupier/client/contract";
import {
  type Connection,
  Device,
  type MyTable,
  MyTables,
  SeatAway,
  Table,
  Words,
  act,
  awaitsSeat,
  connect,
  forTable,
  languageOf,
  openTable,
  playAgain,
  randomLegal,
  throwUnlessOvertaken,
} from "@croupier/client";
import { element, onSubmit, showStatus } from "./dom.js";
import { offerGames } from "./game_form.js";
import { showPlayer } from "./player_page.js";
import { emojiOf, offerReactions } from "./reactions.js";
import { showRules } from "./rules_page.js";
import { TablePage } from "./table_page.js";
import { offerJoining, showTables, tableText } from "./tables_page.js";

const BOT_DELAY_MILLISECONDS = 700;
const TICK_MILLISECONDS = 1_000;
/** The server at which the player of this browser has signed in, until they sign out. */
const SERVER = "croupier server";

/** The language that the address of the page names, as in ?language=nb, else the first of the browser that is known. */
const named = new URLSearchParams(location.search).get("language");
const language = languageOf(named === null ? navigator.languages : [named]);

const signInForm = element("sign-in") as HTMLFormElement;
const tableForm = element("new-table") as HTMLFormElement;
const autoplay = element("autoplay") as HTMLInputElement;

onSubmit(signInForm, () => {
  const valueOf = (name: string) => String(new FormData(signInForm).get(name));
  return enter(valueOf("address"), valueOf("name"), valueOf("device_code"));
});
const server = localStorage.getItem(SERVER);
if (server !== null) void enter(server).catch(failed);

/** Sign in, and show the player and their tables; without a name, as after a reload, they keep the one they have. */
async function enter(address: string, name = "", deviceCode = ""): Promise<void> {
  showStatus("waiting", "signing in");
  const device = new Device(localStorage, new URL(address).origin);
  const deviceSecret = device.secretFor(deviceCode);
  // Without TLS a browser has six connections to an address for the streams of all pages, but hundreds of WebSockets.
  const connection = await connect(address, { deviceSecret, name, deviceCode }, { transport: "websocket" });
  device.keep(deviceSecret);
  localStorage.setItem(SERVER, address);
  const signedOut = () => {
    localStorage.removeItem(SERVER);
    location.hash = "";
    location.reload();
  };
  const deleted = () => {
    device.forget();
    signedOut();
  };
  showPlayer(connection, { signedOut, deleted });
  const { games, reactions } = await connection.lobby.listGames({ language });
  const visit = new Visit(connection, games, reactions);
  signInForm.hidden = true;
  tableForm.hidden = false;
  element("mine").hidden = false;
  showStatus("ready", "choose a game");
  void visit.follow().catch(failed);
}

function failed(error: unknown): void {
  // The streams of a player who has signed out end.
  const fault = ConnectError.from(error);
  if (fault.code !== Code.Unauthenticated) showStatus("failed", String(error));
}

/** A player's visit: the list of their tables, and the one that they look at, whose id the URL has. */
class Visit {
  private readonly tables: MyTables;
  private shown = location.hash.slice(1);
  private playing = "";
  private over = new AbortController();

  constructor(
    private readonly connection: Connection,
    private readonly games: readonly GameDescription[],
    private readonly reactions: readonly ReactionDescription[],
  ) {
    this.tables = new MyTables(connection);
    const chosen = offerGames(games, language);
    const open = (tableId: string) => this.open(tableId);
    onSubmit(tableForm, async () => {
      const [, spec] = chosen();
      open(await openTable(connection, spec, autoplay.checked ? 1 : BOT_DELAY_MILLISECONDS));
    });
    offerJoining(connection, games, language, open);
  }

  /** Follow the player's tables until they sign out. */
  async follow(): Promise<void> {
    for await (const _ of this.tables.follow()) {
      showTables(this.tables, this.games, (tableId) => this.open(tableId));
      this.show();
    }
  }

  /** Show a table of the player, as soon as the list has it. */
  private open(tableId: string): void {
    this.over.abort();
    [this.shown, this.playing] = [tableId, ""];
    location.hash = tableId;
    element("table").textContent = tableId;
    element("at-table").hidden = true;
    element("again").hidden = true;
    showStatus("waiting", "opening the table");
    this.show();
  }

  private show(): void {
    const mine = this.tables.get(this.shown);
    if (mine === undefined) return;
    element("table").textContent = this.shown;
    if (mine.table.state === TableState.FORMING) this.showForming(mine);
    else if (this.playing !== this.shown) void this.play(mine).catch(failed);
    element("again").textContent = mine.table.nextTableId === "" ? "Play again" : "Play again: another player waits";
  }

  private showForming({ table, seat }: MyTable): void {
    showStatus("waiting", `waiting for the others, who join by the code ${table.inviteCode}: ${tableText(table, this.games, language)}`);
    const { tableId } = table;
    if (awaitsSeat(table, seat.seat)) void this.connection.lobby.setReady({ tableId }, forTable(tableId)).catch(failed);
  }

  private async play({ table: { tableId, game } }: MyTable): Promise<void> {
    const { signal } = (this.over = new AbortController());
    this.playing = tableId;
    const description = this.games.find((known) => known.game === game) ?? create(GameDescriptionSchema, { game });
    const table = new Table(this.connection, tableId);
    try {
      await followTable(this.connection, table, description, this.reactions, signal);
    } catch (error) {
      if (signal.aborted) return;
      throw error;
    }
    const words = wordsOf(table, description);
    showStatus("over", words.say("gameOver", { result: words.ranking(table.ranking) }));
    const again = element("again");
    again.hidden = false;
    again.onclick = () => void playAgain(this.connection, tableId, signal).then((next) => this.open(next)).catch(failed);
  }
}

/** Show a table, and let the person or the random actions play there until its game is over. */
async function followTable(
  client: Connection,
  table: Table,
  game: GameDescription,
  reactions: readonly ReactionDescription[],
  signal: AbortSignal,
): Promise<void> {
  const away = new SeatAway(client, table);
  const refused = (error: unknown) => page.showRefusal(error);
  const page: TablePage = new TablePage(table, {
    act: (action, expectedSequence) => {
      away.stay();
      return act(client, table, action, expectedSequence);
    },
    leave: () => away.leave().catch(refused),
    return: () => away.return().catch(refused),
    showRule: (rule) => {
      const request = { game: game.game, rulesVersion: table.rulesVersion, language };
      void showRules(client, request, rule).catch(refused);
    },
  });
  const react = (reaction: Reaction) => {
    void client.engine.sendReaction({ tableId: table.id, reaction }, forTable(table.id)).catch(refused);
  };
  const over = new AbortController();
  const ticking = setInterval(() => page.showTurn(wordsOf(table, game)), TICK_MILLISECONDS);
  try {
    let isOpen = false;
    for await (const { eventKind } of table.follow(signal)) {
      if (!isOpen) {
        away.returnWhenShown(refused, over.signal);
        offerReactions(table.seat === undefined ? [] : reactions, react);
      }
      isOpen = true;
      const words = wordsOf(table, game);
      page.show(words, eventKind.case === "update" ? eventKind.value : undefined);
      if (eventKind.case === "reaction") page.showReaction(eventKind.value.seat, emojiOf(eventKind.value.reaction, reactions));
      if (eventKind.case === "snapshot") void addEarlierRounds(client, table, page, signal);
      const action = autoplay.checked && !table.hasLeft ? randomLegal(table.legal, Math.random) : undefined;
      if (action !== undefined) await act(client, table, action, table.expectedSequence).catch(throwUnlessOvertaken);
    }
  } finally {
    clearInterval(ticking);
    over.abort();
  }
}

/** Show the rounds that have ended, unless the person looks at another table by then. */
async function addEarlierRounds({ scoring }: Connection, table: Table, page: TablePage, signal: AbortSignal): Promise<void> {
  // Before the first round has ended there is no sheet. Without one the page lists the rounds that end from now on.
  const sheet = await scoring.getScoreSheet({ tableId: table.id }, forTable(table.id)).catch(() => undefined);
  if (!signal.aborted) page.addRounds(sheet?.rounds ?? []);
}

function wordsOf(table: Table, game: GameDescription): Words {
  return new Words(game, language, table.seats.map(({ name }) => name));
}
