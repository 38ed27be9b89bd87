// A link with which others may watch the table.
import { useEffect, useState } from "preact/hooks";

import type { Table, Words } from "@croupier/client";
import { LinkPurpose } from "@croupier/client/contract";

import { Sheet } from "../dialogs.js";
import { refusalText } from "../errors.js";
import { LinkField } from "../link_field.js";
import { hashOf } from "../route.js";
import { useSay } from "../texts/page_texts.js";

export function LinkSheet({ table, words, close }: { readonly table: Table; readonly words: Words; readonly close: () => void }) {
  const say = useSay();
  const [link, setLink] = useState("");
  const [fault, setFault] = useState("");
  useEffect(() => {
    const addressOf = (link: string) => `${location.origin}${location.pathname}${hashOf({ screen: "table", id: table.id, link })}`;
    table.createLink(LinkPurpose.WATCH).then((made) => setLink(addressOf(made)), (error: unknown) => setFault(refusalText(error, words, say)));
  }, [table]);
  return (
    <Sheet title={say("letWatch")} close={close}>
      {fault !== "" && <p role="alert">{fault}</p>}
      {link !== "" && <div class="sheet-buttons"><LinkField link={link} /></div>}
    </Sheet>
  );
}
