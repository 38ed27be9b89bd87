// Sounds and vibration, by the person's settings.
import { useEffect, useRef } from "preact/hooks";

import type { Table } from "@croupier/client";

import type { Settings } from "../settings.js";
import { SOUNDS, soundOf } from "./signals.js";

const NOTE_SECONDS = 0.09;
const VOLUME = 0.06;
const VIBRATION_MILLISECONDS = 60;

/** Signal the actions of others, tricks, the person's own turn, and the end of the game. */
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
      // Until the person has tapped the page, a browser would keep all sounds, and play them with the first tap.
      if (navigator.userActivation?.hasBeenActive === false) return;
      const sound = soundOf(change.event.eventKind.value, { seat: table.seat, isNewTurn, isOver: table.isOver });
      if (hasSounds && sound !== undefined) play((audio.current ??= new AudioContext()), SOUNDS[sound]);
      if (vibrates && isNewTurn && "vibrate" in navigator) navigator.vibrate(VIBRATION_MILLISECONDS);
    });
  }, [table, hasSounds, vibrates]);
}

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
