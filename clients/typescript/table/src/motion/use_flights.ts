// Cards that fly when a scene is drawn.
import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

import { type Measured, fly, measure } from "./flights.js";
import type { Scene } from "./scenes.js";

/** Let cards fly to where a new scene shows them; the returned function is called before it is drawn. */
export function useFlights(root: RefObject<HTMLElement | null>, scene: Scene): () => void {
  const before = useRef<Measured | undefined>(undefined);
  useLayoutEffect(() => {
    if (root.current !== null && before.current !== undefined && !isMotionReduced()) fly(root.current, before.current, scene.facts);
    before.current = undefined;
  }, [scene]);
  return () => void (before.current = root.current === null ? undefined : measure(root.current));
}

function isMotionReduced(): boolean {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}
