// All piles of the table as lines of text, with the last trick that was seen.
import { type Words, shownPiles } from "@croupier/client";
import type { Pile } from "@croupier/client/contract";

import { Sheet } from "../dialogs.js";
import type { LastTrick } from "../motion/scenes.js";
import { useSay } from "../texts/page_texts.js";
import { CardList } from "./card_list.js";

interface PilesSheetProps {
  readonly piles: readonly Pile[];
  readonly lastTrick: LastTrick | undefined;
  readonly words: Words;
  readonly close: () => void;
}

export function PilesSheet({ piles, lastTrick, words, close }: PilesSheetProps) {
  const say = useSay();
  return (
    <Sheet title={say("cardsOfTable")} close={close}>
      {lastTrick !== undefined && <><h3>{say("lastTrick")}{lastTrick.taker !== undefined && `: ${words.seat(lastTrick.taker)}`}</h3><CardList cards={lastTrick.cards} words={words} /></>}
      <ul class="piles">
        {shownPiles(piles, words).map(({ key, text, more }) => (
          <li key={key}>{more.length === 0 ? text : <details><summary>{text}</summary>{more.join(", ")}</details>}</li>
        ))}
      </ul>
    </Sheet>
  );
}
