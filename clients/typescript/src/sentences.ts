// Actions and facts of any game as lines of text for people.
import type { Action, DeclareAction, LayAction } from "./generated/croupier_api/v1/actions_pb";
import { Card, Suit } from "./generated/croupier_api/v1/cards_pb";
import type { TableUpdate } from "./generated/croupier_api/v1/engine_pb";
import {
  type Call,
  type CardsMoved,
  type Fact,
  MoveReason,
  type RoundScore,
  type RoundStarted,
} from "./generated/croupier_api/v1/facts_pb";
import { type Words, texts } from "./words";

const UNKNOWN_ACTION = "an action that is newer than this page";
const UNKNOWN_FACT = "something that is newer than this page";
/** The verbs without parts. */
const FIXED: Readonly<Record<string, string>> = {
  passTurn: "pass",
  matchBid: "equal the bid",
  yieldBid: "yield to the higher bid",
  keepBid: "keep the bid",
  standPat: "exchange nothing",
  throwDown: "lay the hand down",
};

/** Return an action as a line; parts that are not chosen yet are left out. */
export function actionText({ verb }: Action, words: Words): string {
  switch (verb.case) {
    case "bid": {
      const { bid } = verb.value;
      return phrase("bid", bid.case === "contract" ? words.word(bid.value) : bid.value?.toString());
    }
    case "keepCards":
      return texts(withCards("keep", verb.value.cards, words), suitText(verb.value.trump, "trump", words));
    case "swapCards":
      return withCards("exchange", verb.value.cards, words);
    case "draw":
      return phrase("draw", verb.value.pile && `from ${words.word(verb.value.pile)}`);
    case "play": {
      const { card, suit } = verb.value;
      return texts(withCards("play", card === Card.UNSPECIFIED ? [] : [card], words), suitText(suit, "ordered", words));
    }
    case "callPartner": {
      const { partner } = verb.value;
      const unnamed = words.word(partner.case === "nobody" ? "nobody" : "unknown");
      return phrase("call", partner.case === "card" ? words.card(partner.value) : unnamed);
    }
    case "nameTrump":
      return texts(suitText(verb.value.trump, "trump", words) || "trump", verb.value.allTricks && "all tricks");
    case "lay":
      return layText(verb.value, words);
    case "declareWord":
      return declareText(verb.value, words);
    default:
      return FIXED[verb.case ?? ""] ?? UNKNOWN_ACTION;
  }
}

function layText({ cards, meld, pile, owner }: LayAction, words: Words): string {
  return phrase(withCards("lay", cards, words), meld && `as ${words.word(meld)}`, pile && `on ${words.owned(pile, owner)}`);
}

function declareText({ word, seat, amount, cards }: DeclareAction, words: Words): string {
  const seatText = seat === undefined ? "" : words.seat(seat);
  return texts(`say “${words.word(word)}”`, seatText, amount?.toString(), cards.length > 0 && words.cards(cards));
}

function withCards(verb: string, cards: readonly Card[], words: Words): string {
  return phrase(verb, cards.length > 0 && words.cards(cards));
}

function suitText(suit: Suit, meaning: string, words: Words): string {
  return suit === Suit.UNSPECIFIED ? "" : `${words.suit(suit)} ${meaning}`;
}

/** Return an update as lines; empty ones for facts that the page does not list. */
export function updateTexts({ seat, isAway, facts }: TableUpdate, words: Words): string[] {
  const change = seat === undefined || isAway === undefined ? "" : `${words.seat(seat)} ${isAway ? "leaves" : "returns"}`;
  return [change, ...facts.map((fact) => factText(fact, words))];
}

/** Return a fact as a line; empty for one that the page does not list. */
export function factText({ fact }: Fact, words: Words): string {
  switch (fact.case) {
    case "roundStarted":
      return roundText(fact.value, words);
    case "cardsMoved":
      return moveText(fact.value, words);
    case "called":
      return fact.value.call === undefined ? "" : callText(fact.value.call, words);
    case "contractChanged":
      return fact.value.changes === undefined ? "" : words.contract(fact.value.changes);
    case "trickTaken":
      return `${words.seat(fact.value.seat)} takes the trick`;
    case "seatOut":
      return texts(`${words.seat(fact.value.seat)} is out`, placeText(fact.value.place));
    case "handRevealed":
      return `${words.seat(fact.value.seat)} shows ${words.cards(fact.value.cards)}`;
    case "markChanged":
      return fact.value.mark === undefined ? "" : words.mark(fact.value.mark);
    case "turnChanged":
      return texts(words.word(fact.value.phase), ...fact.value.seatsToAct.map((seat) => words.seat(seat)));
    case "roundEnded":
      return fact.value.score === undefined ? "" : scoreText(fact.value.score, words);
    case "gameEnded":
      return texts(`the game is over: ${words.word(fact.value.reason)}`, fact.value.isVoid && "and the result is void");
    case "cardOrderChanged":
      return "";
    default:
      return UNKNOWN_FACT;
  }
}

/** Return a call of an auction as a line. */
export function callText({ seat, action }: Call, words: Words): string {
  return `${words.seat(seat)}: ${action === undefined ? "a secret call" : actionText(action, words)}`;
}

function roundText({ round, dealer }: RoundStarted, words: Words): string {
  return texts(`${words.word("round")} ${round}`, dealer !== undefined && `${words.seat(dealer)} deals`);
}

/** Return a seat's place in the ranking. */
export function placeText(place: number | undefined): string {
  return place === undefined ? "" : `place ${place}`;
}

function moveText({ source, target, cards, count, reason }: CardsMoved, words: Words): string {
  const why = (reason !== MoveReason.UNSPECIFIED && MoveReason[reason]) || "MOVE";
  return `${why.toLowerCase().replaceAll("_", " ")}: ${words.cards(cards, count)}, ${words.place(source)} → ${words.place(target)}`;
}

function scoreText({ headline, round, points, notes }: RoundScore, words: Words): string {
  const lines = points.map((number, seat) => phrase(`${words.seat(seat)} ${number}`, notes[seat] && `(${notes[seat]})`));
  return `${headline || `end of ${words.word("round")} ${round}`}: ${lines.join(", ")}`;
}

function phrase(...parts: readonly (string | false | undefined)[]): string {
  return parts.filter(Boolean).join(" ");
}
