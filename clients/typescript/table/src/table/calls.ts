// The call at a seat's name.
import type { Call, TableView } from "@croupier/client/contract";

/**
 * Return the call to show at a seat: its last one while the auction goes on, and once a card was played only a word that
 * the seat was the last to say. Undefined for none.
 */
export function callAt(seat: number, { calls, piles }: TableView): Call | undefined {
  const isPlaying = piles.some(({ cards }) => cards.some((card) => card.seat !== undefined));
  if (!isPlaying) return calls.findLast((each) => each.seat === seat);
  const last = calls.at(-1);
  return last?.seat === seat && last.action?.verb.case === "declareWord" ? last : undefined;
}
