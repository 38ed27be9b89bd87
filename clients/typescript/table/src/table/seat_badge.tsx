// A seat at the table: its player, cards, score, and what it called last.
import type { Words } from "@croupier/client";
import type { SeatView } from "@croupier/client/contract";

import { useSay } from "../texts/page_texts.js";
import { Bubble } from "./bubble.js";

/** The colours of seats by number, all dark enough for white letters. */
const COLOURS = ["#8a3b12", "#3f4fa3", "#8d2c63", "#1f6f78", "#6a4b9b", "#7a5a00", "#9c2f2f", "#3c6e1f"];

/** All that a badge shows. */
export interface SeatBadgeProps {
  readonly number: number;
  readonly name: string;
  readonly isBot: boolean;
  readonly state: SeatView;
  readonly marks: readonly string[];
  readonly isDealer: boolean;
  readonly isToAct: boolean;
  readonly isDeclarer: boolean;
  readonly absence: string;
  readonly bubble: string;
  readonly words: Words;
  /** The part of the time of the turn that is left, 0 to 1; undefined without a limit. */
  readonly timeLeft: number | undefined;
  readonly open: () => void;
}

export function SeatBadge({ number, name, isBot, state, marks, isDealer, isToAct, isDeclarer, absence, bubble, words, timeLeft, open }: SeatBadgeProps) {
  const say = useSay();
  const { cardCount, score, tricksTaken, isOut, place } = state;
  const style = { "--left": timeLeft ?? 1, "--seat-colour": COLOURS[number % COLOURS.length] };
  return (
    <button
      type="button"
      class="seat"
      data-place={`hand:${number}`}
      data-to-act={isToAct}
      data-out={isOut}
      data-absent={absence !== ""}
      style={style}
      aria-label={labelOf(name, state, marks, isToAct ? say("hasTurn") : "", absence, words)}
      onClick={open}
    >
      <span class="avatar">
        <span class="initial">{isBot ? <BotSign /> : initialOf(name)}</span>
        {cardCount > 0 && <span class="count cards-count">{cardCount}</span>}
        {words.game.hasTricks && tricksTaken > 0 && <span class="count tricks-count">{tricksTaken}</span>}
        {isDealer && <span class="dealer">{words.say("isDealer").charAt(0).toUpperCase()}</span>}
        {place !== undefined && <span class="place">{place}</span>}
      </span>
      <span class="who">
        <span class="name">{isDeclarer && <span class="declarer">◆ </span>}{name}</span>
        <span class="score">{absence || score}</span>
      </span>
      {marks.length > 0 && <span class="marks">{marks.map((mark) => <span key={mark}>{mark}</span>)}</span>}
      {bubble !== "" && <Bubble text={bubble} />}
    </button>
  );
}

function labelOf(name: string, { score, cardCount, tricksTaken, isOut }: SeatView, marks: readonly string[], turn: string, absence: string, words: Words): string {
  const parts = [
    `${name}: ${score}`,
    turn,
    cardCount > 0 && words.cards([], cardCount),
    words.game.hasTricks && words.say("tricks", { count: tricksTaken }),
    isOut && words.say("isOut"),
    ...marks,
    absence,
  ];
  return parts.filter(Boolean).join(", ");
}

function initialOf(name: string): string {
  return [...name][0]?.toUpperCase() ?? "?";
}

function BotSign() {
  return (
    <svg class="bot-sign" viewBox="0 0 24 24" aria-hidden="true">
      <path d="M12 2v3M6 8h12a2 2 0 0 1 2 2v7a2 2 0 0 1-2 2H6a2 2 0 0 1-2-2v-7a2 2 0 0 1 2-2ZM9 12.500v1.500M15 12.500v1.500" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" />
    </svg>
  );
}
