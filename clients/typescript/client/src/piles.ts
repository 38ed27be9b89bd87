// Piles as lines of text for people: in the order of the game, and each as the game shows it.
import type { Expandable } from "./expandable.js";
import type { Pile } from "./generated/croupier_api/v1/facts_pb.js";
import { PileDisplay, WordKind } from "./generated/croupier_api/v1/games_pb.js";
import { type Words, texts } from "./words.js";

/** Return piles by role, those that the game does not describe last; each with the cards that it shows on demand. */
export function shownPiles(piles: readonly Pile[], words: Words): Expandable[] {
  const { piles: described } = words.game;
  const positionOf = ({ name }: Pile) => {
    const position = described.findIndex((pile) => pile.name === name);
    return position < 0 ? described.length : position;
  };
  const ordered = [...piles].sort((one, other) => positionOf(one) - positionOf(other));
  return ordered.map((pile) => shownPile(pile, described[positionOf(pile)]?.display, words));
}

function shownPile(pile: Pile, display: PileDisplay | undefined, words: Words): Expandable {
  const { name, owner, count, cards, faceDown } = pile;
  const heading = words.owned(WordKind.PILE, name, owner);
  const known = cards.map(({ card, seat }) => words.card(card) + (seat === undefined ? "" : ` (${words.seat(seat)})`));
  const isWhole = known.length === count;
  const isShort = display === PileDisplay.TOP || display === PileDisplay.COUNT;
  // Of a pile that is known in part, no card need be the one on top.
  const shown = !isWhole || display === PileDisplay.COUNT ? [] : known.slice(isShort ? -1 : 0);
  return {
    key: `${name} ${owner ?? ""}`,
    text: texts(
      shown.length === 0 ? heading : `${heading}: ${shown.join(", ")}`,
      shown.length < count && words.cards([], count),
      !isShort && !isWhole && known.length > 0 && words.say("amongThem", { cards: known.join(", ") }),
      faceDown && words.say("faceDown"),
    ),
    more: isShort && shown.length < known.length ? known : [],
  };
}
