// The fold of facts into a view, with which a client shows a game whose rules it does not know.
import { clone, create } from "@bufbuild/protobuf";

import type { Card } from "./generated/croupier_api/v1/cards_pb.js";
import {
  type Call,
  type CardsMoved,
  ContractSchema,
  type Fact,
  type Mark,
  type Pile,
  type PileCard,
  PileCardSchema,
  PileSchema,
  type Place,
  type RoundStarted,
  type SeatView,
  SeatViewSchema,
  type TableView,
  TableViewSchema,
} from "./generated/croupier_api/v1/facts_pb.js";

/** A name, and the seat that it belongs to, if any: that of a pile or a mark. */
type Key = [name: string, seat: number | undefined];

/** A seat, undefined for a spectator, or "all" for all seats together, whose hands are all the viewer's own in a replay. */
export type Viewer = number | "all" | undefined;

/**
 * Return a new view with the facts folded in, in order.
 *
 * A kind of fact that is newer than this client changes nothing. Throws for a fact that does not fit the view.
 */
export function fold(view: TableView, facts: readonly Fact[], viewer: Viewer): TableView {
  const folded = clone(TableViewSchema, view);
  for (const fact of facts) foldFact(folded, fact, viewer);
  return folded;
}

function foldFact(view: TableView, { fact }: Fact, viewer: Viewer): void {
  switch (fact.case) {
    case "roundStarted":
      return startRound(view, fact.value);
    case "cardsMoved":
      return moveCards(view, fact.value, viewer);
    case "called":
      return addCall(view, required(fact.value.call));
    case "contractChanged":
      // A field that is unset is no property, so it keeps its value.
      Object.assign((view.contract ??= create(ContractSchema)), fact.value.changes);
      return;
    case "trickTaken":
      seatOf(view, fact.value.seat).tricksTaken += 1;
      return;
    case "seatOut":
      return putOut(seatOf(view, fact.value.seat), fact.value.place);
    case "handRevealed":
      Object.assign(seatOf(view, fact.value.seat), { cards: ascending(fact.value.cards), knownCards: [] });
      return;
    case "markChanged":
      return changeMark(view, required(fact.value.mark));
    case "cardOrderChanged":
      view.cardOrder = [...fact.value.cards];
      return;
    case "turnChanged":
      view.phase = fact.value.phase;
      view.seatsToAct = [...fact.value.seatsToAct];
      return;
    case "roundEnded":
      return score(view, required(fact.value.score).totals);
    case "gameEnded":
      view.seatsToAct = [];
      view.ranking = [...fact.value.ranking];
      view.isVoid = fact.value.isVoid;
      return;
    default:
      // A kind of fact that is newer than this client.
      return;
  }
}

function startRound(view: TableView, { round, dealer }: RoundStarted): void {
  view.round = round;
  delete view.dealer;
  if (dealer !== undefined) view.dealer = dealer;
  view.seats = view.seats.map(({ score }) => create(SeatViewSchema, { score }));
  view.contract = create(ContractSchema);
  [view.piles, view.calls, view.marks, view.seatsToAct, view.cardOrder] = [[], [], [], [], []];
}

function putOut(seat: SeatView, place: number | undefined): void {
  seat.isOut = true;
  delete seat.place;
  if (place !== undefined) seat.place = place;
}

function moveCards(view: TableView, move: CardsMoved, viewer: Viewer): void {
  const moved = takeCards(view, move);
  const { place } = move.target ?? {};
  if (place?.case === "hand") addToHand(seatOf(view, place.value), move, viewer === "all" || place.value === viewer);
  if (place?.case === "pile") {
    const pile = pileAt(view, place.value, move.target?.owner);
    pile.count += move.count;
    pile.cards.push(...moved);
    pile.faceDown = move.faceDown;
    view.piles = inOrder([...view.piles.filter((other) => other !== pile), pile], pileKey);
  }
}

function addToHand(hand: SeatView, { cards, count }: CardsMoved, isOwn: boolean): void {
  const isSeen = isOwn || (hand.cards.length > 0 && cards.length === count);
  hand.cardCount += count;
  if (isSeen) hand.cards = ascending([...hand.cards, ...cards]);
  else [hand.knownCards, hand.cards] = [ascending([...hand.cards, ...hand.knownCards, ...cards]), []];
}

function takeFromHand(hand: SeatView, { cards, count }: CardsMoved): void {
  hand.cardCount -= counted(hand.cardCount, count);
  // Any card may have left unseen.
  if (cards.length < count) [hand.cards, hand.knownCards] = [[], []];
  const listed = hand.cards.length > 0 ? hand.cards : hand.knownCards;
  for (const card of cards) takeFirst(listed, (held) => held === card);
}

/** Take cards from their source, and return them with the seats whose hands they came from. */
function takeCards(view: TableView, move: CardsMoved): PileCard[] {
  const { source, cards, count } = move;
  if (source?.place.case === "hand") {
    const seat = source.place.value;
    takeFromHand(seatOf(view, seat), move);
    return cards.map((card) => create(PileCardSchema, { card, seat }));
  }
  if (source?.place.case !== "pile") return cards.map((card) => create(PileCardSchema, { card }));
  const pile = pileAt(view, source.place.value, source.owner);
  pile.count -= counted(pile.count, count);
  if (pile.count === 0) view.piles = view.piles.filter((other) => other !== pile);
  // The viewer may learn now of a card that lay hidden: it has no seat.
  return cards.map((card) => takeFirst(pile.cards, (laid) => laid.card === card) ?? create(PileCardSchema, { card }));
}

/** Remove the first fitting value from a list, and return it; undefined if none fits. */
function takeFirst<T>(values: T[], fits: (value: T) => boolean): T | undefined {
  const at = values.findIndex(fits);
  return at < 0 ? undefined : values.splice(at, 1)[0];
}

function addCall(view: TableView, call: Call): void {
  const secret = view.calls.findIndex(({ seat, action }) => seat === call.seat && action === undefined);
  view.calls.splice(secret < 0 ? view.calls.length : secret, 1, call);
}

function changeMark(view: TableView, mark: Mark): void {
  const others = view.marks.filter(({ name, seat }) => name !== mark.name || seat !== mark.seat);
  view.marks = inOrder(mark.value === undefined ? others : [...others, mark], ({ name, seat }) => [name, seat]);
}

function score(view: TableView, totals: readonly number[]): void {
  if (totals.length !== view.seats.length) throw new Error("a total for each seat is needed");
  totals.forEach((total, seat) => (seatOf(view, seat).score = total));
}

function seatOf(view: TableView, seat: number): SeatView {
  return required(view.seats[seat]);
}

/** Return a pile, or a new and empty one. */
function pileAt(view: TableView, name: string, owner: Place["owner"]): Pile {
  const found = view.piles.find((pile) => pile.name === name && pile.owner === owner);
  return found ?? create(PileSchema, { name, ...(owner === undefined ? {} : { owner }) });
}

function pileKey({ name, owner }: Pile): Key {
  return [name, owner];
}

/** Return values by name, then by seat, those of the whole table first. */
function inOrder<T>(values: readonly T[], key: (value: T) => Key): T[] {
  return [...values].sort((one, other) => {
    const [[name, seat = -1], [otherName, otherSeat = -1]] = [key(one), key(other)];
    return name === otherName ? seat - otherSeat : name < otherName ? -1 : 1;
  });
}

function ascending(cards: readonly Card[]): Card[] {
  return [...cards].sort((one, other) => one - other);
}

function counted(held: number, taken: number): number {
  if (taken > held) throw new Error("more cards were moved than are there");
  return taken;
}

function required<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("a part of the fact is missing");
  return value;
}
