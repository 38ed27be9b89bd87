// The words of a game for people, without knowing the game: cards, seats, piles, marks and contracts.
import { Card, Suit } from "./generated/croupier_api/v1/cards_pb";
import type { Contract, Mark, Place, RankGroup } from "./generated/croupier_api/v1/facts_pb";
import type { GameDescription } from "./generated/croupier_api/v1/games_pb";

const RANKS = "23456789TJQKA";
const SUIT_LETTERS = "CDHS";
const SUIT_SIGNS = "♣♦♥♠";
const JOKER = "JK";

/** Texts of a game at a table whose seats have these names. */
export class Words {
  private readonly labels: ReadonlyMap<number, string>;
  private readonly separator: string;

  constructor(
    private readonly game: GameDescription,
    private readonly names: readonly string[] = [],
  ) {
    this.labels = new Map(game.deck.map(({ number, label, notation }) => [number, label || this.word(notation)]));
    this.separator = game.deck.length === 0 ? " " : ", ";
  }

  /** Return a word of the game as players say it; one that the game does not describe as it is. */
  word(word: string): string {
    return this.game.displayNames[word] ?? word.replaceAll("_", " ");
  }

  seat(seat: number): string {
    return this.names[seat] || `seat ${seat}`;
  }

  seats(seats: readonly number[]): string {
    return seats.map((seat) => this.seat(seat)).join(" and ");
  }

  ranking(groups: readonly RankGroup[]): string {
    return groups.map(({ seats }) => this.seats(seats)).join(", then ");
  }

  /** Return a card as its game labels it, for example "Red seven", or with rank and suit, for example "7♥". */
  card(card: Card): string {
    const label = this.labels.get(card);
    if (label !== undefined) return label;
    if (card === Card.JOKER) return this.word(JOKER);
    if (card < Card.TWO_OF_CLUBS || card > Card.ACE_OF_SPADES) return `card ${card}`;
    const [rank, suit] = [RANKS.charAt((card - 1) % RANKS.length), Math.floor((card - 1) / RANKS.length)];
    return this.game.displayNames[rank + SUIT_LETTERS.charAt(suit)] ?? rank + SUIT_SIGNS.charAt(suit);
  }

  /** Return the cards, or how many they are if they are not known. */
  cards(cards: readonly Card[], count = cards.length): string {
    if (cards.length > 0) return cards.map((card) => this.card(card)).join(this.separator);
    return count === 1 ? "1 card" : `${count} cards`;
  }

  suit(suit: Suit): string {
    return this.word((Suit[suit] ?? `suit ${suit}`).toLowerCase());
  }

  /** Return a pile or a mark by its name, with the seat that it belongs to. */
  owned(name: string, seat: number | undefined): string {
    return this.word(name) + (seat === undefined ? "" : ` of ${this.seat(seat)}`);
  }

  mark({ name, seat, value }: Mark): string {
    return `${this.owned(name, seat)}: ${value === "" ? "none" : this.word(value)}`;
  }

  contract({ declarer, partner, name, amount, trump }: Contract): string {
    return texts(
      name && this.word(name),
      amount?.toString(),
      trump === undefined ? "" : trump === Suit.UNSPECIFIED ? "no trump" : `${this.suit(trump)} trump`,
      declarer === undefined ? "" : `declared by ${this.seat(declarer)}`,
      partner === undefined ? "" : `with ${this.seat(partner)}`,
    );
  }

  place(place: Place | undefined): string {
    if (place?.place.case === "hand") return this.seat(place.place.value);
    return place?.place.case === "pile" ? this.owned(place.place.value, place.owner) : "box";
  }
}

/** Join the parts of a line that there are. */
export function texts(...parts: readonly (string | false | undefined)[]): string {
  return parts.filter(Boolean).join(", ");
}
