// How the table is followed, as long as it is not simply live.
import type { Table } from "@croupier/client";

import { useSay } from "../texts/page_texts.js";

const TEXTS = { opening: "connecting", "catching up": "catchingUp", offline: "offline", away: "paused" } as const;

export function ConnectionState({ table: { status } }: { readonly table: Table }) {
  const say = useSay();
  const text = status in TEXTS ? say(TEXTS[status as keyof typeof TEXTS]) : "";
  return <p class="connection" role="status" data-status={status}>{text}</p>;
}
