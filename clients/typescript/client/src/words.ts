// The words of a game for people, without knowing the game: cards, seats, values, piles, marks and contracts.
import type { JsonValue } from "@bufbuild/protobuf";

import { Card, Suit } from "./generated/croupier_api/v1/cards_pb.js";
import type { Contract, Mark, Phrase, Place, RankGroup, Value } from "./generated/croupier_api/v1/facts_pb.js";
import { type GameDescription, WordKind } from "./generated/croupier_api/v1/games_pb.js";
import { type Language, type Values, fill, sentence } from "./languages.js";
import type { Texts } from "./texts/en.js";

const RANKS = ["2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K", "A"];
/** The ranks in notation, by which a game may name a card. */
const NOTATION = "23456789TJQKA";
const SUIT_LETTERS = "CDHS";
const SUIT_SIGNS = "♣♦♥♠";
const JOKER = "JK";
/** Stands for a value that has no cards, seats or numbers, and for one that is removed. */
const EMPTY = "–";

/** Texts of a game in a language, at a table whose seats have these names. */
export class Words {
  private readonly labels: ReadonlyMap<number, string>;
  private readonly separator: string;
  private readonly texts: ReadonlyMap<string, string>;
  private readonly listed: Intl.ListFormat;

  constructor(
    /** The game, with its words in the language. */
    readonly game: GameDescription,
    /** The language of the client's own sentences. */
    readonly language: Language,
    private readonly names: readonly string[] = [],
  ) {
    this.texts = new Map(game.words.map(({ kind, word, text }) => [keyOf(kind, word), text]));
    this.labels = new Map(game.deck.map(({ number, label, notation }) => [number, label || this.word(WordKind.CARD, notation)]));
    this.separator = game.deck.length === 0 ? " " : ", ";
    this.listed = new Intl.ListFormat(language, { type: "conjunction" });
  }

  /** Return a sentence of the client in the language. */
  say<Key extends keyof Texts>(key: Key, ...values: Values<Key>): string {
    return sentence(this.language, key, ...values);
  }

  /** Return the text of a word; one that the game does not describe as it is, with blanks. */
  word(kind: WordKind, word: string): string {
    return this.texts.get(keyOf(kind, word)) ?? word.replaceAll("_", " ");
  }

  /** Return the text of a refusal by a rule; undefined if the game does not describe it. */
  rule(rule: string): string | undefined {
    return this.texts.get(keyOf(WordKind.RULE, rule));
  }

  /** Return an option with a value. */
  option(name: string, value: JsonValue): string {
    return `${this.word(WordKind.OPTION, name)}: ${this.optionValue(name, value)}`;
  }

  /** Return a move of cards in the game's own words; undefined if it has none. */
  move(word: string, seat: number | undefined, cards: string): string | undefined {
    const text = this.texts.get(keyOf(WordKind.CARD_MOVE, word));
    return text && fill(text, new Map([["seat", seat === undefined ? EMPTY : this.seat(seat)], ["cards", cards]]));
  }

  /** Return a value of an option. */
  optionValue(option: string, value: JsonValue): string {
    if (typeof value === "boolean") return this.say(value ? "accepted" : "declined");
    const word = `${value}`;
    return this.texts.get(keyOf(WordKind.OPTION_CHOICE, `${option}.${word}`)) ?? word.replaceAll("_", " ");
  }

  /** Return the name at a seat, or its number if the name is not known. */
  seat(seat: number): string {
    return this.names[seat] || this.say("seat", { number: seat + 1 });
  }

  /** Return the names at seats as a list. */
  seats(seats: readonly number[]): string {
    return this.listed.format(seats.map((seat) => this.seat(seat)));
  }

  /** Return groups of seats, best first, with their places. */
  ranking(groups: readonly RankGroup[]): string {
    let place = 1;
    const ranked = groups.map(({ seats }) => {
      const text = `${place}. ${this.seats(seats)}`;
      place += seats.length;
      return text;
    });
    return ranked.join(", ");
  }

  /** Return a card as its game labels it, for example "Red seven", or with rank and suit, for example "7♥". */
  card(card: Card): string {
    const label = this.labels.get(card);
    if (label !== undefined) return label;
    if (card === Card.JOKER) return this.word(WordKind.CARD, JOKER);
    if (card < Card.TWO_OF_CLUBS || card > Card.ACE_OF_SPADES) return this.say("card", { number: card });
    const [rank, suit] = [(card - 1) % RANKS.length, Math.floor((card - 1) / RANKS.length)];
    const notation = NOTATION.charAt(rank) + SUIT_LETTERS.charAt(suit);
    return this.texts.get(keyOf(WordKind.CARD, notation)) ?? `${RANKS[rank]}${SUIT_SIGNS.charAt(suit)}`;
  }

  /** Return the cards, or how many they are if they are not known. */
  cards(cards: readonly Card[], count = cards.length): string {
    if (cards.length > 0) return cards.map((card) => this.card(card)).join(this.separator);
    return this.say("cards", { count });
  }

  /** Return a suit as its sign. */
  suit(suit: Suit): string {
    return SUIT_SIGNS.charAt(suit - 1) || this.say("unknown");
  }

  /** Return a value by its kind. */
  value({ value }: Value): string {
    switch (value.case) {
      case "number":
        return `${value.value}`;
      case "word":
        return this.word(WordKind.VALUE, value.value);
      case "seat":
        return this.seat(value.value);
      case "seats":
        return this.seats(value.value.seats) || EMPTY;
      case "suit":
        return value.value === Suit.UNSPECIFIED ? EMPTY : this.suit(value.value);
      case "cards":
        return value.value.cards.length === 0 ? EMPTY : this.cards(value.value.cards);
      case "points":
        return this.points(value.value.points) || EMPTY;
      default:
        return this.say("unknown");
    }
  }

  /** Return a number for each seat, each with a remark if there is one. */
  points(points: readonly number[], remarks: readonly string[] = []): string {
    return points.map((number, seat) => `${this.seat(seat)} ${number}${remarks[seat] ? ` (${remarks[seat]})` : ""}`).join(", ");
  }

  /** Return phrases in one line. */
  phrases(phrases: readonly Phrase[]): string {
    return phrases.map((phrase) => this.phrase(phrase)).join(", ");
  }

  private phrase({ word, parameters: inserted }: Phrase): string {
    const values = inserted.map(({ name, value }) => [name, this.optional(value)] as const);
    const text = this.texts.get(keyOf(WordKind.PHRASE, word));
    if (text !== undefined) return fill(text, new Map(values));
    const shown = values.map(([, value]) => value).join(", ");
    return shown === "" ? word.replaceAll("_", " ") : `${word.replaceAll("_", " ")}: ${shown}`;
  }

  private optional(value: Value | undefined): string {
    return value === undefined ? EMPTY : this.value(value);
  }

  /** Return a name, with the seat that it belongs to. */
  owned(kind: WordKind, name: string, seat: number | undefined): string {
    return this.word(kind, name) + (seat === undefined ? "" : ` (${this.seat(seat)})`);
  }

  /** Return a mark; one without a value is removed. */
  mark({ name, seat, value }: Mark): string {
    return `${this.owned(WordKind.MARK, name, seat)}: ${this.optional(value)}`;
  }

  /** Return a contract with its trump suit, declarer and partner, as far as they are known. */
  contract({ declarer, partner, name, amount, trump }: Contract): string {
    const role = (term: string, seat: number | undefined) =>
      seat !== undefined && `${this.word(WordKind.TERM, term)}: ${this.seat(seat)}`;
    return texts(
      [name && this.word(WordKind.CONTRACT, name), amount?.toString()].filter(Boolean).join(": "),
      trump !== undefined && this.trump(trump),
      role("declarer", declarer),
      role("partner", partner),
    );
  }

  /** Return a suit as the trump suit; UNSPECIFIED is no trump. */
  trump(suit: Suit): string {
    return suit === Suit.UNSPECIFIED ? this.say("noTrump") : this.say("trump", { suit: this.suit(suit) });
  }

  /** Return the heading of a round, with its number. */
  round(round: number): string {
    return `${this.word(WordKind.TERM, "round")} ${round}`;
  }

  /** Return a place of cards: a hand, a pile, or the box. */
  place(place: Place | undefined): string {
    if (place?.place.case === "hand") return this.seat(place.place.value);
    return place?.place.case === "pile" ? this.owned(WordKind.PILE, place.place.value, place.owner) : this.say("box");
  }
}

function keyOf(kind: WordKind, word: string): string {
  return `${kind} ${word}`;
}

/** Join the parts of a line that there are. */
export function texts(...parts: readonly (string | false | undefined)[]): string {
  return parts.filter(Boolean).join(", ");
}
