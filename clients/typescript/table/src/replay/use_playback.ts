// The playback of a replay on the screen, whose cards fly.
import type { RefObject } from "preact";
import { useEffect, useMemo, useReducer, useRef } from "preact/hooks";

import type { GameDescription } from "@croupier/client/contract";
import type { Replay } from "@croupier/client/replays";

import { useFlights } from "../motion/use_flights.js";
import { Playback } from "./playback.js";

/** Play a replay; one with other eyes goes on at the same step, and with the same speed. */
export function usePlayback(replay: Replay, game: GameDescription, root: RefObject<HTMLElement | null>, firstStep: number): Playback {
  const [, redraw] = useReducer<number, void>((count) => count + 1, 0);
  const last = useRef<Playback>(undefined);
  const launch = useRef(() => {});
  const playback = useMemo(() => {
    const changed = () => {
      launch.current();
      redraw();
    };
    return new Playback(replay, game, last.current?.step ?? firstStep, last.current?.speed ?? 1, changed);
  }, [replay, game]);
  last.current = playback;
  launch.current = useFlights(root, playback.scene);
  useEffect(() => () => playback.stop(), [playback]);
  return playback;
}
