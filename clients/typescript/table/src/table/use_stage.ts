// A table as its scenes show it: a little behind the newest state, so that each step can be seen.
import type { RefObject } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";

import type { Table } from "@croupier/client";
import type { GameDescription, RoundScore, TableView } from "@croupier/client/contract";

import { type LastTrick, type Scene, lastTrickOf, roundEndOf, scenesOf } from "../motion/scenes.js";
import { Stage } from "../motion/stage.js";
import { useFlights } from "../motion/use_flights.js";

/** What is shown now. */
export interface Staged {
  readonly view: TableView;
  /** Whether nothing waits to be shown: only then a new turn begins for a person. */
  readonly isNewest: boolean;
  /** The score of the round whose end is shown. */
  readonly roundEnd: RoundScore | undefined;
  /** The last trick that went while the person watched. */
  readonly lastTrick: LastTrick | undefined;
}

/** Follow a table scene by scene; `root` contains the places between which cards move. */
export function useStage(table: Table, game: GameDescription, root: RefObject<HTMLElement | null>): Staged {
  const [scene, setScene] = useState<Scene>({ view: table.view, facts: [], restBefore: 0 });
  const [lastTrick, setLastTrick] = useState<LastTrick>();
  const launch = useRef(() => {});
  launch.current = useFlights(root, scene);
  const drawn = table.revision;
  const stage = useMemo(() => new Stage(table.view, (next) => {
    launch.current();
    setScene(next);
  }), [table]);
  useEffect(() => {
    // It may have changed between the drawing and this effect.
    if (table.revision !== drawn) stage.replace(table.view);
    const unsubscribe = table.subscribe((change) => {
      if (change.kind !== "event") return;
      const { eventKind } = change.event;
      if (eventKind.case === "snapshot") stage.replace(table.view);
      if (eventKind.case === "update") {
        const before = stage.last;
        const scenes = scenesOf(before, eventKind.value, table.seat, game);
        setLastTrick((known) => lastTrickOf(before.view, scenes, game) ?? known);
        stage.add(scenes);
      }
      if (document.hidden) stage.hurry();
    });
    const hurry = () => stage.hurry();
    document.addEventListener("visibilitychange", hurry);
    return () => {
      unsubscribe();
      document.removeEventListener("visibilitychange", hurry);
    };
  }, [table, stage, game]);
  // Not above: what waits is still to be shown when the description of the game is read again.
  useEffect(() => () => stage.stop(), [stage]);
  return { view: scene.view, isNewest: stage.isNewest, roundEnd: roundEndOf(scene), lastTrick };
}
