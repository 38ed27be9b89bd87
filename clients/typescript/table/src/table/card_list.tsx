// Cards in a row, each with the seat from whose hand it came.
import type { Words } from "@croupier/client";
import type { Pile } from "@croupier/client/contract";

import { CardFront } from "../cards/card.js";
import { faceOf } from "../cards/face.js";

export function CardList({ cards, words }: { readonly cards: Pile["cards"]; readonly words: Words }) {
  return (
    <ul class="card-list">
      {cards.map(({ card, seat }, position) => (
        <li key={position} aria-label={words.card(card)}>
          <CardFront face={faceOf(card, words.game)} />
          {seat !== undefined && <span>{words.seat(seat)}</span>}
        </li>
      ))}
    </ul>
  );
}
