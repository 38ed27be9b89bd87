// The screen of a finished table: each step as it was seen with the chosen eyes.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";

import { type Connection, type Viewer, Words, forTable, reasonOf, updateTexts } from "@croupier/client";
import { ErrorReason, type GameDescription, LinkPurpose, type Pile } from "@croupier/client/contract";
import type { Replay } from "@croupier/client/replays";

import { useShared } from "../connection.js";
import { refusalText } from "../errors.js";
import { HomeButton, Message, UnknownGame } from "../message.js";
import { IconButton } from "../icons.js";
import { roundEndOf } from "../motion/scenes.js";
import { type ReplayRoute, hashOf } from "../route.js";
import type { Frame } from "../table/frame.js";
import { handCards } from "../table/hand.js";
import { PileSheet } from "../table/pile_sheet.js";
import { TableArea } from "../table/table_view.js";
import { useSay } from "../texts/page_texts.js";
import { Controls } from "./controls.js";
import { eyesOf, eyesText } from "./eyes.js";
import { OpenHands } from "./open_hands.js";
import type { Playback } from "./playback.js";
import { ProofBadge } from "./proof_sheet.js";
import "./replay.css";
import { ShareButton } from "./share_button.js";
import { usePlayback } from "./use_playback.js";
import { useReplay } from "./use_replay.js";

/** Browsers refuse more than about three changes of the address in a second. */
const ADDRESS_MILLISECONDS = 330;

export function ReplayScreen({ route }: { readonly route: ReplayRoute }) {
  const { games } = useShared();
  const say = useSay();
  const [eyes, setEyes] = useState(() => eyesOf(route.eyes));
  const { value: replay, fault } = useReplay(route.id, route.link, eyes);
  const game = games.find((each) => each.game === replay?.table.game);
  if (fault !== undefined) return <Refused id={route.id} link={route.link} fault={fault} />;
  if (replay === undefined) return <Message text={say("connecting")} />;
  if (game === undefined) return <UnknownGame />;
  return <Shown route={route} replay={replay} game={game} eyes={eyes} setEyes={setEyes} />;
}

function Refused({ id, link, fault }: { readonly id: string; readonly link: string; readonly fault: unknown }) {
  const { go } = useShared();
  const say = useSay();
  const isPlayed = reasonOf(fault) === ErrorReason.TABLE_NOT_FINISHED;
  return (
    <Message text={isPlayed ? say("notOverYet") : refusalText(fault, undefined, say)}>
      {isPlayed && <button type="button" onClick={() => go({ screen: "table", id, link })}>{say("toTable")}</button>}
      <HomeButton />
    </Message>
  );
}

interface ShownProps {
  readonly route: ReplayRoute;
  readonly replay: Replay;
  readonly game: GameDescription;
  /** Those that are chosen: the replay with them may still be read. */
  readonly eyes: Viewer;
  readonly setEyes: (eyes: Viewer) => void;
}

function Shown({ route, replay, game, eyes, setEyes }: ShownProps) {
  const { connection, go } = useShared();
  const say = useSay();
  const root = useRef<HTMLDivElement>(null);
  const [pile, openPile] = useState<Pile>();
  const playback = usePlayback(replay, game, root, route.step ?? 0);
  const words = useMemo(() => new Words(game, connection.language, replay.table.seats.map(({ name }) => name)), [game, replay]);
  const { view } = playback.scene;
  const hash = hashOf({ ...route, step: playback.step, eyes: eyesText(eyes) });
  useAddress(hash);
  const frame = frameOf(replay, playback);
  const addressOf = async () => {
    const link = route.link || (await linkOf(connection, route.id));
    return `${location.origin}${location.pathname}${hashOf({ ...route, link, step: playback.step, eyes: eyesText(eyes) })}`;
  };
  return (
    <div ref={root} class="replay-screen">
      <TableArea
        frame={frame}
        words={words}
        hand={handCards(view.seats[frame.seat ?? -1]?.cards ?? [], view.cardOrder, () => false, [])}
        isChoosing={false}
        hint=""
        seconds=""
        timeLeft={undefined}
        buttons={[]}
        reactions={NO_REACTIONS}
        tapCard={() => {}}
        openPile={openPile}
        openSeat={setEyes}
        heading={
          <header class="heading">
            <IconButton name="back" label={say("home")} onClick={() => go({ screen: "home" })} />
            <h1>{game.name}<small>{view.round > 0 && words.round(view.round)}</small></h1>
            <ProofBadge id={route.id} link={route.link} />
            <ShareButton moment={hash} addressOf={addressOf} />
          </header>
        }
      />
      <footer class="replay-footer">
        {replay.eyes === "all" && <OpenHands view={view} words={words} label={say("eyesAll")} />}
        <Happened replay={replay} step={playback.step} words={words} />
        <Controls replay={replay} playback={playback} words={words} eyes={eyes} setEyes={setEyes} />
      </footer>
      {pile !== undefined && <PileSheet pile={pile} words={words} close={() => openPile(undefined)} />}
    </div>
  );
}

const NO_REACTIONS: ReadonlyMap<number, string> = new Map();

/** Return a link to the replay; empty at a table that gives none to this person, or to which all have access. */
async function linkOf({ engine }: Connection, tableId: string): Promise<string> {
  return engine.createLink({ tableId, purpose: LinkPurpose.REPLAY }, forTable(tableId)).then(({ link }) => link, () => "");
}

function frameOf(replay: Replay, { scene, step }: Playback): Frame {
  const { table: { seats, teams }, eyes } = replay;
  const seat = eyes === "all" ? undefined : eyes;
  return { view: scene.view, roundEnd: roundEndOf(scene), seats, teams, seat, legal: undefined, presence: undefined, proposal: undefined, awaySeats: [], leftSeats: leftSeatsAt(replay, step) };
}

/** Return the seats whose players had left them at a step. */
function leftSeatsAt(replay: Replay, step: number): readonly number[] {
  const left = new Set<number>();
  for (let at = 1; at <= step; at += 1) {
    const { seat, isAway } = replay.updateAt(at);
    if (seat === undefined || isAway === undefined) continue;
    if (isAway) left.add(seat);
    else left.delete(seat);
  }
  return [...left];
}

/** Say when a step was, and what happened in it. */
function Happened({ replay, step, words }: { readonly replay: Replay; readonly step: number; readonly words: Words }) {
  const say = useSay();
  const time = useMemo(() => new Intl.DateTimeFormat(words.language, { dateStyle: "medium", timeStyle: "medium" }), [words]);
  if (step === 0) return <p class="happened" aria-live="polite">{say("beforeDeal")}</p>;
  const at = new Date(replay.timeAt(step));
  return (
    <p class="happened" aria-live="polite" lang={words.language}>
      <time dateTime={at.toISOString()}>{time.format(at)}</time>
      {updateTexts(replay.updateAt(step), words).filter((text) => text !== "").join(" · ")}
    </p>
  );
}

/** Keep the address that of the shown moment, so that the way back and a new load lead to it. */
function useAddress(hash: string): void {
  useEffect(() => {
    const timer = setTimeout(() => history.replaceState(null, "", hash), ADDRESS_MILLISECONDS);
    return () => clearTimeout(timer);
  }, [hash]);
}
