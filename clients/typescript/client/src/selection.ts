// What a person has chosen of the legal actions, card by card and part by part.
import type { Action, ActionChoice, LegalActions } from "./generated/croupier_api/v1/actions_pb.js";
import type { Card, Suit } from "./generated/croupier_api/v1/cards_pb.js";
import { type Parts, complete } from "./choices.js";
import { type Option, fits, hasAll, optionsOf } from "./options.js";

/** The parts of a choice that are still to be chosen. */
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

/** What the chosen cards may become, perhaps with further ones: a choice, or a listed action with cards of the hand. */
export interface Candidate {
  /** The action if it is whole, else that of the choice without its parts. */
  readonly action: Action;
  /** Whether the action is whole. A listed one always is: it has all its cards, also those that are not chosen yet. */
  readonly isWhole: boolean;
  /** The least number of its cards. */
  readonly minCards: number;
  /** The greatest number of its cards. */
  readonly maxCards: number;
  /** The number of the choice, for `withChoice`; undefined for a listed action. */
  readonly choice: number | undefined;
}

type Chosen = Parts & { readonly cards: readonly Card[] };

/** The cards of the hand and the parts of a choice that a person has chosen so far; it never changes. */
export class Selection {
  private constructor(
    /** The legal actions of the turn. */
    readonly legal: LegalActions,
    /** The number of the choice to which `withChoice` has limited the selection; undefined for all that is legal. */
    readonly limitedTo: number | undefined,
    private readonly options: readonly Option[],
    private readonly parts: Chosen,
  ) {}

  /** Return the selection of nothing but what leaves no choice. */
  static of(legal: LegalActions): Selection {
    return new Selection(legal, undefined, optionsOf(legal), { cards: [] }).begun();
  }

  /** The first choice that the chosen cards may become, whose parts are chosen; undefined without one. */
  get choice(): ActionChoice | undefined {
    return this.option?.choice === undefined ? undefined : this.legal.choices[this.option.choice];
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

  /** The parts of `choice` that are still to be chosen. */
  get missing(): Missing {
    const { option, choice, parts } = this;
    const chosen = parts.cards.length;
    return {
      minCards: Math.max(0, (option?.minCards ?? 0) - chosen),
      maxCards: Math.max(0, (option?.maxCards ?? 0) - chosen),
      suit: choice !== undefined && choice.suits.length > 0 && parts.suit === undefined,
      amount: choice?.amount !== undefined && parts.amount === undefined,
      seat: choice !== undefined && choice.seats.length > 0 && parts.seat === undefined,
    };
  }

  /** The whole action of `choice`; undefined as long as a part is missing, and for a choice newer than this client. */
  get action(): Action | undefined {
    const { choice, parts } = this;
    const { minCards, suit, amount, seat } = this.missing;
    if (choice === undefined || minCards > 0 || suit || amount || seat) return undefined;
    try {
      return complete(choice, { ...parts, cards: choice.cards && parts.cards });
    } catch {
      return undefined;
    }
  }

  /** All that the chosen cards may become: choices, then listed actions. */
  get candidates(): readonly Candidate[] {
    return this.options.filter((option) => fits(option, this.selected)).map((option) => this.candidateOf(option));
  }

  /** Return whether a tap on a card changes the selection. */
  isSelectable(card: Card): boolean {
    const { selected } = this;
    return selected.includes(card) || this.fits([...selected, card]) || this.beginsAnew(card);
  }

  /**
   * Return the selection after a tap on a card. It adds the card, or its next copy if there are several, or after the last
   * one removes all copies. A card that goes with none of the chosen ones begins anew, and where one card is to be chosen
   * it takes the place of another one. A card that is not selectable changes nothing.
   */
  toggle(card: Card): Selection {
    const { selected } = this;
    if (this.fits([...selected, card])) return this.withCards([...selected, card]);
    if (selected.includes(card)) return this.withCards(selected.filter((chosen) => chosen !== card));
    return this.beginsAnew(card) ? this.withCards([card]) : this;
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

  /** Return the selection for one of the legal choices only, with the chosen cards if it may have them; throws RangeError. */
  withChoice(index: number): Selection {
    const { legal, selected } = this;
    const options = optionsOf(legal).filter(({ choice }) => choice === index);
    if (options.length === 0) throw new RangeError(`invalid choice ${index}: expected 0 to ${legal.choices.length - 1}`);
    const none = new Selection(legal, index, options, { cards: [] });
    return (none.fits(selected) ? none.with({ cards: selected }) : none).begun();
  }

  /** The option of `choice`. */
  private get option(): Option | undefined {
    return this.options.find((option) => option.choice !== undefined && fits(option, this.selected));
  }

  private candidateOf(option: Option): Candidate {
    const { action, minCards, maxCards, choice, isSettled } = option;
    const alone = new Selection(this.legal, this.limitedTo, [option], this.parts);
    const whole = isSettled ? action : (choice === this.option?.choice ? alone : alone.begun()).action;
    return { action: whole ?? action, isWhole: whole !== undefined, minCards, maxCards, choice };
  }

  private fits(cards: readonly Card[]): boolean {
    return this.options.some((option) => fits(option, cards));
  }

  /** Return whether a card may take the place of all that are chosen: it goes with none of them, or they are one. */
  private beginsAnew(card: Card): boolean {
    const { selected, options } = this;
    return this.fits([card]) && (selected.length === 1 || !options.some((option) => hasAll(option, [...selected, card])));
  }

  private withCards(cards: readonly Card[]): Selection {
    const next = this.with({ cards });
    return next.choice === this.choice ? next : next.begun();
  }

  /** Return the selection with these cards, and of `choice` only the parts that leave no choice. */
  private begun(): Selection {
    return this.with(startOf(this.choice));
  }

  private with(parts: Partial<Chosen>): Selection {
    return new Selection(this.legal, this.limitedTo, this.options, { ...this.parts, ...parts });
  }
}

/** Return the selection of nothing; a part that leaves no choice is chosen. */
export function selectionOf(legal: LegalActions): Selection {
  return Selection.of(legal);
}

/** Return the parts of a choice that leave no choice. */
function startOf(choice: ActionChoice | undefined): Omit<Parts, "cards"> {
  const { minAmount, maxAmount } = choice?.amount ?? {};
  return { suit: only(choice?.suits), amount: minAmount === maxAmount ? minAmount : undefined, seat: only(choice?.seats) };
}

function only<T>(values: readonly T[] = []): T | undefined {
  return values.length === 1 ? values[0] : undefined;
}

function one<T extends number>(part: string, value: T, values: readonly T[]): T {
  if (!values.includes(value)) throw new RangeError(`invalid ${part} ${value}: expected one of ${values.join(", ")}`);
  return value;
}
