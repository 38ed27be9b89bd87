// Sounds and vibration, by the person's settings, for what they would otherwise have to look for.
import { useEffect, useRef } from "preact/hooks";

import type { Table } from "@croupier/client";

import type { Settings } from "../settings.js";

/** What is heard: frequencies in hertz, one after another. */
const SOUNDS = { card: [520], turn: [660, 880], over: [523, 659, 784] } as const;
const NOTE_SECONDS = 0.09;
const VOLUME = 0.06;
const VIBRATION_MILLISECONDS = 60;

/** Signal each action of others, the person's own turn, and the end of the game. */
export function useSignals(table: Table, { hasSounds, vibrates }: Settings): void {
  const audio = useRef<AudioContext | undefined>(undefined);
  useEffect(() => () => void audio.current?.close(), []);
  useEffect(() => {
    if (!hasSounds && !vibrates) return undefined;
    let wasTurn = table.legal !== undefined;
    return table.subscribe((change) => {
      if (change.kind !== "event" || change.event.eventKind.case !== "update" || document.hidden) return;
      const isTurn = table.legal !== undefined;
      const isNewTurn = isTurn && !wasTurn;
      wasTurn = isTurn;
      if (hasSounds) play((audio.current ??= new AudioContext()), SOUNDS[table.isOver ? "over" : isNewTurn ? "turn" : "card"]);
      if (vibrates && isNewTurn && "vibrate" in navigator) navigator.vibrate(VIBRATION_MILLISECONDS);
    });
  }, [table, hasSounds, vibrates]);
}

/** Play notes; a browser keeps the context silent until the person has tapped the page. */
function play(audio: AudioContext, frequencies: readonly number[]): void {
  frequencies.forEach((frequency, index) => {
    const [note, volume, start] = [audio.createOscillator(), audio.createGain(), audio.currentTime + index * NOTE_SECONDS];
    note.frequency.value = frequency;
    volume.gain.setValueAtTime(VOLUME, start);
    volume.gain.exponentialRampToValueAtTime(0.0001, start + NOTE_SECONDS);
    note.connect(volume).connect(audio.destination);
    note.start(start);
    note.stop(start + NOTE_SECONDS);
  });
}
