"""The fold of facts into a view, with which a client shows a game whose rules it does not know.

Folding every fact that a viewer received yields the message that the server would send them as their view, compared as
protobuf messages. An unknown value is an unset field, but `contract` itself is always set. A fact of a kind that is
newer than this client changes nothing.
"""

from collections.abc import Iterable
from typing import Literal, TypeAlias

from croupier_api.v1 import facts_pb2 as pb
from croupier_client.errors import FoldError

Viewer: TypeAlias = int | Literal["all"] | None
"""A seat, None for a spectator, or "all" for all seats together, whose hands are all the viewer's own in a replay."""


def fold(view: pb.TableView, facts: Iterable[pb.Fact], viewer: Viewer) -> pb.TableView:
    """Return a new view with the facts folded in, in order.

    Raises FoldError for a fact that does not fit, for example one that names a seat the table does not have.
    """
    folded = pb.TableView()
    folded.CopyFrom(view)
    for fact in facts:
        _fold_one(folded, fact, viewer)
    return folded


def _fold_one(view: pb.TableView, fact: pb.Fact, viewer: Viewer) -> None:
    kind = fact.WhichOneof("fact")
    try:
        match kind:
            case "cards_moved":
                _move_cards(view, fact.cards_moved, viewer)
            case "turn_changed":
                view.phase = fact.turn_changed.phase
                view.seats_to_act[:] = fact.turn_changed.seats_to_act
            case "called":
                _call(view, fact.called.call)
            case "contract_changed":
                view.contract.MergeFrom(fact.contract_changed.changes)
            case "mark_changed":
                _change_mark(view, fact.mark_changed.mark)
            case "card_order_changed":
                view.card_order[:] = fact.card_order_changed.cards
            case _:
                _fold_result(view, fact)
    except (IndexError, ValueError) as error:
        raise FoldError(f"a {kind} fact does not fit the view of round {view.round}") from error


def _fold_result(view: pb.TableView, fact: pb.Fact) -> None:
    """Fold the beginning of a round, what seats have won or shown, and the end of the round and the game."""
    match fact.WhichOneof("fact"):
        case "round_started":
            _start_round(view, fact.round_started)
        case "trick_taken":
            view.seats[fact.trick_taken.seat].tricks_taken += 1
        case "seat_out":
            _put_out(view, fact.seat_out)
        case "hand_revealed":
            hand = view.seats[fact.hand_revealed.seat]
            hand.cards[:] = sorted(fact.hand_revealed.cards)
            hand.ClearField("known_cards")
        case "round_ended":
            for seat, total in zip(view.seats, fact.round_ended.score.totals, strict=True):
                seat.score = total
        case "game_ended":
            view.ClearField("seats_to_act")
            view.ClearField("ranking")
            view.ranking.extend(fact.game_ended.ranking)
            view.is_void = fact.game_ended.is_void


def _start_round(view: pb.TableView, fact: pb.RoundStarted) -> None:
    view.round = fact.round
    view.ClearField("dealer")
    if fact.HasField("dealer"):
        view.dealer = fact.dealer
    for name in ("piles", "calls", "marks", "card_order", "seats_to_act"):
        view.ClearField(name)
    view.contract.CopyFrom(pb.Contract())
    for seat in view.seats:
        score = seat.score
        seat.Clear()
        seat.score = score


def _move_cards(view: pb.TableView, fact: pb.CardsMoved, viewer: Viewer) -> None:
    match fact.source.WhichOneof("place"):
        case "hand":
            _take_from_hand(view.seats[fact.source.hand], fact)
            moved = [pb.PileCard(card=card, seat=fact.source.hand) for card in fact.cards]
        case "pile":
            moved = _take_from_pile(view, fact)
        case _:
            moved = [pb.PileCard(card=card) for card in fact.cards]
    match fact.target.WhichOneof("place"):
        case "hand":
            _add_to_hand(view.seats[fact.target.hand], fact, is_own=viewer in ("all", fact.target.hand))
        case "pile":
            pile = _pile(view, fact.target)
            pile.count += fact.count
            pile.cards.extend(moved)
            pile.face_down = fact.face_down


def _take_from_hand(hand: pb.SeatView, fact: pb.CardsMoved) -> None:
    hand.card_count -= fact.count
    if len(fact.cards) < fact.count:
        # Any card may have left unseen.
        hand.ClearField("cards")
        hand.ClearField("known_cards")
    for card in fact.cards:
        listed = hand.cards or hand.known_cards
        if card in listed:
            listed.remove(card)


def _add_to_hand(hand: pb.SeatView, fact: pb.CardsMoved, *, is_own: bool) -> None:
    is_seen = is_own or (hand.cards and len(fact.cards) == fact.count)
    hand.card_count += fact.count
    if is_seen:
        hand.cards[:] = sorted([*hand.cards, *fact.cards])
    else:
        hand.known_cards[:] = sorted([*hand.cards, *hand.known_cards, *fact.cards])
        hand.ClearField("cards")


def _take_from_pile(view: pb.TableView, fact: pb.CardsMoved) -> list[pb.PileCard]:
    """Remove cards and return them with the seats that they came from; cards of a hidden pile have no seat."""
    pile = _pile(view, fact.source)
    pile.count -= fact.count
    taken = []
    for card in fact.cards:
        lying = next((laid for laid in pile.cards if laid.card == card), None)
        if lying is None:
            taken.append(pb.PileCard(card=card))
            continue
        taken.append(pb.PileCard.FromString(lying.SerializeToString()))
        pile.cards.remove(lying)
    if pile.count == 0:
        view.piles.remove(pile)
    return taken


def _pile(view: pb.TableView, place: pb.Place) -> pb.Pile:
    """Return the pile at a place, by default a new and empty one."""
    owner = place.owner if place.HasField("owner") else None
    wanted = pb.Pile(name=place.pile, owner=owner)
    for pile in view.piles:
        if _pile_order(pile) == _pile_order(wanted):
            return pile
    view.piles.append(wanted)
    view.piles.sort(key=_pile_order)
    return _pile(view, place)


def _pile_order(pile: pb.Pile) -> tuple[str, int]:
    return pile.name, pile.owner if pile.HasField("owner") else -1


def _call(view: pb.TableView, said: pb.Call) -> None:
    for call in view.calls:
        if call.seat == said.seat and not call.HasField("action"):
            call.CopyFrom(said)
            return
    view.calls.append(said)


def _put_out(view: pb.TableView, fact: pb.SeatOut) -> None:
    seat = view.seats[fact.seat]
    seat.is_out = True
    seat.ClearField("place")
    if fact.HasField("place"):
        seat.place = fact.place


def _change_mark(view: pb.TableView, changed: pb.Mark) -> None:
    marks = {_mark_order(mark): mark for mark in (*view.marks, changed)}
    kept = [pb.Mark.FromString(mark.SerializeToString()) for _, mark in sorted(marks.items()) if mark.HasField("value")]
    view.ClearField("marks")
    view.marks.extend(kept)


def _mark_order(mark: pb.Mark) -> tuple[str, int]:
    return mark.name, mark.seat if mark.HasField("seat") else -1
