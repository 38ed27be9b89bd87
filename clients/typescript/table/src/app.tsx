// The app: signs the player in, and shows the screen of its address.
import { useEffect, useMemo, useState } from "preact/hooks";

import { type ConnectSettings, type Connection, Device, type Language, MyTables, type Store, connect, languageOf, listGames, openTable } from "@croupier/client";
import type { GameDescription, ReactionDescription } from "@croupier/client/contract";
import { durationFromMs } from "@bufbuild/protobuf/wkt";

import { CardSymbols } from "./cards/card.js";
import { type Shared, SharedContext, useChanges, useShared } from "./connection.js";
import { refusalText } from "./errors.js";
import { Home } from "./lobby/home.js";
import { JoinScreen } from "./lobby/join_screen.js";
import { BOT_DELAY_MILLISECONDS, NewTable } from "./lobby/new_table.js";
import { HomeButton, Message } from "./message.js";
import { ReplayRoute } from "./replay/replay_route.js";
import { type Route, hashOf, routeOf } from "./route.js";
import { type Settings, keepSettings, readSettings } from "./settings.js";
import { SettingsSheet } from "./settings_sheet.js";
import { TableRoute } from "./table/table_route.js";
import { SayContext, sayIn, useSay } from "./texts/page_texts.js";

/** What the server knows: the player, and the games in their language. */
interface Entered {
  readonly connection: Connection;
  readonly games: readonly GameDescription[];
  readonly reactions: readonly ReactionDescription[];
}

type Line = Pick<ConnectSettings, "fetch" | "socket">;

const RETRY_MILLISECONDS = 3_000;

interface AppProps {
  readonly address: string;
  readonly store: Store;
  /** The way to the server, by default the browser's own. */
  readonly line?: Line;
}

export function App({ address, store, line }: AppProps) {
  const [settings, setSettings] = useState(() => readSettings(store));
  const [route, go] = useRoute();
  const language = settings.language ?? languageOf(navigator.languages);
  const say = sayIn(language);
  const { entered, fault, readGames } = useEntered(address, store, language, line);
  useAppearance(settings, language);
  const change = (next: Settings) => {
    keepSettings(store, next);
    setSettings(next);
  };
  return (
    <SayContext.Provider value={say}>
      <CardSymbols />
      {entered === undefined
        ? <main class="page message"><h1>croupier</h1><p role="status">{fault === undefined ? say("connecting") : refusalText(fault, undefined, say)}</p></main>
        : <SharedContext.Provider value={{ ...entered, settings, setSettings: change, go, readGames }}><Screen route={route} /></SharedContext.Provider>}
    </SayContext.Provider>
  );
}

function Screen({ route }: { readonly route: Route }) {
  const { connection, games, go } = useShared();
  const say = useSay();
  const myTables = useMemo(() => new MyTables(connection), [connection]);
  useEffect(() => {
    myTables.open();
    return () => myTables.close();
  }, [myTables]);
  const game = route.screen === "new" ? games.find((each) => each.game === route.game) : undefined;
  if (route.screen === "table") return <TableRoute key={route.id} id={route.id} link={route.link} myTables={myTables} />;
  if (route.screen === "join") return <JoinScreen key={route.code} target={{ inviteCode: route.code }} />;
  // Another address of the same replay is another moment of it.
  if (route.screen === "replay") return <ReplayRoute key={hashOf(route)} route={route} />;
  if (game !== undefined) return <NewTable game={game} />;
  if (route.screen === "new") return <Message text={say("noGame")}><HomeButton /></Message>;
  return <HomeScreen myTables={myTables} go={go} />;
}

function HomeScreen({ myTables, go }: { readonly myTables: MyTables; readonly go: Shared["go"] }) {
  const { connection, games } = useShared();
  useChanges(myTables);
  const [isSetting, setSetting] = useState(false);
  const open = (id: string) => go({ screen: "table", id, link: "" });
  const play = ({ game, minSeats, maxSeats, recommendedSeats }: GameDescription) => {
    const seats = recommendedSeats[0] ?? Math.max(minSeats, Math.min(4, maxSeats));
    const timeControl = { botDelay: durationFromMs(BOT_DELAY_MILLISECONDS) };
    void openTable(connection, { game, seats, bots: seats - 1, timeControl }).then(open);
  };
  return (
    <>
      <Home
        games={games}
        tables={myTables.list}
        name={connection.session.player.name}
        play={play}
        invite={({ game }) => go({ screen: "new", game })}
        open={open}
        join={(code) => go({ screen: "join", code })}
        openSettings={() => setSetting(true)}
      />
      {isSetting && <SettingsSheet close={() => setSetting(false)} />}
    </>
  );
}

/** Return the route of the address, and a function that goes to another one. */
function useRoute(): [Route, (route: Route) => void] {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const changed = () => setHash(location.hash);
    addEventListener("hashchange", changed);
    return () => removeEventListener("hashchange", changed);
  }, []);
  return [useMemo(() => routeOf(hash), [hash]), (route) => void (location.hash = hashOf(route))];
}

interface Entrance extends Pick<Shared, "readGames"> {
  readonly entered: Entered | undefined;
  /** Why the last attempt failed. */
  readonly fault: unknown;
}

/** Sign in, again and again until the server answers; a new player is a guest whose name they may change. */
function useEntered(address: string, store: Store, language: Language, line: Line | undefined): Entrance {
  const [state, setState] = useState<{ entered?: Entered; fault?: unknown; attempt: number }>({ attempt: 0 });
  useEffect(() => {
    let isOver = false;
    let retry: ReturnType<typeof setTimeout> | undefined;
    enter(address, store, language, line).then(
      (entered) => isOver || setState(({ attempt }) => ({ entered, attempt })),
      (fault: unknown) => {
        if (isOver) return;
        setState(({ attempt }) => ({ fault, attempt }));
        retry = setTimeout(() => setState(({ attempt }) => ({ fault, attempt: attempt + 1 })), RETRY_MILLISECONDS);
      },
    );
    return () => {
      isOver = true;
      clearTimeout(retry);
    };
  }, [address, language, state.attempt]);
  const { entered, fault } = state;
  const readGames = () => {
    const { connection } = entered ?? {};
    if (connection === undefined) return;
    listGames(connection).then(
      ({ games, reactions }) => setState((now) => (now.entered?.connection === connection ? { ...now, entered: { connection, games, reactions } } : now)),
      () => undefined,
    );
  };
  return { entered, fault, readGames };
}

async function enter(address: string, store: Store, language: Language, line: Line = {}): Promise<Entered> {
  // A player whom the device knows keeps the name that they have chosen.
  const isKnown = new Device(store, new URL(address).origin).secret !== undefined;
  const connection = await connect(address, { name: isKnown ? "" : sayIn(language)("guest"), store, language, transport: "websocket", ...line });
  const { games, reactions } = await listGames(connection);
  return { connection, games, reactions };
}

function useAppearance({ theme, hasFourColours }: Settings, language: Language): void {
  useEffect(() => {
    const { documentElement: root } = document;
    root.lang = language;
    root.dataset["theme"] = theme;
    root.classList.toggle("four-colours", hasFourColours);
  }, [theme, hasFourColours, language]);
}
