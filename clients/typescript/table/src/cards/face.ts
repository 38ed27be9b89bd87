// The faces of cards: those of the standard deck, the joker, and those of a game's own deck.
import { Card, type CardFace, type GameDescription } from "@croupier/client/contract";

export type SuitName = "clubs" | "diamonds" | "hearts" | "spades";

/** A card as it is drawn. */
export interface Face {
  /** The corner: a rank, or the notation of a card of a game's own deck. */
  readonly corner: string;
  /** The suit of the standard deck. */
  readonly suit?: SuitName;
  /** The name of the suit in a game's own deck, which chooses the colour. */
  readonly colour?: string;
  /** The text on a card of a game's own deck. */
  readonly label?: string;
}

export const SUITS: readonly SuitName[] = ["clubs", "diamonds", "hearts", "spades"];
const RANKS = ["2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K", "A"];

/** Return the face of a card. */
export function faceOf(card: Card, game: GameDescription): Face {
  const own = game.deck.find(({ number }) => number === card);
  if (own !== undefined) return ownFace(own);
  if (card === Card.JOKER) return { corner: "★" };
  const suit = SUITS[Math.floor((card - 1) / RANKS.length)];
  const corner = RANKS[(card - 1) % RANKS.length];
  return suit === undefined || corner === undefined ? { corner: `${card}` } : { corner, suit };
}

function ownFace({ rank, suit, label, notation }: CardFace): Face {
  return { corner: rank.length > 0 && rank.length < 3 ? rank : notation, colour: suit, label };
}
