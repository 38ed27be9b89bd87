// The cards of a pile that the viewer may know.
import { type Words } from "@croupier/client";
import { type Pile, WordKind } from "@croupier/client/contract";

import { Sheet } from "../dialogs.js";
import { useSay } from "../texts/page_texts.js";
import { CardList } from "./card_list.js";

export function PileSheet({ pile, words, close }: { readonly pile: Pile; readonly words: Words; readonly close: () => void }) {
  const say = useSay();
  const { cards, count, name, owner } = pile;
  return (
    <Sheet title={`${words.owned(WordKind.PILE, name, owner)}, ${words.cards([], count)}`} close={close}>
      {cards.length === 0 && <p>{say("noCards")}</p>}
      <CardList cards={cards} words={words} />
    </Sheet>
  );
}
