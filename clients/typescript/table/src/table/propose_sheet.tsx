// What a proposal means, before it is made.
import type { Table, Words } from "@croupier/client";
import { type ProposalDescription, WordKind } from "@croupier/client/contract";

import { Sheet } from "../dialogs.js";
import { useSay } from "../texts/page_texts.js";

interface ProposeSheetProps {
  readonly table: Table;
  readonly proposal: ProposalDescription;
  readonly words: Words;
  readonly close: () => void;
  readonly fail: (error: unknown) => void;
}

export function ProposeSheet({ table, proposal: { name, meaning }, words, close, fail }: ProposeSheetProps) {
  const say = useSay();
  const propose = () => {
    close();
    void table.propose(name).catch(fail);
  };
  return (
    <Sheet title={words.word(WordKind.PROPOSAL, name)} close={close}>
      <p>{meaning}</p>
      <p>{say("allMustAgree")}</p>
      <div class="sheet-buttons">
        <button type="button" class="primary" onClick={propose}>{say("propose")}</button>
        <button type="button" onClick={close}>{say("cancel")}</button>
      </div>
    </Sheet>
  );
}
