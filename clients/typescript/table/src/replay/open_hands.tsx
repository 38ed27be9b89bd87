// The hands of all seats, small and open.
import type { Words } from "@croupier/client";
import type { TableView } from "@croupier/client/contract";

import { CardFront } from "../cards/card.js";
import { faceOf } from "../cards/face.js";
import { handCards } from "../table/hand.js";

export function OpenHands({ view, words, label }: { readonly view: TableView; readonly words: Words; readonly label: string }) {
  return (
    <ul class="open-hands" aria-label={label}>
      {view.seats.map(({ cards }, seat) => (
        <li key={seat} data-to-act={view.seatsToAct.includes(seat)} aria-label={`${words.seat(seat)}: ${words.cards(cards)}`}>
          <span class="open-name">{words.seat(seat)}</span>
          <span class="open-cards" data-place={`hand:${seat}`}>
            {handCards(cards, view.cardOrder, () => false, []).map(({ card, copy }) => (
              <span key={`${card} ${copy}`} data-card={card}><CardFront face={faceOf(card, words.game)} /></span>
            ))}
          </span>
        </li>
      ))}
    </ul>
  );
}
