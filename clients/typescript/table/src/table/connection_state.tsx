// How the table is followed, as long as it is not simply live.
import type { Table, TableStatus } from "@croupier/client";

import { standstillOf } from "../errors.js";
import { type PageTexts } from "../texts/en.js";
import { useSay } from "../texts/page_texts.js";

const TEXTS: Partial<Record<TableStatus, keyof PageTexts>> = { opening: "connecting", "catching up": "catchingUp", offline: "offline", away: "paused" };

export function ConnectionState({ table }: { readonly table: Table }) {
  const say = useSay();
  const { status } = table;
  const key = standstillOf(table, undefined, say) === undefined ? TEXTS[status] : "paused";
  const text = key === undefined ? "" : say(key);
  return <p class="connection" role="status" data-status={status}>{text}</p>;
}
