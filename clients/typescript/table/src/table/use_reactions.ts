// The reactions of players, each shown for a moment.
import { useEffect, useState } from "preact/hooks";

import type { Table } from "@croupier/client";
import type { ReactionDescription } from "@croupier/client/contract";

const SHOWN_MILLISECONDS = 2_500;
/** Shows a reaction that is newer than the list of the lobby. */
const UNKNOWN = "❔";

/** Return the emoji of the seats that reacted a moment ago. */
export function useReactions(table: Table, reactions: readonly ReactionDescription[]): ReadonlyMap<number, string> {
  const [shown, setShown] = useState<ReadonlyMap<number, string>>(new Map());
  useEffect(() => {
    const timers = new Set<ReturnType<typeof setTimeout>>();
    const unsubscribe = table.subscribe((change) => {
      if (change.kind !== "event" || change.event.eventKind.case !== "reaction") return;
      const { seat, reaction } = change.event.eventKind.value;
      const emoji = reactions.find((described) => described.reaction === reaction)?.emoji ?? UNKNOWN;
      setShown((before) => new Map(before).set(seat, emoji));
      const timer = setTimeout(() => {
        timers.delete(timer);
        setShown((before) => new Map([...before].filter(([other, text]) => other !== seat || text !== emoji)));
      }, SHOWN_MILLISECONDS);
      timers.add(timer);
    });
    return () => {
      unsubscribe();
      timers.forEach(clearTimeout);
    };
  }, [table, reactions]);
  return shown;
}
