// The cards of a pile that the viewer may know.
import { type Words } from "@croupier/client";
import { type Pile, WordKind } from "@croupier/client/contract";

import { CardFront } from "../cards/card.js";
import { faceOf } from "../cards/face.js";
import { Sheet } from "../dialogs.js";
import { useSay } from "../texts/page_texts.js";

export function PileSheet({ pile, words, close }: { readonly pile: Pile; readonly words: Words; readonly close: () => void }) {
  const say = useSay();
  const { cards, count, name, owner } = pile;
  return (
    <Sheet title={`${words.owned(WordKind.PILE, name, owner)}, ${words.cards([], count)}`} close={close}>
      {cards.length === 0 && <p>{say("noCards")}</p>}
      <ul class="card-list">
        {cards.map(({ card, seat }, position) => (
          <li key={position} aria-label={words.card(card)}>
            <CardFront face={faceOf(card, words.game)} />
            {seat !== undefined && <span>{words.seat(seat)}</span>}
          </li>
        ))}
      </ul>
    </Sheet>
  );
}
