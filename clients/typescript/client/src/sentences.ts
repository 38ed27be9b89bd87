// Actions, facts and views of any game as lines of text for people.
import { create } from "@bufbuild/protobuf";

import type { Action, DeclareAction, LayAction } from "./generated/croupier_api/v1/actions_pb.js";
import { Card, Suit } from "./generated/croupier_api/v1/cards_pb.js";
import type { TableUpdate } from "./generated/croupier_api/v1/engine_pb.js";
import {
  type Call,
  type CardsMoved,
  type Fact,
  type GameEnded,
  MoveReason,
  type Place,
  SeatViewSchema,
  type TableView,
} from "./generated/croupier_api/v1/facts_pb.js";
import { type Team, WordKind } from "./generated/croupier_api/v1/games_pb.js";
import { scoreText } from "./rounds.js";
import { type Words, texts } from "./words.js";

/** The verbs without parts. */
const FIXED = {
  passTurn: "pass",
  matchBid: "matchBid",
  yieldBid: "yieldBid",
  keepBid: "keepBid",
  standPat: "standPat",
  throwDown: "throwDown",
} as const;

/** Sentences on the cards that move, by reason. */
const MOVES = {
  [MoveReason.UNSPECIFIED]: "moved",
  [MoveReason.DEAL]: "dealt",
  [MoveReason.REMOVE]: "removed",
  [MoveReason.PLAY]: "played",
  [MoveReason.PICK_UP]: "pickedUp",
  [MoveReason.DISCARD]: "discarded",
  [MoveReason.DRAW]: "drawn",
  [MoveReason.PENALTY]: "penalty",
  [MoveReason.SWAP]: "swapped",
  [MoveReason.KEEP]: "putAway",
  [MoveReason.RECYCLE]: "recycled",
  [MoveReason.WIN]: "won",
  [MoveReason.LAY]: "laid",
} as const satisfies Record<MoveReason, string>;

/** Sentences in place of those that need a seat as their subject. */
const WITHOUT_SEAT = {
  moved: "isMoved",
  played: "isLaid",
  pickedUp: "isDrawn",
  drawn: "isDrawn",
  swapped: "isMoved",
  putAway: "putAside",
  laid: "isLaid",
} as const;

/** Return an action as a line; parts that are not chosen yet are left out. */
export function actionText({ verb }: Action, words: Words): string {
  switch (verb.case) {
    case "bid": {
      const { bid } = verb.value;
      if (bid.case === undefined) return words.say("bid");
      return words.say("bidOf", { bid: bid.case === "contract" ? words.word(WordKind.CONTRACT, bid.value) : bid.value });
    }
    case "keepCards":
      return texts(withCards("keep", verb.value.cards, words), trumpText(verb.value.trump, words));
    case "swapCards":
      return withCards("exchange", verb.value.cards, words);
    case "draw":
      return phrase(words.say("draw"), verb.value.pile && `(${words.word(WordKind.PILE, verb.value.pile)})`);
    case "play": {
      const { card, suit } = verb.value;
      const order = suit !== Suit.UNSPECIFIED && words.say("orderSuit", { suit: words.suit(suit) });
      return texts(withCards("play", card === Card.UNSPECIFIED ? [] : [card], words), order);
    }
    case "callPartner": {
      const { partner } = verb.value;
      if (partner.case === "card") return withCards("call", [partner.value], words);
      return words.say(partner.case === "nobody" ? "callNobody" : "callUnnamed");
    }
    case "nameTrump":
      return texts(trumpText(verb.value.trump, words) || words.say("nameTrump"), verb.value.allTricks && words.say("allTricks"));
    case "lay":
      return layText(verb.value, words);
    case "declareWord":
      return declareText(verb.value, words);
    case undefined:
      return words.say("newerAction");
    default:
      return words.say(FIXED[verb.case]);
  }
}

function layText({ cards, meld, pile, owner }: LayAction, words: Words): string {
  const where = texts(meld && words.word(WordKind.MELD, meld), pile && words.owned(WordKind.PILE, pile, owner));
  const laid = withCards("lay", cards, words);
  return where === "" ? laid : `${laid}: ${where}`;
}

function declareText({ word, seat, amount, cards }: DeclareAction, words: Words): string {
  return texts(
    words.say("declare", { word: words.word(WordKind.CALL, word) }),
    seat !== undefined && words.seat(seat),
    amount?.toString(),
    cards.length > 0 && words.cards(cards),
  );
}

function withCards(verb: "keep" | "exchange" | "play" | "call" | "lay", cards: readonly Card[], words: Words): string {
  return phrase(words.say(verb), cards.length > 0 && words.cards(cards));
}

/** Return the trump suit that an action names; empty if it is not chosen yet. */
function trumpText(suit: Suit, words: Words): string {
  return suit === Suit.UNSPECIFIED ? "" : words.trump(suit);
}

/** Return an update as lines; empty ones for facts that the page does not list. */
export function updateTexts({ seat, isAway, facts }: TableUpdate, words: Words): string[] {
  const change = seat !== undefined && isAway !== undefined && words.say(isAway ? "leaves" : "returns", { seat: words.seat(seat) });
  return [change || "", ...facts.map((fact) => factText(fact, words))];
}

/** Return a fact as a line; empty for one that the page does not list. */
export function factText({ fact }: Fact, words: Words): string {
  switch (fact.case) {
    case "roundStarted": {
      const { round, dealer } = fact.value;
      return texts(words.round(round), dealer !== undefined && words.say("dealer", { seat: words.seat(dealer) }));
    }
    case "cardsMoved":
      return moveText(fact.value, words);
    case "called":
      return fact.value.call === undefined ? "" : callText(fact.value.call, words);
    case "contractChanged":
      return fact.value.changes === undefined ? "" : words.contract(fact.value.changes);
    case "trickTaken":
      return words.say("takesTrick", { seat: words.seat(fact.value.seat) });
    case "seatOut":
      return texts(words.say("goesOut", { seat: words.seat(fact.value.seat) }), placeText(fact.value.place, words));
    case "handRevealed":
      return words.say("showsHand", { seat: words.seat(fact.value.seat), cards: words.cards(fact.value.cards) });
    case "markChanged":
      // That a mark is gone is seen, and is no event of the game.
      return fact.value.mark?.value === undefined ? "" : words.mark(fact.value.mark);
    case "turnChanged":
      return phaseText(fact.value.phase, fact.value.seatsToAct, words);
    case "roundEnded":
      return fact.value.score === undefined ? "" : scoreText(fact.value.score, words);
    case "gameEnded":
      return endText(fact.value, words);
    case "cardOrderChanged":
      return "";
    default:
      return words.say("newerFact");
  }
}

function phaseText(phase: string, seats: readonly number[], words: Words): string {
  const shown = words.word(WordKind.PHASE, phase);
  return seats.length === 0 ? shown : `${shown}: ${words.seats(seats)}`;
}

function endText({ reason, isVoid }: GameEnded, words: Words): string {
  return texts(words.say("gameOver", { result: words.word(WordKind.REASON, reason) }), isVoid && words.say("resultIsVoid"));
}

/** Return a call of an auction as a line. */
export function callText({ seat, action }: Call, words: Words): string {
  return `${words.seat(seat)}: ${action === undefined ? words.say("secretCall") : actionText(action, words)}`;
}

/** Return what all may know of a seat as parts of a line; `isOwn` for the viewer's own, whose hand is shown elsewhere. */
export function seatParts({ seats, dealer }: TableView, seat: number, isOwn: boolean, words: Words): string[] {
  const shown = seats[seat] ?? create(SeatViewSchema);
  const { cards, cardCount, knownCards, score, tricksTaken, isOut, place } = shown;
  const parts = [
    `${words.seat(seat)}: ${score}`,
    cardCount > 0 && words.cards(isOwn ? [] : cards, cardCount),
    knownCards.length > 0 && words.say("known", { cards: words.cards(knownCards) }),
    words.game.hasTricks && words.say("tricks", { count: tricksTaken }),
    dealer === seat && words.say("isDealer"),
    isOut && words.say("isOut"),
    placeText(place, words),
  ];
  return parts.filter((part): part is string => Boolean(part));
}

/** Return the lines on teams, contract, calls and marks. */
export function knownTexts({ contract, calls, marks }: TableView, teams: readonly Team[], words: Words): string[] {
  const against = teams.map(({ seats }) => words.seats(seats)).join(` ${words.say("against")} `);
  const called = calls.map((call) => callText(call, words));
  return [against, contract === undefined ? "" : words.contract(contract), ...called, ...marks.map((mark) => words.mark(mark))];
}

/** Return a seat's place in the ranking; empty if it has none. */
export function placeText(place: number | undefined, words: Words): string {
  return place === undefined ? "" : words.say("place", { place });
}

/** Return a move in the game's own words, else as what a seat does, with the places that are neither its hand nor the box. */
function moveText({ source, target, cards, count, reason, word }: CardsMoved, words: Words): string {
  const seat = handOf(source) ?? handOf(target) ?? target?.owner ?? source?.owner;
  const named = word !== "" && words.move(word, seat, words.cards(cards, count));
  if (named) return named;
  // Cards go out of the deck, or out of play amid a round, without anyone's doing.
  const isPutAside = reason === MoveReason.REMOVE && source !== undefined && source.place.case !== undefined;
  const subject = isPutAside ? handOf(source) : seat;
  const isElsewhere = (place: Place | undefined) => place?.place.case === "pile" || (handOf(place) ?? subject) !== subject;
  const others = [source, target].filter(isElsewhere);
  const where = others.map((place) => words.place(place)).join(" → ");
  const what = words.say(isPutAside ? "putAside" : sentenceOf(reason, subject), { cards: words.cards(cards, count) });
  return phrase(subject !== undefined && `${words.seat(subject)}:`, what, where && `(${where})`);
}

function sentenceOf(reason: MoveReason, seat: number | undefined): (typeof MOVES)[MoveReason] | (typeof WITHOUT_SEAT)[keyof typeof WITHOUT_SEAT] {
  // A reason of a later version has no sentence here.
  const known = MOVES[reason] ?? "moved";
  return seat === undefined && known in WITHOUT_SEAT ? WITHOUT_SEAT[known as keyof typeof WITHOUT_SEAT] : known;
}

function handOf(place: Place | undefined): number | undefined {
  return place?.place.case === "hand" ? place.place.value : undefined;
}

function phrase(...parts: readonly (string | false | undefined)[]): string {
  return parts.filter(Boolean).join(" ");
}
