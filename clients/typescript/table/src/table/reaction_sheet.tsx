// The reactions that a player can send.
import type { Table } from "@croupier/client";
import type { Reaction } from "@croupier/client/contract";

import { useShared } from "../connection.js";
import { Sheet } from "../dialogs.js";
import { useSay } from "../texts/page_texts.js";

interface ReactionSheetProps {
  readonly table: Table;
  readonly close: () => void;
  readonly fail: (error: unknown) => void;
}

export function ReactionSheet({ table, close, fail }: ReactionSheetProps) {
  const { reactions } = useShared();
  const say = useSay();
  const send = (reaction: Reaction) => {
    close();
    void table.react(reaction).catch(fail);
  };
  return (
    <Sheet title={say("react")} close={close}>
      <div class="reactions">
        {reactions.map(({ reaction, emoji, text }) => (
          <button key={reaction} type="button" aria-label={text} title={text} onClick={() => send(reaction)}>{emoji}</button>
        ))}
      </div>
    </Sheet>
  );
}
