// A new table: presets first, then everything that a game lets its players choose.
import { type JsonObject } from "@bufbuild/protobuf";
import { durationFromMs, durationMs } from "@bufbuild/protobuf/wkt";
import { useEffect, useState } from "preact/hooks";

import { type TableSpec, Words, findMatch, listGames, openTable } from "@croupier/client";
import { type GameDescription, type PresetDescription, WatchPolicy, Visibility, WordKind } from "@croupier/client/contract";

import { useShared } from "../connection.js";
import { refusalText } from "../errors.js";
import { IconButton } from "../icons.js";
import { type Say, useSay } from "../texts/page_texts.js";
import { OptionFields } from "./option_fields.js";

/** The time that a bot waits, so that people can see what it does. */
export const BOT_DELAY_MILLISECONDS = 500;
const TIMES_SECONDS = [15, 30, 60, 300, 3600, 86_400];
const USUAL_SECONDS = 30;

interface Draft {
  readonly seats: number;
  readonly bots: number;
  readonly seconds: number;
  readonly reserveSeconds: number | undefined;
  readonly options: JsonObject;
  readonly preset: string;
  readonly isPublic: boolean;
}

export function NewTable({ game: offered }: { readonly game: GameDescription }) {
  const { connection, go } = useShared();
  const say = useSay();
  const [draft, setDraft] = useState<Draft>(() => newDraft(offered));
  const [game, setGame] = useState(offered);
  const [fault, setFault] = useState("");
  const [waiting, setWaiting] = useState<number>();
  const change = (changed: Partial<Draft>) => setDraft({ ...draft, ...changed });
  const words = new Words(game, connection.language);
  const fail = (error: unknown) => setFault(refusalText(error, words, say));
  const open = (id: string) => go({ screen: "table", id, link: "" });
  useEffect(() => {
    // The options of a game depend on the number of seats.
    listGames(connection, draft.seats).then(({ games }) => setGame(games.find((each) => each.game === offered.game) ?? offered), fail);
  }, [draft.seats]);
  const [search, setSearch] = useState<AbortController>();
  useEffect(() => () => search?.abort(), [search]);
  const match = () => {
    const stop = new AbortController();
    setSearch(stop);
    setWaiting(1);
    findMatch(connection, { game: game.game, seatCount: draft.seats, preset: draft.preset }, { signal: stop.signal, waiting: setWaiting })
      .then(open, (error: unknown) => (stop.signal.aborted ? setWaiting(undefined) : fail(error)));
  };
  return (
    <main class="page new-table">
      <header class="page-header">
        <IconButton name="back" label={say("home")} onClick={() => go({ screen: "home" })} />
        <h1>{game.name}</h1>
      </header>
      <form onSubmit={(event) => {
        event.preventDefault();
        openTable(connection, specOf(game, draft)).then(open, fail);
      }}>
        {game.presets.length > 0 && <Presets game={game} words={words} draft={draft} change={change} />}
        <Numbers label={say("seats")} from={game.minSeats} to={game.maxSeats} recommended={game.recommendedSeats} value={draft.seats} set={(seats) => change({ seats, bots: Math.min(draft.bots, seats - 1) })} />
        <Numbers label={say("bots")} from={0} to={draft.seats - 1} value={draft.bots} note={draft.bots === 0 ? say("botsNone") : ""} set={(bots) => change({ bots })} />
        <Times draft={draft} change={change} />
        <label class="option public">{say("publicTable")}<input type="checkbox" checked={draft.isPublic} onChange={({ currentTarget }) => change({ isPublic: currentTarget.checked })} /></label>
        {game.options.length > 0 && (
          <details class="options">
            <summary>{say("options")}</summary>
            <OptionFields game={game} words={words} options={draft.options} change={(options) => change({ options, preset: "" })} />
          </details>
        )}
        {fault !== "" && <p role="alert" class="fault">{fault}</p>}
        <div class="page-buttons">
          <button type="submit" class="primary">{draft.bots === draft.seats - 1 ? say("playNow") : say("create")}</button>
          {waiting === undefined
            ? <button type="button" onClick={match}>{say("quickMatch")}</button>
            : <button type="button" onClick={() => search?.abort()}>{say("searching", { count: waiting })} – {say("cancel")}</button>}
        </div>
      </form>
    </main>
  );
}

interface DraftProps {
  readonly draft: Draft;
  readonly change: (changed: Partial<Draft>) => void;
}

function Presets({ game, words, draft, change }: DraftProps & { readonly game: GameDescription; readonly words: Words }) {
  const say = useSay();
  return (
    <fieldset class="chips">
      <legend>{say("presets")}</legend>
      {game.presets.map((preset) => (
        <button key={preset.name} type="button" aria-pressed={draft.preset === preset.name} onClick={() => change(ofPreset(preset))}>
          {words.word(WordKind.PRESET, preset.name)}
        </button>
      ))}
    </fieldset>
  );
}

interface NumbersProps {
  readonly label: string;
  readonly from: number;
  readonly to: number;
  readonly recommended?: readonly number[];
  readonly value: number;
  readonly note?: string;
  readonly set: (value: number) => void;
}

/** A row of numbers to choose one from. */
function Numbers({ label, from, to, recommended = [], value, note = "", set }: NumbersProps) {
  if (from === to) return null;
  const numbers = Array.from({ length: to - from + 1 }, (_, index) => from + index);
  return (
    <fieldset class="chips">
      <legend>{label}</legend>
      {numbers.map((number) => (
        <button key={number} type="button" aria-pressed={number === value} data-recommended={recommended.includes(number)} onClick={() => set(number)}>{number}</button>
      ))}
      {note !== "" && <p class="note">{note}</p>}
    </fieldset>
  );
}

function Times({ draft, change }: DraftProps) {
  const say = useSay();
  return (
    <fieldset class="chips">
      <legend>{say("times")}</legend>
      {[...new Set([...TIMES_SECONDS, draft.seconds])].sort((one, other) => one - other).map((seconds) => (
        <button key={seconds} type="button" aria-pressed={seconds === draft.seconds} onClick={() => change({ seconds, reserveSeconds: undefined, preset: "" })}>{timeText(seconds, say)}</button>
      ))}
    </fieldset>
  );
}

function timeText(seconds: number, say: Say): string {
  if (seconds < 60) return say("seconds", { count: seconds });
  return seconds < 3600 ? say("minutes", { count: seconds / 60 }) : say("hours", { count: seconds / 3600 });
}

function newDraft({ minSeats, maxSeats, recommendedSeats }: GameDescription): Draft {
  const seats = recommendedSeats[0] ?? Math.min(4, maxSeats);
  return { seats: Math.max(minSeats, seats), bots: 0, seconds: USUAL_SECONDS, reserveSeconds: undefined, options: {}, preset: "", isPublic: false };
}

function ofPreset({ name, options, actionTime, reserveTime }: PresetDescription): Partial<Draft> {
  return {
    preset: name,
    options: options ?? {},
    seconds: actionTime === undefined ? USUAL_SECONDS : durationMs(actionTime) / 1000,
    reserveSeconds: reserveTime === undefined ? undefined : durationMs(reserveTime) / 1000,
  };
}

function specOf({ game }: GameDescription, { seats, bots, seconds, reserveSeconds, options, isPublic }: Draft): TableSpec {
  const reserveTime = reserveSeconds === undefined ? {} : { reserveTime: durationFromMs(reserveSeconds * 1000) };
  const timeControl = { actionTime: durationFromMs(seconds * 1000), botDelay: durationFromMs(BOT_DELAY_MILLISECONDS), ...reserveTime };
  const access = isPublic ? { visibility: Visibility.EVERYONE } : { visibility: Visibility.LINK, watchPolicy: WatchPolicy.LINK };
  return { game, seats, bots, options, timeControl, access };
}
