// What a person can do in a turn: which cards react to a tap, and the buttons of what these may become and of all else.
import { create, equals } from "@bufbuild/protobuf";

import { type Candidate, type Decision, type Selection, type Words, actionText, hasParts, others as othersOf, selectionOf } from "@croupier/client";
import { type Action, ActionSchema, type Card, type LegalActions } from "@croupier/client/contract";

import type { Say } from "../texts/page_texts.js";
import type { ActionButton } from "./actions.js";

/** So many listed actions with several cards have a button before their cards are chosen: more would cover the table. */
const FEW = 3;

/** Return what is chosen at the beginning of a turn: nothing, and of an amount the least. */
export function nothingChosen(legal: LegalActions): Selection {
  return withLeast(selectionOf(legal));
}

function withLeast(selection: Selection): Selection {
  const range = selection.choice?.amount;
  return range === undefined || selection.amount !== undefined ? selection : selection.withAmount(range.minAmount);
}

interface Deeds {
  readonly choose: (selection: Selection) => void;
  readonly act: (action: Action) => void;
}

/** Return whether taps choose cards, which a button then confirms. */
export function isChoosing(legal: LegalActions): boolean {
  const all = selectionOf(legal).candidates;
  return all.some(({ maxCards }) => maxCards > 0) && !all.some((candidate) => isPlay(candidate, all));
}

/** Return whether a candidate is a single card that needs no button: nothing of its verb has several cards. */
function isPlay({ choice, maxCards, action }: Candidate, all: readonly Candidate[]): boolean {
  return choice === undefined && maxCards === 1 && !all.some((other) => other.maxCards > 1 && other.action.verb.case === action.verb.case);
}

/** Return the action of a lifted card that another tap on it plays; undefined if it may be, or become, anything else. */
function playOf({ legal, selected, candidates }: Selection): Action | undefined {
  const [only] = candidates;
  const isOne = selected.length === 1 && candidates.length === 1;
  return isOne && only !== undefined && isPlay(only, selectionOf(legal).candidates) ? only.action : undefined;
}

/** Carry out a tap on a selectable card: add it to the chosen ones, or play it, at once if a person wants that. */
export function tapCard(selection: Selection, card: Card, playsByOneTap: boolean, { choose, act }: Deeds): void {
  const isLifted = selection.selected.includes(card);
  const next = selection.toggle(card);
  const play = isLifted ? playOf(selection) : playsByOneTap ? playOf(next) : undefined;
  if (play === undefined) choose(withLeast(next));
  else act(play);
}

/** Return an action with a card that nothing legal has: the rules refuse it, and say why. Undefined without one. */
export function refusableAction(legal: LegalActions, card: Card): Action | undefined {
  if (selectionOf(legal).isSelectable(card)) return undefined;
  const verbs = [...legal.actions, ...legal.choices.map(({ action }) => action)].map((action) => action?.verb.case);
  if (verbs.includes("play")) return create(ActionSchema, { verb: { case: "play", value: { card } } });
  return verbs.includes("lay") ? create(ActionSchema, { verb: { case: "lay", value: { cards: [card] } } }) : undefined;
}

/** Return the buttons of a turn: the parts of a choice, what the chosen cards may become, and all else. */
export function buttonsOf({ legal }: Decision, selection: Selection, words: Words, say: Say, deeds: Deeds): ActionButton[] {
  const parts = rivalsOf(selection).length === 1 ? partButtons(selection, words, say, deeds) : [];
  const ofCards = shownCandidates(selection).map((candidate, index) => candidateButton(candidate, index, selection, words, deeds));
  // Of cards that may become several things the buttons say which.
  const isAsked = selection.selected.length > 0 && ofCards.length > 1;
  const others = isAsked ? [] : othersOf(legal).map((action, index) => actionButton(action, index, words, deeds));
  return [...parts, ...numbered([...ofCards, ...others])];
}

/** Return the candidates between which buttons decide: all but single cards that are still to be tapped. */
function rivalsOf({ candidates, selected }: Selection): readonly Candidate[] {
  return candidates.filter(({ isWhole, maxCards }) => selected.length > 0 || !isWhole || maxCards !== 1);
}

/** Return the candidates that have a button, each once. */
function shownCandidates(selection: Selection): readonly Candidate[] {
  if (playOf(selection) !== undefined) return [];
  const { selected, limitedTo } = selection;
  const rivals = rivalsOf(selection);
  // Listed actions with further cards, of which the person can also choose the cards first.
  const isAhead = ({ isWhole, minCards }: Candidate) => isWhole && minCards > selected.length;
  const areFew = rivals.filter(isAhead).length <= FEW;
  const shown = rivals.filter((candidate) => (isAhead(candidate) ? areFew : candidate.isWhole || limitedTo === undefined));
  const isLike = (one: Candidate, other: Candidate) => !isOpened(one, selection) && equals(ActionSchema, one.action, other.action);
  return shown.filter((candidate, index) => !shown.slice(0, index).some((before) => isLike(candidate, before)));
}

/** Return whether the parts of a candidate are to be chosen after a tap on its button: other ones are possible too. */
function isOpened({ isWhole, choice }: Candidate, selection: Selection): boolean {
  const template = choice === undefined ? undefined : selection.legal.choices[choice];
  return !isWhole && template !== undefined && hasParts(template) && rivalsOf(selection).length > 1;
}

function candidateButton(candidate: Candidate, index: number, selection: Selection, words: Words, { choose, act }: Deeds): ActionButton {
  const { action, isWhole, minCards, choice } = candidate;
  const button = { key: `candidate ${index}`, text: actionText(action, words) };
  if (choice !== undefined && isOpened(candidate, selection)) {
    return { ...button, isPressed: false, act: () => choose(withLeast(selection.withChoice(choice))) };
  }
  // Not before its cards are chosen, which is a quick way beside others.
  const isMain = !isWhole || selection.selected.length >= minCards;
  return { ...button, isMain, isDisabled: !isWhole, act: () => isWhole && act(action) };
}

function actionButton(action: Action, index: number, words: Words, { act }: Deeds): ActionButton {
  return { key: `action ${index}`, text: actionText(action, words), act: () => act(action) };
}

/** Return the buttons, with a number after each text that several of them have. */
function numbered(buttons: readonly ActionButton[]): ActionButton[] {
  return buttons.map((button, index) => {
    const alike = buttons.filter(({ text }) => text === button.text);
    return alike.length === 1 ? button : { ...button, text: `${button.text} (${alike.indexOf(button) + 1})` };
  });
}

/** Return the buttons of the parts of the only choice there is, with a way back if the person has chosen it. */
function partButtons(selection: Selection, words: Words, say: Say, { choose }: Deeds): ActionButton[] {
  const { choice, suit, amount, seat, legal, limitedTo } = selection;
  const select = (next: Selection) => () => choose(next);
  const opened = limitedTo === undefined || choice?.action === undefined ? [] : [
    { key: "opened", text: actionText(choice.action, words), isPressed: true, act: select(nothingChosen(legal)) },
  ];
  const suits = (choice?.suits ?? []).map((each) => ({ key: `suit ${each}`, text: words.suit(each), isPressed: each === suit, act: select(selection.withSuit(each)) }));
  const seats = (choice?.seats ?? []).map((each) => ({ key: `seat ${each}`, text: words.seat(each), isPressed: each === seat, act: select(selection.withSeat(each)) }));
  const range = choice?.amount;
  if (range === undefined) return [...opened, ...suits, ...seats];
  const now = amount ?? range.minAmount;
  const step = (by: number, text: string, label: string) => ({
    key: label,
    text,
    isDisabled: now + by < range.minAmount || now + by > range.maxAmount,
    act: () => choose(selection.withAmount(now + by)),
  });
  return [...opened, ...suits, ...seats, step(-range.step, "−", say("less")), { key: "amount", text: `${now}`, isDisabled: true, act: () => {} }, step(range.step, "+", say("more"))];
}

/** Return what the person should do next. */
export function hintOf({ legal }: Decision, selection: Selection, say: Say): string {
  if (playOf(selection) !== undefined) return say("tapAgain");
  const { minCards, seat, suit } = selection.missing;
  if (minCards === 0 && rivalsOf(selection).length === 1) {
    if (seat) return say("choosePlayer");
    if (suit) return say("chooseSuit");
  }
  const ofCards = selection.candidates.filter(({ maxCards }) => maxCards > 0);
  if (!isChoosing(legal) || ofCards.length === 0) return say("yourTurn");
  const chosen = selection.selected.length;
  const [least, most] = [Math.min(...ofCards.map(({ minCards }) => minCards)), Math.max(...ofCards.map(({ maxCards }) => maxCards))];
  return least === most ? say("chooseCards", { chosen, count: most }) : say("chooseCardsRange", { chosen, least, most });
}
