"""The fold of facts into a view, with which a client shows a game whose rules it does not know.

Folding every fact that a viewer received yields the message that the server would send them as their view, compared as
protobuf messages. An unknown value is an unset field, but `contract` itself is always set. A fact of a kind that is
newer than this client changes nothing.
"""

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, TypeAlias

from croupier_api.v1 import facts_pb2 as pb
from croupier_api.v1.cards_pb2 import Card
from croupier_client.errors import FoldError


def fold(view: pb.TableView, facts: Iterable[pb.Fact], viewer_seat: int | None) -> pb.TableView:
    """Return a new view with the facts folded in, in order; `viewer_seat` is None for a spectator.

    Raises FoldError for a fact that does not fit, for example one that names a seat the table does not have.
    """
    folded = pb.TableView()
    folded.CopyFrom(view)
    for fact in facts:
        _fold_one(folded, fact, viewer_seat)
    return folded


def _fold_one(view: pb.TableView, fact: pb.Fact, viewer_seat: int | None) -> None:
    kind = fact.WhichOneof("fact")
    if kind is None:
        return
    try:
        if kind == "cards_moved":
            _move_cards(view, fact.cards_moved, viewer_seat)
        else:
            _FOLDS[kind](view, getattr(fact, kind))
    except (IndexError, ValueError) as error:
        raise FoldError(f"a {kind} fact does not fit the view of round {view.round}") from error


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


def _move_cards(view: pb.TableView, fact: pb.CardsMoved, viewer_seat: int | None) -> None:
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
            hand = view.seats[fact.target.hand]
            _add_to_hand(hand, fact, visible=fact.target.hand == viewer_seat or bool(hand.cards))
        case "pile":
            pile = _pile(view, fact.target)
            pile.count += fact.count
            pile.cards.extend(moved)
            pile.face_down = fact.face_down


def _take_from_hand(hand: pb.SeatView, fact: pb.CardsMoved) -> None:
    hand.card_count -= fact.count
    for card in fact.cards:
        if card in hand.cards:
            hand.cards.remove(card)


def _add_to_hand(hand: pb.SeatView, fact: pb.CardsMoved, *, visible: bool) -> None:
    hand.card_count += fact.count
    if visible:
        _set_cards(hand, [*hand.cards, *fact.cards])


def _set_cards(hand: pb.SeatView, cards: Iterable[Card.ValueType]) -> None:
    hand.cards[:] = sorted(cards)


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


def _call(view: pb.TableView, fact: pb.Called) -> None:
    for call in view.calls:
        if call.seat == fact.call.seat and not call.HasField("action"):
            call.CopyFrom(fact.call)
            return
    view.calls.append(fact.call)


def _change_contract(view: pb.TableView, fact: pb.ContractChanged) -> None:
    view.contract.MergeFrom(fact.changes)


def _take_trick(view: pb.TableView, fact: pb.TrickTaken) -> None:
    view.seats[fact.seat].tricks_taken += 1


def _put_out(view: pb.TableView, fact: pb.SeatOut) -> None:
    seat = view.seats[fact.seat]
    seat.is_out = True
    seat.ClearField("place")
    if fact.HasField("place"):
        seat.place = fact.place


def _reveal_hand(view: pb.TableView, fact: pb.HandRevealed) -> None:
    _set_cards(view.seats[fact.seat], fact.cards)


def _change_mark(view: pb.TableView, fact: pb.MarkChanged) -> None:
    marks = {_mark_order(mark): mark for mark in view.marks}
    marks[_mark_order(fact.mark)] = fact.mark
    kept = [pb.Mark.FromString(marks[order].SerializeToString()) for order in sorted(marks) if marks[order].value]
    view.ClearField("marks")
    view.marks.extend(kept)


def _mark_order(mark: pb.Mark) -> tuple[str, int]:
    return mark.name, mark.seat if mark.HasField("seat") else -1


def _change_card_order(view: pb.TableView, fact: pb.CardOrderChanged) -> None:
    view.card_order[:] = fact.cards


def _change_turn(view: pb.TableView, fact: pb.TurnChanged) -> None:
    view.phase = fact.phase
    view.seats_to_act[:] = fact.seats_to_act


def _end_round(view: pb.TableView, fact: pb.RoundEnded) -> None:
    if len(fact.score.totals) != len(view.seats):
        raise ValueError("a total for each seat is needed")
    for seat, total in zip(view.seats, fact.score.totals, strict=True):
        seat.score = total


def _end_game(view: pb.TableView, fact: pb.GameEnded) -> None:
    view.ClearField("seats_to_act")
    view.ClearField("ranking")
    view.ranking.extend(fact.ranking)


_Fold: TypeAlias = Callable[[pb.TableView, Any], None]

_FOLDS: Mapping[str, _Fold] = MappingProxyType(
    {
        "round_started": _start_round,
        "called": _call,
        "contract_changed": _change_contract,
        "trick_taken": _take_trick,
        "seat_out": _put_out,
        "hand_revealed": _reveal_hand,
        "mark_changed": _change_mark,
        "card_order_changed": _change_card_order,
        "turn_changed": _change_turn,
        "round_ended": _end_round,
        "game_ended": _end_game,
    }
)
