"""Facts folded into a view: all that a client needs in order to show a game whose rules it does not know.

The law: folding every fact that a viewer received gives the very message that the server would send him as his view,
compared as protobuf messages. An unknown value is an unset field, but `contract` itself is always set.
"""

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, TypeAlias

from croupier_api.v1 import table_pb2 as pb
from croupier_api.v1.cards_pb2 import Card
from croupier_client.errors import FoldError


def fold(view: pb.TableView, facts: Iterable[pb.Fact], viewer_seat: int | None) -> pb.TableView:
    """A new view with the facts folded in, in order; `viewer_seat` is None for a spectator.

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
        raise FoldError("the view is lost: the server sent a kind of fact that this client is too old to know")
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
    view.contract.CopyFrom(pb.ContractChanged())
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
            pile = _pile(view, fact.target.pile)
            pile.count += fact.count
            pile.cards.extend(moved)


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
    """Give the cards as they lay, with the seats that they came from; cards of a hidden pile come from nobody."""
    pile = _pile(view, fact.source.pile)
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


def _pile(view: pb.TableView, name: str) -> pb.Pile:
    """The pile of this name, a new and empty one if nothing lies there yet."""
    for pile in view.piles:
        if pile.name == name:
            return pile
    view.piles.add(name=name)
    view.piles.sort(key=lambda pile: pile.name)
    return _pile(view, name)


def _call(view: pb.TableView, fact: pb.Called) -> None:
    for call in view.calls:
        if call.seat == fact.seat and not call.HasField("action"):
            call.CopyFrom(fact)
            return
    view.calls.append(fact)


def _change_contract(view: pb.TableView, fact: pb.ContractChanged) -> None:
    view.contract.MergeFrom(fact)


def _take_trick(view: pb.TableView, fact: pb.TrickTaken) -> None:
    view.seats[fact.seat].tricks_taken += 1


def _put_out(view: pb.TableView, fact: pb.SeatOut) -> None:
    view.seats[fact.seat].out = True
    view.seats[fact.seat].place = fact.place


def _reveal_hand(view: pb.TableView, fact: pb.HandRevealed) -> None:
    _set_cards(view.seats[fact.seat], fact.cards)


def _mark(view: pb.TableView, fact: pb.Marked) -> None:
    marks = {_mark_order(mark): mark for mark in view.marks}
    marks[_mark_order(fact.mark)] = fact.mark
    kept = [pb.Mark.FromString(marks[order].SerializeToString()) for order in sorted(marks) if marks[order].value]
    view.ClearField("marks")
    view.marks.extend(kept)


def _mark_order(mark: pb.Mark) -> tuple[str, int]:
    return mark.name, mark.seat if mark.HasField("seat") else -1


def _order_cards(view: pb.TableView, fact: pb.CardOrder) -> None:
    view.card_order[:] = fact.cards


def _change_turn(view: pb.TableView, fact: pb.TurnChanged) -> None:
    view.phase = fact.phase
    view.seats_to_act[:] = fact.seats_to_act


def _end_round(view: pb.TableView, fact: pb.RoundEnded) -> None:
    if len(fact.totals) != len(view.seats):
        raise ValueError("a total for each seat is needed")
    for seat, total in zip(view.seats, fact.totals, strict=True):
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
        "marked": _mark,
        "card_order": _order_cards,
        "turn_changed": _change_turn,
        "round_ended": _end_round,
        "game_ended": _end_game,
    }
)
