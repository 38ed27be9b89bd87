"""Facts and views as messages of the contract."""

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

from croupier.engine.api.action_codec import encode_action, encode_card, encode_cards, encode_suit
from croupier.games import facts
from croupier.games.facts import Fact, OwnedPile, Place, Seat
from croupier_api.v1 import engine_pb2, facts_pb2


def encode_fact(fact: Fact) -> facts_pb2.Fact:
    """Return the message of a fact."""
    return _ENCODERS[type(fact)](fact)


def encode_fact_of_update(fact: Fact) -> bytes:
    """Return a fact as an encoded field of TableUpdate.

    Equal facts recur often, so their encoding is cached. Each kind has its own cache, because tuples of different kinds
    can be equal.
    """
    return _ENCODED[type(fact)](fact)


def _as_part_of_update(fact: Fact) -> bytes:
    return engine_pb2.TableUpdate(facts=[encode_fact(fact)]).SerializeToString()


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


def _round_started(fact: facts.RoundStarted) -> facts_pb2.Fact:
    return facts_pb2.Fact(round_started=facts_pb2.RoundStarted(round=fact.round_number, dealer=fact.dealer))


def _cards_moved(fact: facts.CardsMoved) -> facts_pb2.Fact:
    moved = facts_pb2.CardsMoved(
        source=_encode_place(fact.source),
        target=_encode_place(fact.target),
        cards=encode_cards(fact.cards),
        count=fact.card_count,
        reason=facts_pb2.MoveReason.ValueType(fact.reason),
        face_down=fact.face_down,
    )
    return facts_pb2.Fact(cards_moved=moved)


def _called(fact: facts.Called) -> facts_pb2.Fact:
    return facts_pb2.Fact(called=facts_pb2.Called(call=_encode_call(fact.call)))


def _contract_changed(fact: facts.ContractChanged) -> facts_pb2.Fact:
    changed = facts_pb2.ContractChanged(changes=_encode_contract(fact.changes))
    return facts_pb2.Fact(contract_changed=changed)


def _trick_taken(fact: facts.TrickTaken) -> facts_pb2.Fact:
    return facts_pb2.Fact(trick_taken=facts_pb2.TrickTaken(seat=fact.seat))


def _seat_out(fact: facts.SeatOut) -> facts_pb2.Fact:
    return facts_pb2.Fact(seat_out=facts_pb2.SeatOut(seat=fact.seat, place=fact.place))


def _hand_revealed(fact: facts.HandRevealed) -> facts_pb2.Fact:
    return facts_pb2.Fact(hand_revealed=facts_pb2.HandRevealed(seat=fact.seat, cards=encode_cards(fact.cards)))


def _mark_changed(fact: facts.MarkChanged) -> facts_pb2.Fact:
    return facts_pb2.Fact(mark_changed=facts_pb2.MarkChanged(mark=_encode_mark(fact.mark)))


def _card_order_changed(fact: facts.CardOrderChanged) -> facts_pb2.Fact:
    changed = facts_pb2.CardOrderChanged(cards=encode_cards(fact.cards))
    return facts_pb2.Fact(card_order_changed=changed)


def _turn_changed(fact: facts.TurnChanged) -> facts_pb2.Fact:
    return facts_pb2.Fact(turn_changed=facts_pb2.TurnChanged(phase=fact.phase, seats_to_act=fact.seats_to_act))


def _round_ended(fact: facts.RoundEnded) -> facts_pb2.Fact:
    return facts_pb2.Fact(round_ended=facts_pb2.RoundEnded(score=encode_score(fact.score)))


def _game_ended(fact: facts.GameEnded) -> facts_pb2.Fact:
    return facts_pb2.Fact(
        game_ended=facts_pb2.GameEnded(ranking=encode_ranking(fact.ranking), reason=fact.reason, is_void=fact.is_void)
    )


_ENCODERS: dict[type[Any], Callable[[Any], facts_pb2.Fact]] = {
    facts.RoundStarted: _round_started,
    facts.CardsMoved: _cards_moved,
    facts.Called: _called,
    facts.ContractChanged: _contract_changed,
    facts.TrickTaken: _trick_taken,
    facts.SeatOut: _seat_out,
    facts.HandRevealed: _hand_revealed,
    facts.MarkChanged: _mark_changed,
    facts.CardOrderChanged: _card_order_changed,
    facts.TurnChanged: _turn_changed,
    facts.RoundEnded: _round_ended,
    facts.GameEnded: _game_ended,
}
_SENT_ONCE = frozenset({facts.RoundEnded, facts.GameEnded, facts.HandRevealed, facts.CardOrderChanged})
"""Long facts, which are sent to all viewers of a table at once and hardly ever again."""
_ENCODED: dict[type[Any], Callable[[Any], bytes]] = {
    kind: lru_cache(maxsize=64 if kind in _SENT_ONCE else 2048)(_as_part_of_update) for kind in _ENCODERS
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
    )


def _encode_seat_view(seat: facts.SeatView) -> facts_pb2.SeatView:
    return facts_pb2.SeatView(
        card_count=seat.card_count,
        cards=encode_cards(seat.cards),
        score=seat.score,
        tricks_taken=seat.tricks_taken,
        is_out=seat.is_out,
        place=seat.place,
    )


def _encode_pile(pile: facts.Pile) -> facts_pb2.Pile:
    cards = [facts_pb2.PileCard(card=encode_card(lies.card), seat=lies.seat) for lies in pile.cards]
    return facts_pb2.Pile(
        name=pile.name, owner=pile.owner, count=pile.card_count, cards=cards, face_down=pile.face_down
    )


def _encode_mark(mark: facts.Mark) -> facts_pb2.Mark:
    return facts_pb2.Mark(name=mark.name, seat=mark.seat, value=mark.value)


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
        notes=score.notes,
        headline=score.headline,
        details=dict(score.details),
        counts=[facts_pb2.SeatCount(name=count.name, seat=count.seat, amount=count.amount) for count in score.counts],
    )


def encode_ranking(ranking: Iterable[tuple[Seat, ...]]) -> list[facts_pb2.RankGroup]:
    """Return the messages of a ranking, best first."""
    return [facts_pb2.RankGroup(seats=group) for group in ranking]
