// The points, tricks and marks of the person's own seat, beside their hand.
import type { Words } from "@croupier/client";
import type { TableView } from "@croupier/client/contract";

import { useSay } from "../texts/page_texts.js";
import { seatMarks } from "./seat_marks.js";

interface OwnStateProps {
  readonly view: TableView;
  readonly seat: number;
  readonly words: Words;
  readonly open: () => void;
}

export function OwnState({ view, seat, words, open }: OwnStateProps) {
  const say = useSay();
  const state = view.seats[seat];
  if (state === undefined) return null;
  const isDeclarer = view.contract?.declarer === seat;
  return (
    <button type="button" class="own-state" data-place={`taken:${seat}`} onClick={open}>
      {isDeclarer && <span class="declarer">◆</span>}
      {view.dealer === seat && <span>{words.say("isDealer")}</span>}
      {words.game.hasTricks && <span>{words.say("tricks", { count: state.tricksTaken })}</span>}
      <span>{say("ownScore", { score: state.score })}</span>
      {seatMarks(view, seat, words).map((mark) => <span key={mark}>{mark}</span>)}
    </button>
  );
}
