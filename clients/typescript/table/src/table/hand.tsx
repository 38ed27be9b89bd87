// The viewer's own hand: an overlapping fan, whose cards are buttons.
import { useRef } from "preact/hooks";

import type { Words } from "@croupier/client";
import type { Card } from "@croupier/client/contract";

import { CardFront } from "../cards/card.js";
import { faceOf } from "../cards/face.js";

/** A card of the hand, and what a tap on it means. */
export interface HandCard {
  readonly card: Card;
  /** Which of the equal cards of the hand it is, from 0. */
  readonly copy: number;
  readonly isPlayable: boolean;
  readonly isLifted: boolean;
}

/** The most cards of a hand in one row on a phone: with more, their strips are too narrow for a finger. */
const ROW_CARDS = 16;

interface HandProps {
  readonly seat: number;
  readonly cards: readonly HandCard[];
  readonly isTurn: boolean;
  /** Whether taps choose cards, which a button then confirms. */
  readonly isChoosing: boolean;
  readonly label: string;
  readonly words: Words;
  readonly tap: (card: HandCard) => void;
}

export function Hand({ seat, cards, isTurn, isChoosing, label, words, tap }: HandProps) {
  const hand = useRef<HTMLDivElement>(null);
  const move = (event: KeyboardEvent, position: number) => {
    const to = { ArrowLeft: position - 1, ArrowRight: position + 1, Home: 0, End: cards.length - 1 }[event.key];
    const button = to === undefined ? undefined : hand.current?.querySelectorAll("button")[to];
    if (button === undefined) return;
    event.preventDefault();
    button.focus();
  };
  const focused = Math.max(0, cards.findIndex(({ isPlayable }) => isPlayable));
  const count = cards.length;
  return (
    <div
      class="hand"
      ref={hand}
      data-choosing={isChoosing}
      data-many={count > ROW_CARDS}
      role="group"
      aria-label={label}
      data-place={`hand:${seat}`}
      data-turn={isTurn}
      style={{ "--n": count, "--half": Math.ceil(count / 2) }}
    >
      {cards.map((each, position) => (
        <button
          key={`${each.card} ${each.copy}`}
          type="button"
          class="in-hand"
          data-card={each.card}
          data-playable={each.isPlayable}
          aria-pressed={each.isLifted}
          aria-label={words.card(each.card)}
          aria-disabled={isTurn && !each.isPlayable}
          tabIndex={position === focused ? 0 : -1}
          style={{ "--i": position }}
          onClick={() => tap(each)}
          onKeyDown={(event) => move(event, position)}
        >
          <CardFront face={faceOf(each.card, words.game)} />
        </button>
      ))}
    </div>
  );
}

/** Return the cards of a hand in their order, each with its number among equal ones. */
export function handCards(cards: readonly Card[], order: readonly Card[], isPlayable: (card: Card) => boolean, lifted: readonly Card[]): HandCard[] {
  const position = (card: Card) => (order.includes(card) ? order.indexOf(card) : order.length + card);
  const sorted = [...cards].sort((one, other) => position(one) - position(other));
  const copies = new Map<Card, number>();
  return sorted.map((card) => {
    const copy = copies.get(card) ?? 0;
    copies.set(card, copy + 1);
    return { card, copy, isPlayable: isPlayable(card), isLifted: lifted.filter((each) => each === card).length > copy };
  });
}
