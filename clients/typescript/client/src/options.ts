// What cards of the hand may become: the choices, and the listed actions with cards, each with the cards that it may have.
import { create } from "@bufbuild/protobuf";

import { type Action, type ActionChoice, ActionSchema, type LegalActions } from "./generated/croupier_api/v1/actions_pb.js";
import type { Card } from "./generated/croupier_api/v1/cards_pb.js";
import { complete, standsPat } from "./choices.js";

/** A choice, or a listed action with cards of the hand. */
export interface Option {
  /** The action; that of a choice lacks what is to be chosen. */
  readonly action: Action;
  /** The cards that it may have, each as often as it may have it. */
  readonly cards: readonly Card[];
  /** The least number of its cards. */
  readonly minCards: number;
  /** The greatest number of its cards. */
  readonly maxCards: number;
  /** The number of the choice; undefined for a listed action. */
  readonly choice: number | undefined;
  /** Whether nothing is to be chosen but all the cards: then the action has them already. */
  readonly isSettled: boolean;
}

/** Return the options of legal actions: the choices, then the listed actions. */
export function optionsOf(legal: LegalActions): readonly Option[] {
  const listed = legal.actions.filter((action) => cardsOf(action).length > 0);
  return [...legal.choices.map((choice, index) => optionOf(legal, choice, index)), ...listed.map(listedOption)];
}

/** Return the listed actions without cards of the hand, and without a choice of no cards: each is for a button. */
export function others(legal: LegalActions): readonly Action[] {
  const isSwapOfNone = legal.choices.some((choice) => standsPat(legal, choice));
  return legal.actions.filter((action) => cardsOf(action).length === 0 && !(isSwapOfNone && action.verb.case === "standPat"));
}

/** Return whether cards are among those of an option, be they more than it may have. */
export function hasAll({ cards }: Option, chosen: readonly Card[]): boolean {
  return chosen.every((card) => count(cards, card) >= count(chosen, card));
}

/** Return whether an option may have these cards, perhaps with further ones. */
export function fits(option: Option, chosen: readonly Card[]): boolean {
  return chosen.length <= option.maxCards && hasAll(option, chosen);
}

/** Return whether a suit, an amount or a seat is to be chosen. */
export function hasParts({ suits, amount, seats }: ActionChoice): boolean {
  return suits.length > 0 || amount !== undefined || seats.length > 0;
}

function optionOf(legal: LegalActions, choice: ActionChoice, index: number): Option {
  const { cards = [], minCards = 0, maxCards = 0 } = choice.cards ?? {};
  if (cards.length > 0 && minCards === cards.length && !hasParts(choice)) {
    return { ...listedOption(complete(choice, { cards })), choice: index };
  }
  const least = standsPat(legal, choice) ? 0 : minCards;
  return { action: choice.action ?? create(ActionSchema), cards, minCards: least, maxCards, choice: index, isSettled: false };
}

function listedOption(action: Action): Option {
  const cards = cardsOf(action);
  return { action, cards, minCards: cards.length, maxCards: cards.length, choice: undefined, isSettled: true };
}

/** Return the cards of the hand that an action is about; a called card is not one of them. */
function cardsOf({ verb }: Action): readonly Card[] {
  switch (verb.case) {
    case "play":
      return [verb.value.card];
    case "keepCards":
    case "swapCards":
    case "lay":
    case "declareWord":
      return verb.value.cards;
    default:
      return [];
  }
}

function count<T>(values: readonly T[], value: T): number {
  return values.filter((other) => other === value).length;
}
