// The signed-in player's connection, and what a screen needs beside it.
import { createContext } from "preact";
import { useContext, useEffect, useReducer } from "preact/hooks";

import type { Connection } from "@croupier/client";
import type { GameDescription, ReactionDescription } from "@croupier/client/contract";

import type { Route } from "./route.js";
import type { Settings } from "./settings.js";

/** What all screens share. */
export interface Shared {
  readonly connection: Connection;
  readonly games: readonly GameDescription[];
  readonly reactions: readonly ReactionDescription[];
  readonly settings: Settings;
  readonly setSettings: (settings: Settings) => void;
  readonly go: (route: Route) => void;
  /** Asks the server again which games it offers. */
  readonly readGames: () => void;
}

export const SharedContext = createContext<Shared | undefined>(undefined);

/** Return what all screens share; throws outside of the app. */
export function useShared(): Shared {
  const shared = useContext(SharedContext);
  if (shared === undefined) throw new Error("no connection: expected a screen of the app");
  return shared;
}

/** What can be followed by a listener. */
interface Subscribed {
  readonly subscribe: (listener: () => void) => () => void;
  /** The number of changes. */
  readonly revision: number;
}

/** Draw the component again whenever something changes, and at once if it changed while it was drawn. */
export function useChanges(subscribed: Subscribed): void {
  const [, redraw] = useReducer<number, void>((count) => count + 1, 0);
  const { revision } = subscribed;
  useEffect(() => {
    // It may have changed between the drawing and this effect.
    if (subscribed.revision !== revision) redraw();
    return subscribed.subscribe(() => redraw());
  }, [subscribed]);
}

/** Draw the component again so often, while `isOn`. */
export function useTicks(milliseconds: number, isOn: boolean): void {
  const [, redraw] = useReducer<number, void>((count) => count + 1, 0);
  useEffect(() => {
    if (!isOn) return undefined;
    const timer = setInterval(() => redraw(), milliseconds);
    return () => clearInterval(timer);
  }, [milliseconds, isOn]);
}
