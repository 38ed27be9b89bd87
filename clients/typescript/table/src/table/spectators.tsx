// Who watches: the number of spectators, and a spectator's own part.
import type { Table } from "@croupier/client";

import { Icon } from "../icons.js";
import { useSay } from "../texts/page_texts.js";

export function Spectators({ table: { presence, seat } }: { readonly table: Table }) {
  const say = useSay();
  const count = presence?.spectatorCount ?? 0;
  const label = say("spectators", { count });
  return (
    <p class="watchers">
      {seat === undefined && say("watchingNow")}
      {count > 0 && <span role="img" aria-label={label} title={label}><Icon name="eye" /> {count}</span>}
    </p>
  );
}
