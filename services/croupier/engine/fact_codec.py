"""Facts and views as messages of the contract, and the messages of a stream.

All stream messages are PlayResponse bytes; a WatchTableResponse has the same fields under the same numbers. Encoded
fields put one after the other are one protobuf message, which is used for what comes again and again: a fact, a legal
action. Embedded messages come once each, since some decoders replace one that comes twice instead of merging it.
"""

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

from croupier.engine.clock import ClockState
from croupier.engine.codec import encode_action, encode_card, encode_cards, encode_legal, encode_suit, encode_table_info
from croupier.engine.log import Said, TableConfig, TimeCredited
from croupier.engine.proposals import OpenProposal
from croupier.engine.table import Step, TableState
from croupier.games import facts
from croupier.games.actions import Action
from croupier.games.facts import SPECTATOR, Fact, Place, Seat, Viewer
from croupier.games.interface import SeatActed
from croupier.runtime.errors import ServiceError
from croupier_api.v1 import engine_pb2, table_pb2

_Message = engine_pb2.PlayResponse


_UPDATE: int = _Message.UPDATE_FIELD_NUMBER
_LEGAL_ACTIONS: int = _Message.LEGAL_ACTIONS_FIELD_NUMBER


def _part(field_number: int, encoded: bytes) -> bytes:
    """An embedded message that is encoded already, as a field of the message around it."""
    prefix = bytearray((field_number << 3 | 2,))
    length = len(encoded)
    while length > 0x7F:
        prefix.append(length & 0x7F | 0x80)
        length >>= 7
    prefix.append(length)
    return bytes(prefix) + encoded


class StreamEncoder:
    """Writes the messages of a table's streams."""

    def update(self, config: TableConfig, step: Step, known: Iterable[Fact]) -> bytes:
        """A log entry with those of its facts that are meant."""
        entry, after = step.entry, step.after
        update = engine_pb2.TableUpdate(
            sequence=entry.sequence,
            at_milliseconds=entry.at,
            seat=entry.event.seat if isinstance(entry.event, SeatActed | Said) else None,
            acted_by=engine_pb2.ActedBy.ValueType(entry.acted_by),
            clock=encode_turn_clock(after.clock, after.deadline),
            revealed_seed=config.seed.hex() if after.is_over else "",
            proposal=encode_proposal(after.proposal),
            credited_milliseconds=entry.event.milliseconds if isinstance(entry.event, TimeCredited) else 0,
        )
        return _part(_UPDATE, update.SerializeToString() + b"".join([_fact_of_update(fact) for fact in known]))

    def legal_actions(self, table: TableState, seat: Seat) -> bytes:
        """What a seat may do, to be added to the update that brought it on turn."""
        legal = table.game.legal_actions(seat)
        if legal.choices:
            return _part(_LEGAL_ACTIONS, encode_legal(legal).SerializeToString())
        return _part(_LEGAL_ACTIONS, b"".join(map(_action_of_legal, legal.actions)))

    def snapshot(self, config: TableConfig, table: TableState, viewer: Viewer) -> bytes:
        """All that a viewer may know."""
        return _Message(snapshot=encode_snapshot(config, table, viewer)).SerializeToString()

    def reaction(self, seat: Seat, reaction: str) -> bytes:
        """Somebody's reaction."""
        return _Message(reaction=engine_pb2.Reaction(seat=seat, reaction=reaction)).SerializeToString()

    def heartbeat(self, sequence: int) -> bytes:
        """Proof of life."""
        return _Message(heartbeat=engine_pb2.Heartbeat(sequence=sequence)).SerializeToString()

    def resume_notice(self) -> bytes:
        """The last message of a stream that goes on at another engine."""
        return _Message(resume_notice=engine_pb2.ResumeNotice()).SerializeToString()


def encode_accepted(request_id: str, sequence: int) -> bytes:
    """The answer to an action that was stored."""
    return _Message(answer=engine_pb2.ActionAnswer(request_id=request_id, sequence=sequence)).SerializeToString()


def encode_refused(request_id: str, error: ServiceError) -> bytes:
    """The answer to an action that was refused."""
    refusal = engine_pb2.Refusal(code=error.code.value[0], reason=error.reason, rule=error.rule, message=error.message)
    return _Message(answer=engine_pb2.ActionAnswer(request_id=request_id, refusal=refusal)).SerializeToString()


def encode_turn_clock(clock: ClockState, deadline: int) -> engine_pb2.TurnClock:
    """Who has until when."""
    return engine_pb2.TurnClock(
        deadline_milliseconds=deadline,
        reserve_milliseconds=clock.reserves,
        away_seats=[seat for seat, away in enumerate(clock.away) if away],
    )


def encode_snapshot(config: TableConfig, table: TableState, viewer: Viewer) -> engine_pb2.Snapshot:
    """All that a viewer may know."""
    return engine_pb2.Snapshot(
        table=encode_table_info(config),
        sequence=table.sequence,
        viewer_seat=None if viewer == SPECTATOR else viewer,
        view=encode_view(table.game.view(viewer)),
        clock=encode_turn_clock(table.clock, table.deadline),
        legal_actions=encode_legal(table.game.legal_actions(viewer)) if viewer in table.seats_to_act else None,
        revealed_seed=config.seed.hex() if table.is_over else "",
        proposal=encode_proposal(table.proposal),
    )


def encode_proposal(proposal: OpenProposal | None) -> engine_pb2.Proposal | None:
    """What is proposed, if anything."""
    return proposal and engine_pb2.Proposal(
        sequence=proposal.sequence,
        name=proposal.name,
        proposer=proposal.proposer,
        agreed_seats=sorted(proposal.agreed),
        expires_milliseconds=proposal.expires_at,
    )


# Facts. The same ones come again and again, so they are kept encoded. Each kind has a cache of its own, because tuples
# of different kinds can be equal.


def encode_fact(fact: Fact) -> table_pb2.Fact:
    """The message of a fact."""
    return _ENCODERS[type(fact)](fact)


def _fact_of_update(fact: Fact) -> bytes:
    return _ENCODED[type(fact)](fact)


def _as_part_of_update(fact: Fact) -> bytes:
    return engine_pb2.TableUpdate(facts=[encode_fact(fact)]).SerializeToString()


@lru_cache(maxsize=4096)
def _action_of_legal(action: Action) -> bytes:
    return table_pb2.LegalActions(actions=[encode_action(action)]).SerializeToString()


def _encode_place(place: Place) -> table_pb2.Place:
    if place is None:
        return table_pb2.Place()
    return table_pb2.Place(hand=place) if isinstance(place, int) else table_pb2.Place(pile=place)


def _round_started(fact: facts.RoundStarted) -> table_pb2.Fact:
    return table_pb2.Fact(round_started=table_pb2.RoundStarted(round=fact.round_number, dealer=fact.dealer))


def _cards_moved(fact: facts.CardsMoved) -> table_pb2.Fact:
    moved = table_pb2.CardsMoved(
        source=_encode_place(fact.source),
        target=_encode_place(fact.target),
        cards=encode_cards(fact.cards),
        count=fact.card_count,
        reason=table_pb2.MoveReason.ValueType(fact.reason),
    )
    return table_pb2.Fact(cards_moved=moved)


def _called(fact: facts.Called) -> table_pb2.Fact:
    return table_pb2.Fact(called=encode_called(fact))


def _contract_changed(fact: facts.ContractChanged) -> table_pb2.Fact:
    return table_pb2.Fact(contract_changed=encode_contract(fact))


def _trick_taken(fact: facts.TrickTaken) -> table_pb2.Fact:
    return table_pb2.Fact(trick_taken=table_pb2.TrickTaken(seat=fact.seat))


def _seat_out(fact: facts.SeatOut) -> table_pb2.Fact:
    return table_pb2.Fact(seat_out=table_pb2.SeatOut(seat=fact.seat, place=fact.place))


def _hand_revealed(fact: facts.HandRevealed) -> table_pb2.Fact:
    return table_pb2.Fact(hand_revealed=table_pb2.HandRevealed(seat=fact.seat, cards=encode_cards(fact.cards)))


def _marked(fact: facts.Marked) -> table_pb2.Fact:
    mark = table_pb2.Mark(name=fact.name, seat=fact.seat, value=fact.value)
    return table_pb2.Fact(marked=table_pb2.Marked(mark=mark))


def _card_order(fact: facts.CardOrder) -> table_pb2.Fact:
    return table_pb2.Fact(card_order=table_pb2.CardOrder(cards=encode_cards(fact.cards)))


def _turn_changed(fact: facts.TurnChanged) -> table_pb2.Fact:
    return table_pb2.Fact(turn_changed=table_pb2.TurnChanged(phase=fact.phase, seats_to_act=fact.seats_to_act))


def _round_ended(fact: facts.RoundEnded) -> table_pb2.Fact:
    ended = table_pb2.RoundEnded(
        round=fact.round_number,
        points=fact.points,
        totals=fact.totals,
        notes=fact.notes,
        headline=fact.headline,
        details=dict(fact.details),
        counts=encode_counts(fact.counts),
    )
    return table_pb2.Fact(round_ended=ended)


def _game_ended(fact: facts.GameEnded) -> table_pb2.Fact:
    return table_pb2.Fact(game_ended=table_pb2.GameEnded(ranking=encode_ranking(fact.ranking), reason=fact.reason))


_ENCODERS: dict[type[Any], Callable[[Any], table_pb2.Fact]] = {
    facts.RoundStarted: _round_started,
    facts.CardsMoved: _cards_moved,
    facts.Called: _called,
    facts.ContractChanged: _contract_changed,
    facts.TrickTaken: _trick_taken,
    facts.SeatOut: _seat_out,
    facts.HandRevealed: _hand_revealed,
    facts.Marked: _marked,
    facts.CardOrder: _card_order,
    facts.TurnChanged: _turn_changed,
    facts.RoundEnded: _round_ended,
    facts.GameEnded: _game_ended,
}
_SAID_ONCE = frozenset({facts.RoundEnded, facts.GameEnded, facts.HandRevealed, facts.CardOrder})
"""Facts that are long, and are told to all viewers of a table at once and hardly ever again."""
_ENCODED: dict[type[Any], Callable[[Any], bytes]] = {
    kind: lru_cache(maxsize=64 if kind in _SAID_ONCE else 2048)(_as_part_of_update) for kind in _ENCODERS
}


# Views


def encode_view(view: facts.View) -> table_pb2.TableView:
    """The message of a view."""
    return table_pb2.TableView(
        round=view.round_number,
        phase=view.phase,
        dealer=view.dealer,
        seats=[_seat_view(seat) for seat in view.seats],
        piles=[_pile(pile) for pile in view.piles],
        calls=[encode_called(called) for called in view.calls],
        contract=encode_contract(view.contract),
        marks=[table_pb2.Mark(name=mark.name, seat=mark.seat, value=mark.value) for mark in view.marks],
        seats_to_act=view.seats_to_act,
        ranking=encode_ranking(view.ranking),
        card_order=encode_cards(view.card_order),
    )


def _seat_view(seat: facts.SeatView) -> table_pb2.SeatView:
    return table_pb2.SeatView(
        card_count=seat.card_count,
        cards=encode_cards(seat.cards),
        score=seat.score,
        tricks_taken=seat.tricks_taken,
        out=seat.out,
        place=seat.place,
    )


def _pile(pile: facts.Pile) -> table_pb2.Pile:
    cards = [table_pb2.PileCard(card=encode_card(lies.card), seat=lies.seat) for lies in pile.cards]
    return table_pb2.Pile(name=pile.name, count=pile.card_count, cards=cards)


def encode_called(called: facts.Called) -> table_pb2.Called:
    """A call; a secret one has no action."""
    action = None if called.action is None else encode_action(called.action)
    return table_pb2.Called(seat=called.seat, action=action)


def encode_contract(contract: facts.ContractChanged) -> table_pb2.ContractChanged:
    """What is known of a contract."""
    return table_pb2.ContractChanged(
        declarer=contract.declarer,
        partner=contract.partner,
        name=contract.name,
        amount=contract.amount,
        trump=None if contract.trump is None else encode_suit(contract.trump),
    )


def encode_counts(counts: Iterable[facts.Count]) -> list[table_pb2.SeatCount]:
    """What statistics add up of a round."""
    return [table_pb2.SeatCount(name=count.name, seat=count.seat, amount=count.amount) for count in counts]


def encode_ranking(ranking: tuple[tuple[Seat, ...], ...]) -> list[table_pb2.RankGroup]:
    """Groups of seats, best first."""
    return [table_pb2.RankGroup(seats=group) for group in ranking]
