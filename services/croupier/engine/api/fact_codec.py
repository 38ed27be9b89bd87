"""Facts and views as messages of the contract."""

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, get_args

from croupier.engine.api.action_codec import encode_action, encode_card, encode_cards, encode_suit
from croupier.engine.api.wire import double_prefix, prefix, varint
from croupier.games import facts
from croupier.games.cards import OWN_CARDS
from croupier.games.facts import Fact, OwnedPile, Place, Seat
from croupier.games.values import (
    CardsValue,
    NumberValue,
    Phrases,
    PointsValue,
    SeatsValue,
    SeatValue,
    SuitValue,
    Value,
    WordValue,
)
from croupier_api.v1 import engine_pb2, facts_pb2

_FACTS: int = engine_pb2.TableUpdate.FACTS_FIELD_NUMBER
_CARDS_MOVED: int = facts_pb2.Fact.CARDS_MOVED_FIELD_NUMBER
_CARDS: int = facts_pb2.CardsMoved.CARDS_FIELD_NUMBER
_CARD_NUMBERS = tuple(varint(card + 1) for card in range(OWN_CARDS.stop))
"""By card, the encoding of its number."""


def encode_fact(fact: Fact) -> facts_pb2.Fact:
    """Return the message of a fact."""
    message = facts_pb2.Fact()
    match fact:
        case facts.RoundStarted(round_number, dealer):
            message.round_started.CopyFrom(facts_pb2.RoundStarted(round=round_number, dealer=dealer))
        case facts.CardsMoved():
            message.cards_moved.MergeFromString(_move_bytes(fact))
        case facts.Called(call):
            message.called.call.CopyFrom(_encode_call(call))
        case facts.ContractChanged(changes):
            message.contract_changed.changes.CopyFrom(_encode_contract(changes))
        case facts.TrickTaken(seat):
            message.trick_taken.CopyFrom(facts_pb2.TrickTaken(seat=seat))
        case facts.SeatOut(seat, place):
            message.seat_out.CopyFrom(facts_pb2.SeatOut(seat=seat, place=place))
        case facts.HandRevealed(seat, cards):
            message.hand_revealed.CopyFrom(facts_pb2.HandRevealed(seat=seat, cards=encode_cards(cards)))
        case facts.MarkChanged(mark):
            message.mark_changed.mark.CopyFrom(_encode_mark(mark))
        case facts.CardOrderChanged(cards):
            message.card_order_changed.CopyFrom(facts_pb2.CardOrderChanged(cards=encode_cards(cards)))
        case facts.TurnChanged(phase, seats_to_act):
            message.turn_changed.CopyFrom(facts_pb2.TurnChanged(phase=phase, seats_to_act=seats_to_act))
        case facts.RoundEnded(score):
            message.round_ended.score.CopyFrom(encode_score(score))
        case _:
            ranking = encode_ranking(fact.ranking)
            message.game_ended.CopyFrom(facts_pb2.GameEnded(ranking=ranking, reason=fact.reason, is_void=fact.is_void))
    return message


def _move_bytes(fact: facts.CardsMoved) -> bytes:
    """Return the fields of a move by hand, as the cards of tricks and hands are hardly ever the same again."""
    source, target, cards, count, reason, _, face_down, word = fact
    before, after = _around_cards(source, target, count, reason, face_down, word)
    if not cards:
        return before + after
    numbers = b"".join([_CARD_NUMBERS[card] for card in cards])
    return before + prefix(_CARDS, len(numbers)) + numbers + after


@lru_cache(maxsize=2048)
def _around_cards(
    source: Place, target: Place, count: int, reason: facts.MoveReason, face_down: bool, word: str
) -> tuple[bytes, bytes]:
    """Return the fields of a move before its cards, and those after them."""
    before = facts_pb2.CardsMoved(source=_encode_place(source), target=_encode_place(target))
    after = facts_pb2.CardsMoved(
        count=count, reason=facts_pb2.MoveReason.ValueType(reason), face_down=face_down, word=word
    )
    return before.SerializeToString(), after.SerializeToString()


def _encode_place(place: Place) -> facts_pb2.Place:
    match place:
        case None:
            return facts_pb2.Place()
        case int():
            return facts_pb2.Place(hand=place)
        case OwnedPile(name, owner):
            return facts_pb2.Place(pile=name, owner=owner)
        case _:
            return facts_pb2.Place(pile=place)


def encode_facts_of_update(known: Iterable[Fact]) -> bytes:
    """Return facts as encoded fields of TableUpdate.

    Equal facts recur often, so their encoding is cached. Each kind has its own cache, because tuples of different kinds
    can be equal.
    """
    return b"".join([_ENCODED[type(fact)](fact) for fact in known])


def _as_part_of_update(fact: Fact) -> bytes:
    return engine_pb2.TableUpdate(facts=[encode_fact(fact)]).SerializeToString()


def _move_as_part_of_update(fact: facts.CardsMoved) -> bytes:
    move = _move_bytes(fact)
    return double_prefix(_FACTS, _CARDS_MOVED, len(move)) + move


_SENT_ONCE = frozenset({facts.RoundEnded, facts.GameEnded, facts.HandRevealed, facts.CardOrderChanged})
"""Long facts, which are sent to all viewers of a table at once and hardly ever again."""
_ENCODED: dict[type[Any], Callable[[Any], bytes]] = {
    kind: lru_cache(maxsize=64 if kind in _SENT_ONCE else 2048)(
        _move_as_part_of_update if kind is facts.CardsMoved else _as_part_of_update
    )
    for kind in get_args(Fact)
}


# Views


def encode_view(view: facts.View) -> facts_pb2.TableView:
    """Return the message of a view."""
    return facts_pb2.TableView(
        round=view.round_number,
        phase=view.phase,
        dealer=view.dealer,
        seats=[_encode_seat_view(seat) for seat in view.seats],
        piles=[_encode_pile(pile) for pile in view.piles],
        calls=[_encode_call(call) for call in view.calls],
        contract=_encode_contract(view.contract),
        marks=[_encode_mark(mark) for mark in view.marks],
        seats_to_act=view.seats_to_act,
        ranking=encode_ranking(view.ranking),
        card_order=encode_cards(view.card_order),
        is_void=view.is_void,
    )


def _encode_seat_view(seat: facts.SeatView) -> facts_pb2.SeatView:
    return facts_pb2.SeatView(
        card_count=seat.card_count,
        cards=encode_cards(seat.cards),
        score=seat.score,
        tricks_taken=seat.tricks_taken,
        is_out=seat.is_out,
        place=seat.place,
        known_cards=encode_cards(seat.known_cards),
    )


def _encode_pile(pile: facts.Pile) -> facts_pb2.Pile:
    cards = [facts_pb2.PileCard(card=encode_card(lies.card), seat=lies.seat) for lies in pile.cards]
    return facts_pb2.Pile(
        name=pile.name, owner=pile.owner, count=pile.card_count, cards=cards, face_down=pile.face_down
    )


def _encode_mark(mark: facts.Mark) -> facts_pb2.Mark:
    value = None if mark.value is None else encode_value(mark.value)
    return facts_pb2.Mark(name=mark.name, seat=mark.seat, value=value)


def encode_value(value: Value) -> facts_pb2.Value:
    """Return the message of a value."""
    match value:
        case NumberValue(number):
            return facts_pb2.Value(number=number)
        case WordValue(word):
            return facts_pb2.Value(word=word)
        case SeatValue(seat):
            return facts_pb2.Value(seat=seat)
        case SeatsValue(seats):
            return facts_pb2.Value(seats=facts_pb2.SeatList(seats=seats))
        case SuitValue(suit):
            return facts_pb2.Value(suit=encode_suit(suit))
        case CardsValue(cards):
            return facts_pb2.Value(cards=facts_pb2.CardList(cards=encode_cards(cards)))
        case PointsValue(points):
            return facts_pb2.Value(points=facts_pb2.PointList(points=points))


def _encode_phrases(phrases: Phrases) -> list[facts_pb2.Phrase]:
    return [
        facts_pb2.Phrase(
            word=phrase.word,
            parameters=[facts_pb2.Parameter(name=name, value=encode_value(value)) for name, value in phrase.parameters],
        )
        for phrase in phrases
    ]


def _encode_call(call: facts.Call) -> facts_pb2.Call:
    # A secret call has no action.
    action = None if call.action is None else encode_action(call.action)
    return facts_pb2.Call(seat=call.seat, action=action)


def _encode_contract(contract: facts.Contract) -> facts_pb2.Contract:
    return facts_pb2.Contract(
        declarer=contract.declarer,
        partner=contract.partner,
        name=contract.name,
        amount=contract.amount,
        trump=None if contract.trump is None else encode_suit(contract.trump),
    )


def encode_score(score: facts.RoundScore) -> facts_pb2.RoundScore:
    """Return the message of the score of a round."""
    return facts_pb2.RoundScore(
        round=score.round_number,
        points=score.points,
        totals=score.totals,
        notes=[facts_pb2.Note(phrases=_encode_phrases(note)) for note in score.notes],
        headline=_encode_phrases(score.headline),
        details=[_encode_mark(detail) for detail in score.details],
        counts=[facts_pb2.SeatCount(name=count.name, seat=count.seat, amount=count.amount) for count in score.counts],
    )


def encode_ranking(ranking: Iterable[tuple[Seat, ...]]) -> list[facts_pb2.RankGroup]:
    """Return the messages of a ranking, best first."""
    return [facts_pb2.RankGroup(seats=group) for group in ranking]
