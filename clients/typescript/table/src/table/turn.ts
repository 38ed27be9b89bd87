// What a person can do in a turn: which cards react to a tap, and the buttons of all other actions.
import { type Decision, type Selection, type Words, actionText, others as othersOf, playsOf, selectionOf } from "@croupier/client";
import type { Action, Card, LegalActions } from "@croupier/client/contract";

import type { Say } from "../texts/page_texts.js";
import type { ActionButton } from "./actions.js";

/** What a person has chosen so far: cards and parts of a choice, or one card that several actions play. */
export interface Chosen {
  readonly selection: Selection;
  readonly lifted: Card | undefined;
}

/** Return what is chosen at the beginning of a turn: nothing, and of an amount the least. */
export function nothingChosen(legal: LegalActions): Chosen {
  return { selection: withLeast(selectionOf(legal)), lifted: undefined };
}

function withLeast(selection: Selection): Selection {
  const range = selection.choice?.amount;
  return range === undefined ? selection : selection.withAmount(selection.amount ?? range.minAmount);
}

interface Deeds {
  readonly choose: (chosen: Chosen) => void;
  readonly act: (action: Action) => void;
}

/** Return whether a tap on a card leads to a legal action. */
export function isPlayable({ legal }: Decision, { selection }: Chosen, card: Card): boolean {
  return playsOf(legal, card).length > 0 || selection.isSelectable(card);
}

/** Return the cards that are lifted. */
export function liftedCards({ selection, lifted }: Chosen): readonly Card[] {
  return lifted === undefined ? selection.selected : [lifted];
}

/** Carry out a tap on a playable card: play it, lift it first, or add it to the choice. */
export function tapCard({ legal }: Decision, chosen: Chosen, card: Card, playsByOneTap: boolean, { choose, act }: Deeds): void {
  const plays = playsOf(legal, card);
  const [only] = plays;
  if (plays.length === 0) choose({ ...chosen, selection: chosen.selection.toggle(card) });
  else if (plays.length === 1 && only !== undefined && (playsByOneTap || chosen.lifted === card)) act(only);
  else choose({ ...chosen, lifted: chosen.lifted === card ? undefined : card });
}

/** Return the buttons of a turn: what a lifted card can be, the parts of a choice with its confirmation, and all else. */
export function buttonsOf({ legal }: Decision, chosen: Chosen, words: Words, say: Say, deeds: Deeds): ActionButton[] {
  const { lifted, selection } = chosen;
  const plays = lifted === undefined ? [] : playsOf(legal, lifted);
  if (plays.length > 1) return plays.map((action, index) => actionButton(action, index, words, deeds, true));
  const ofChoice = selection.choice === undefined ? [] : [...partButtons(chosen, words, say, deeds), ...confirmation(chosen, words, deeds)];
  const others = othersOf(legal).map((action, index) => actionButton(action, index, words, deeds, false));
  return [...ofChoice, ...others];
}

function actionButton(action: Action, index: number, words: Words, { act }: Deeds, isMain: boolean): ActionButton {
  return { key: `action ${index}`, text: actionText(action, words), isMain, act: () => act(action) };
}

function partButtons(chosen: Chosen, words: Words, say: Say, { choose }: Deeds): ActionButton[] {
  const { selection } = chosen;
  const { choice, suit, amount, seat, legal } = selection;
  const select = (next: Selection) => () => choose({ ...chosen, selection: next });
  const choices = legal.choices.length < 2 ? [] : legal.choices.map((each, index) => ({
    key: `choice ${index}`,
    text: each.action === undefined ? `${index + 1}` : actionText(each.action, words),
    isPressed: each === choice,
    act: () => choose({ selection: withLeast(selection.withChoice(index)), lifted: undefined }),
  }));
  const suits = (choice?.suits ?? []).map((each) => ({ key: `suit ${each}`, text: words.suit(each), isPressed: each === suit, act: select(selection.withSuit(each)) }));
  const seats = (choice?.seats ?? []).map((each) => ({ key: `seat ${each}`, text: words.seat(each), isPressed: each === seat, act: select(selection.withSeat(each)) }));
  const range = choice?.amount;
  if (range === undefined) return [...choices, ...suits, ...seats];
  const now = amount ?? range.minAmount;
  const step = (by: number, text: string, label: string) => ({
    key: label,
    text,
    isDisabled: now + by < range.minAmount || now + by > range.maxAmount,
    act: () => choose({ ...chosen, selection: selection.withAmount(now + by) }),
  });
  return [...choices, ...suits, ...seats, step(-range.step, "−", say("less")), { key: "amount", text: `${now}`, isDisabled: true, act: () => {} }, step(range.step, "+", say("more"))];
}

function confirmation({ selection }: Chosen, words: Words, { act }: Deeds): ActionButton[] {
  const { action, choice } = selection;
  const shown = action ?? choice?.action;
  if (shown === undefined) return [];
  return [{ key: "confirm", text: actionText(shown, words), isMain: true, isDisabled: action === undefined, act: () => action && act(action) }];
}

/** Return what the person should do next. */
export function hintOf({ legal }: Decision, { selection, lifted }: Chosen, say: Say): string {
  if (lifted !== undefined && playsOf(legal, lifted).length === 1) return say("tapAgain");
  const cards = selection.choice?.cards;
  if (cards === undefined) return say("yourTurn");
  const [chosen, least, most] = [selection.selected.length, selection.minCards, cards.maxCards];
  return least === most ? say("chooseCards", { chosen, count: most }) : say("chooseCardsRange", { chosen, least, most });
}
