// Choices: families of legal actions that are too many to list, and how an action completes one.
import { clone, create } from "@bufbuild/protobuf";

import {
  type Action,
  type ActionChoice,
  ActionSchema,
  type LegalActions,
  StandPatActionSchema,
} from "./generated/croupier_api/v1/actions_pb.js";
import type { Card, Suit } from "./generated/croupier_api/v1/cards_pb.js";

/** The chosen parts of an action; undefined for a part that is not to be chosen. */
export interface Parts {
  /** The cards, in any order. */
  readonly cards?: readonly Card[] | undefined;
  /** The trump suit, or the suit that a card orders. */
  readonly suit?: Suit | undefined;
  /** The amount of a bid, or of a word. */
  readonly amount?: number | undefined;
  /** The seat that a word concerns. */
  readonly seat?: number | undefined;
}

/** Returns a number from 0 up to, but not including, 1; for example Math.random. */
export type Random = () => number;

/**
 * Return the action of a choice with the chosen parts; throws for a choice that is newer than this client.
 *
 * A swap of no cards is to stand pat.
 */
export function complete(choice: ActionChoice, { cards, suit, amount, seat }: Parts): Action {
  if (choice.action === undefined) throw new Error("a choice without action");
  const action = clone(ActionSchema, choice.action);
  if (cards !== undefined) setCards(action, cards);
  if (suit !== undefined) setSuit(action, suit);
  if (amount !== undefined) setAmount(action, amount);
  if (seat !== undefined) setSeat(action, seat);
  return action;
}

function setCards(action: Action, cards: readonly Card[]): void {
  const { verb } = action;
  switch (verb.case) {
    case "keepCards":
    case "swapCards":
    case "lay":
    case "declareWord":
      verb.value.cards = [...cards];
      if (verb.case === "swapCards" && cards.length === 0) {
        action.verb = { case: "standPat", value: create(StandPatActionSchema) };
      }
      return;
    default:
      throw newer("cards", verb.case);
  }
}

function setSuit({ verb }: Action, suit: Suit): void {
  if (verb.case === "play") verb.value.suit = suit;
  else if (verb.case === "keepCards" || verb.case === "nameTrump") verb.value.trump = suit;
  else throw newer("suit", verb.case);
}

function setAmount({ verb }: Action, amount: number): void {
  if (verb.case === "bid") verb.value.bid = { case: "amount", value: amount };
  else if (verb.case === "declareWord") verb.value.amount = amount;
  else throw newer("amount", verb.case);
}

function setSeat({ verb }: Action, seat: number): void {
  if (verb.case === "declareWord") verb.value.seat = seat;
  else throw newer("seat", verb.case);
}

function newer(part: string, verb: string | undefined): Error {
  return new Error(`a choice of ${part} for ${verb ?? "an unknown verb"} is newer than this client`);
}

/**
 * Return a random legal action, or undefined if there is none; each listed action and each choice is equally likely.
 *
 * Standing pat counts as the swap of no cards: it is as likely as a swap of one card, not as all swaps together.
 */
export function randomLegal(legal: LegalActions | undefined, random: Random): Action | undefined {
  if (legal === undefined) return undefined;
  const { actions, choices } = legal;
  const isSwapOfNone = choices.some((choice) => standsPat(legal, choice));
  const alternatives = [...actions.filter(({ verb }) => !isSwapOfNone || verb.case !== "standPat"), ...choices];
  if (alternatives.length === 0) return undefined;
  const picked = oneOf(alternatives, random);
  if (picked.$typeName === "croupier_api.v1.Action") return picked;
  const fewest = standsPat(legal, picked) ? 0 : (picked.cards?.minCards ?? 0);
  return complete(picked, randomParts(picked, fewest, random));
}

/** Return whether a choice is a swap of at least one card beside a listed standing pat, which is the swap of none. */
export function standsPat({ actions }: LegalActions, { action, cards }: ActionChoice): boolean {
  const isSwap = action?.verb.case === "swapCards" && cards?.minCards === 1;
  return isSwap && actions.some(({ verb }) => verb.case === "standPat");
}

function randomParts({ cards, suits, amount, seats }: ActionChoice, fewest: number, random: Random): Parts {
  return {
    cards: cards && some(cards.cards, fewest + below(cards.maxCards - fewest + 1, random), random),
    suit: suits.length === 0 ? undefined : oneOf(suits, random),
    amount: amount && amount.minAmount + amount.step * below(steps(amount.maxAmount - amount.minAmount, amount.step), random),
    seat: seats.length === 0 ? undefined : oneOf(seats, random),
  };
}

function steps(range: number, step: number): number {
  return Math.floor(range / step) + 1;
}

function some<T>(values: readonly T[], count: number, random: Random): T[] {
  const left = [...values];
  return Array.from({ length: count }, () => left.splice(below(left.length, random), 1)).flat();
}

function oneOf<T>(values: readonly T[], random: Random): T {
  return values[below(values.length, random)] as T;
}

function below(end: number, random: Random): number {
  return Math.floor(random() * end);
}
