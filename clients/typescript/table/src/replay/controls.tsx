// What moves a replay: the scrubber, the buttons, and the choice of eyes and speed.
import { useEffect } from "preact/hooks";

import type { Viewer, Words } from "@croupier/client";
import type { Replay } from "@croupier/client/replays";

import { IconButton } from "../icons.js";
import { useSay } from "../texts/page_texts.js";
import { eyesOf, eyesText } from "./eyes.js";
import { type Playback, SPEEDS } from "./playback.js";

interface ControlsProps {
  readonly replay: Replay;
  readonly playback: Playback;
  readonly words: Words;
  readonly eyes: Viewer;
  readonly setEyes: (eyes: Viewer) => void;
}

export function Controls({ replay, playback, words, eyes, setEyes }: ControlsProps) {
  const say = useSay();
  const { step, isPlaying, speed } = playback;
  useKeys(playback);
  return (
    <div class="controls">
      <input
        type="range"
        min={0}
        max={replay.length}
        value={step}
        aria-label={say("replayStep")}
        aria-valuetext={`${step} / ${replay.length}`}
        onInput={({ currentTarget }) => playback.seek(currentTarget.valueAsNumber)}
      />
      <div class="control-buttons">
        <IconButton name="previousMoment" label={say("previousMoment")} onClick={() => playback.seekMoment(-1)} />
        <IconButton name="stepBack" label={say("stepBack")} onClick={() => playback.seek(step - 1)} />
        <IconButton name={isPlaying ? "pause" : "playOn"} label={say(isPlaying ? "pause" : "playOn")} onClick={() => toggle(playback)} />
        <IconButton name="stepOn" label={say("stepOn")} onClick={() => playback.seek(step + 1)} />
        <IconButton name="nextMoment" label={say("nextMoment")} onClick={() => playback.seekMoment(1)} />
        <span class="step-number">{step} / {replay.length}</span>
      </div>
      <div class="control-choices">
        <select aria-label={say("eyes")} value={eyesText(eyes)} onChange={({ currentTarget }) => setEyes(eyesOf(currentTarget.value))}>
          <option value="">{say("eyesSpectator")}</option>
          {replay.table.seats.map((_, seat) => <option key={seat} value={seat}>{words.seat(seat)}</option>)}
          <option value="all">{say("eyesAll")}</option>
        </select>
        <select aria-label={say("speed")} value={speed} onChange={({ currentTarget }) => void (playback.speed = Number(currentTarget.value))}>
          {SPEEDS.map((each) => <option key={each} value={each}>{each.toLocaleString(words.language)}×</option>)}
        </select>
      </div>
    </div>
  );
}

function toggle(playback: Playback): void {
  if (playback.isPlaying) playback.pause();
  else playback.play();
}

/** Let keys move the replay, wherever the focus is; those of a choice, a text, a sheet or a button stay theirs. */
function useKeys(playback: Playback): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const { key, target } = event;
      if (!(target instanceof Element) || target.closest("dialog, select, .moment-link") !== null) return;
      if (key === " " && target.closest("button") !== null) return;
      const act = KEYS[key];
      if (act === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      act(playback);
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, [playback]);
}

const KEYS: Readonly<Record<string, (playback: Playback) => void>> = {
  ArrowLeft: (playback) => playback.seek(playback.step - 1),
  ArrowRight: (playback) => playback.seek(playback.step + 1),
  ArrowUp: (playback) => playback.seekMoment(-1),
  ArrowDown: (playback) => playback.seekMoment(1),
  PageUp: (playback) => playback.seekMoment(-1),
  PageDown: (playback) => playback.seekMoment(1),
  Home: (playback) => playback.seek(0),
  End: (playback) => playback.seek(Number.MAX_SAFE_INTEGER),
  " ": toggle,
};
