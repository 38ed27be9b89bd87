// What happens, in words for those who do not see the table.
import { useEffect, useState } from "preact/hooks";

import { type Table, type Words, updateTexts } from "@croupier/client";

import { useSay } from "../texts/page_texts.js";

/** The lines that a reader may still have to read. */
const MAX_LINES = 6;
/** When this time is left, the live region says so once. */
const LITTLE_SECONDS = 10;

export function Announcements({ table, words }: { readonly table: Table; readonly words: Words }) {
  const say = useSay();
  const [lines, setLines] = useState<readonly { readonly key: string; readonly text: string }[]>([]);
  useEffect(() => table.subscribe((change) => {
    if (change.kind !== "event" || change.event.eventKind.case !== "update") return;
    const { sequence } = change.event.eventKind.value;
    const texts = updateTexts(change.event.eventKind.value, words).filter((text) => text !== "");
    setLines((before) => [...before, ...texts.map((text, index) => ({ key: `${sequence} ${index}`, text }))].slice(-MAX_LINES));
  }), [table, words]);
  const isLate = table.legal !== undefined && (table.secondsLeft ?? Number.POSITIVE_INFINITY) <= LITTLE_SECONDS;
  return (
    <div class="announcements" role="log" aria-live="polite" lang={words.language}>
      {isLate && <p key={`${table.sequence} late`}>{say("littleTime", { count: LITTLE_SECONDS })}</p>}
      {lines.map(({ key, text }) => <p key={key}>{text}</p>)}
    </div>
  );
}
