// What a person has chosen of a legal action, part by part, and which listed actions are about a card.
import type { Action, ActionChoice, LegalActions } from "./generated/croupier_api/v1/actions_pb.js";
import type { Card, Suit } from "./generated/croupier_api/v1/cards_pb.js";
import { type Parts, complete, standsPat } from "./choices.js";

/** The parts of an action that are still to be chosen. */
export interface Missing {
  /** The least number of further cards. */
  readonly minCards: number;
  /** The greatest number of further cards. */
  readonly maxCards: number;
  /** Whether a suit is to be chosen. */
  readonly suit: boolean;
  /** Whether an amount is to be chosen. */
  readonly amount: boolean;
  /** Whether a seat is to be chosen. */
  readonly seat: boolean;
}

/** The parts that a person has chosen so far of one of the choices of legal actions; it never changes. */
export class Selection {
  private constructor(
    /** The legal actions of the turn. */
    readonly legal: LegalActions,
    private readonly index: number,
    private readonly parts: Parts & { readonly cards: readonly Card[] },
  ) {}

  /** Return the selection of nothing but what leaves no choice; throws RangeError without such a choice. */
  static of(legal: LegalActions, index: number): Selection {
    const choice = legal.choices[index];
    if (choice === undefined && index !== 0) {
      throw new RangeError(`invalid choice ${index}: expected 0 to ${legal.choices.length - 1}`);
    }
    const [suit, seat] = [only(choice?.suits), only(choice?.seats)];
    const { minAmount, maxAmount } = choice?.amount ?? {};
    return new Selection(legal, index, { cards: [], suit, seat, amount: minAmount === maxAmount ? minAmount : undefined });
  }

  /** The choice whose parts are chosen; undefined if the legal actions have none. */
  get choice(): ActionChoice | undefined {
    return this.legal.choices[this.index];
  }

  /** The chosen cards, in the order of their choosing. */
  get selected(): readonly Card[] {
    return this.parts.cards;
  }

  /** The chosen suit. */
  get suit(): Suit | undefined {
    return this.parts.suit;
  }

  /** The chosen amount. */
  get amount(): number | undefined {
    return this.parts.amount;
  }

  /** The chosen seat. */
  get seat(): number | undefined {
    return this.parts.seat;
  }

  /** The parts that are still to be chosen. */
  get missing(): Missing {
    const { choice, parts } = this;
    const { maxCards = 0 } = choice?.cards ?? {};
    return {
      minCards: Math.max(0, this.minCards - parts.cards.length),
      maxCards: maxCards - parts.cards.length,
      suit: choice !== undefined && choice.suits.length > 0 && parts.suit === undefined,
      amount: choice?.amount !== undefined && parts.amount === undefined,
      seat: choice !== undefined && choice.seats.length > 0 && parts.seat === undefined,
    };
  }

  /** The whole action, which is legal; undefined as long as a part is missing, and for a choice newer than this client. */
  get action(): Action | undefined {
    const { choice } = this;
    const { minCards, suit, amount, seat } = this.missing;
    if (choice === undefined || minCards > 0 || suit || amount || seat) return undefined;
    try {
      return complete(choice, { ...this.parts, cards: choice.cards && this.parts.cards });
    } catch {
      return undefined;
    }
  }

  /** Return whether a tap on a card changes the selection. */
  isSelectable(card: Card): boolean {
    const { cards } = this.parts;
    return cards.includes(card) || (this.hasCopy(card) && (this.missing.maxCards > 0 || cards.length === 1));
  }

  /**
   * Return the selection after a tap on a card. It adds the card, or its next copy if there are several, or after the last
   * one removes all copies; where one card is to be chosen, it takes the place of another one. A card that is not
   * selectable changes nothing.
   */
  toggle(card: Card): Selection {
    if (!this.isSelectable(card)) return this;
    const { cards } = this.parts;
    const isFull = this.missing.maxCards === 0;
    if (this.hasCopy(card) && !isFull) return this.with({ cards: [...cards, card] });
    return this.with({ cards: cards.includes(card) ? cards.filter((chosen) => chosen !== card) : [card] });
  }

  /** Return the selection with a suit; throws RangeError for one that is not to be chosen. */
  withSuit(suit: Suit): Selection {
    return this.with({ suit: one("suit", suit, this.choice?.suits ?? []) });
  }

  /** Return the selection with an amount; throws RangeError for one that is not to be chosen. */
  withAmount(amount: number): Selection {
    const { minAmount = 0, maxAmount = -1, step = 1 } = this.choice?.amount ?? {};
    const isAmong = amount >= minAmount && amount <= maxAmount && (amount - minAmount) % step === 0;
    if (!isAmong) throw new RangeError(`invalid amount ${amount}: expected ${minAmount} to ${maxAmount} in steps of ${step}`);
    return this.with({ amount });
  }

  /** Return the selection with a seat; throws RangeError for one that is not to be chosen. */
  withSeat(seat: number): Selection {
    return this.with({ seat: one("seat", seat, this.choice?.seats ?? []) });
  }

  /** Return the selection of nothing in another one of the legal choices; throws RangeError if there is none. */
  withChoice(index: number): Selection {
    return Selection.of(this.legal, index);
  }

  /** The least number of cards of the action. */
  get minCards(): number {
    const { choice } = this;
    return choice !== undefined && standsPat(this.legal, choice) ? 0 : (choice?.cards?.minCards ?? 0);
  }

  /** Return whether a copy of a card is not chosen yet. */
  private hasCopy(card: Card): boolean {
    return count(this.choice?.cards?.cards ?? [], card) > count(this.parts.cards, card);
  }

  private with(parts: Partial<Parts & { readonly cards: readonly Card[] }>): Selection {
    return new Selection(this.legal, this.index, { ...this.parts, ...parts });
  }
}

/** Return the selection of nothing in the first of the legal choices; a part that leaves no choice is chosen. */
export function selectionOf(legal: LegalActions): Selection {
  return Selection.of(legal, 0);
}

/** Return the listed actions that are about exactly this card of the hand, for a tap on it: to play it, or to lay it. */
export function playsOf(legal: LegalActions, card: Card): readonly Action[] {
  return legal.actions.filter((action) => cardOf(action) === card);
}

/** Return the listed actions that are about no single card of the hand, and no choice of no cards, for buttons. */
export function others(legal: LegalActions): readonly Action[] {
  const isSwapOfNone = legal.choices.some((choice) => standsPat(legal, choice));
  return legal.actions.filter((action) => cardOf(action) === undefined && !(isSwapOfNone && action.verb.case === "standPat"));
}

/** Return the card of the hand that an action is about; undefined for none and for several, and for a called card. */
function cardOf({ verb }: Action): Card | undefined {
  switch (verb.case) {
    case "play":
      return verb.value.card;
    case "keepCards":
    case "swapCards":
    case "lay":
    case "declareWord":
      return only(verb.value.cards);
    default:
      return undefined;
  }
}

function only<T>(values: readonly T[] = []): T | undefined {
  return values.length === 1 ? values[0] : undefined;
}

function one<T extends number>(part: string, value: T, values: readonly T[]): T {
  if (!values.includes(value)) throw new RangeError(`invalid ${part} ${value}: expected one of ${values.join(", ")}`);
  return value;
}

function count<T>(values: readonly T[], value: T): number {
  return values.filter((other) => other === value).length;
}
