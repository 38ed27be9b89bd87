// A table as its scenes show it: a little behind the newest state, so that each step can be seen.
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";

import type { Table } from "@croupier/client";
import type { GameDescription, TableView } from "@croupier/client/contract";

import { type Measured, fly, measure } from "../motion/flights.js";
import { type Scene, scenesOf } from "../motion/scenes.js";
import { Stage } from "../motion/stage.js";

/** What is shown now. */
export interface Staged {
  readonly view: TableView;
  /** Whether nothing waits to be shown: only then a person acts on what they see. */
  readonly isNewest: boolean;
}

/** Follow a table scene by scene; `root` contains the places between which cards move. */
export function useStage(table: Table, game: GameDescription, root: RefObject<HTMLElement | null>): Staged {
  const [scene, setScene] = useState<Scene>({ view: table.view, facts: [], restBefore: 0 });
  const before = useRef<Measured | undefined>(undefined);
  const drawn = table.revision;
  const stage = useMemo(() => new Stage(table.view, (next) => {
    before.current = root.current === null ? undefined : measure(root.current);
    setScene(next);
  }), [table]);
  useEffect(() => {
    // It may have changed between the drawing and this effect.
    if (table.revision !== drawn) stage.replace(table.view);
    const unsubscribe = table.subscribe((change) => {
      if (change.kind !== "event") return;
      const { eventKind } = change.event;
      if (eventKind.case === "snapshot") stage.replace(table.view);
      if (eventKind.case === "update") stage.add(scenesOf(stage.last, eventKind.value, table.seat, game));
      if (document.hidden) stage.hurry();
    });
    const hurry = () => stage.hurry();
    document.addEventListener("visibilitychange", hurry);
    return () => {
      unsubscribe();
      document.removeEventListener("visibilitychange", hurry);
      stage.stop();
    };
  }, [table, stage, game]);
  useLayoutEffect(() => {
    if (root.current !== null && before.current !== undefined && !isMotionReduced()) fly(root.current, before.current, scene.facts);
    before.current = undefined;
  }, [scene]);
  return { view: scene.view, isNewest: stage.isNewest };
}

function isMotionReduced(): boolean {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}
