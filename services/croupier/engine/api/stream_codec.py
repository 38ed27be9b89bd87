"""The messages of a table's streams.

All of them are encoded PlayTableResponse messages. WatchTableResponse has the same event under the same number, so the
bytes of an event are those of both. An update is put together from parts that are encoded once: its own fields, the
facts that a viewer may know, and their legal actions. Concatenated encoded fields are a message.
"""

from collections.abc import Iterable
from functools import lru_cache

from google.protobuf.timestamp_pb2 import Timestamp

from croupier.engine.api.action_codec import encode_action, encode_legal
from croupier.engine.api.fact_codec import encode_fact_of_update, encode_view
from croupier.engine.api.table_codec import encode_table
from croupier.engine.core.clock import Absence
from croupier.engine.core.fold import OpenProposal, TableState, Transition
from croupier.engine.core.log import AwaySet, ClockCompensated, ProposalEvent, TableConfig
from croupier.engine.tables.subscription import Encoder, Presence
from croupier.games.actions import Action
from croupier.games.facts import SPECTATOR, Fact, Seat, Viewer
from croupier.games.interface import SeatActed
from croupier.runtime.errors import ServiceError, to_status
from croupier_api.v1 import actions_pb2, engine_pb2, games_pb2
from croupier_api.v1.engine_pb2 import PlayTableResponse, TableEvent

_TABLE_EVENT: int = PlayTableResponse.TABLE_EVENT_FIELD_NUMBER
_UPDATE: int = TableEvent.UPDATE_FIELD_NUMBER
_LEGAL_ACTIONS: int = engine_pb2.TableUpdate.LEGAL_ACTIONS_FIELD_NUMBER


def _prefix(field_number: int, length: int) -> bytes:
    """Return the tag and the length that precede an embedded message."""
    prefix = bytearray((field_number << 3 | 2,))
    while length > 0x7F:
        prefix.append(length & 0x7F | 0x80)
        length >>= 7
    prefix.append(length)
    return bytes(prefix)


@lru_cache(maxsize=4096)
def _update_prefix(length: int) -> bytes:
    """Return the bytes that precede the fields of an update in a message of a stream."""
    prefix = _prefix(_UPDATE, length)
    return _prefix(_TABLE_EVENT, len(prefix) + length) + prefix


@lru_cache(maxsize=4096)
def _action_of_legal(action: Action) -> bytes:
    return actions_pb2.LegalActions(actions=[encode_action(action)]).SerializeToString()


class StreamEncoder(Encoder):
    """Encodes the messages of a table's streams; every `now` is in milliseconds since 1970 UTC."""

    def update(self, config: TableConfig, transition: Transition, known: Iterable[Fact], now: int) -> bytes:
        entry, after = transition.entry, transition.after
        update = engine_pb2.TableUpdate(
            sequence=entry.sequence,
            stored_unix_ms=entry.at,
            seat=entry.event.seat if isinstance(entry.event, SeatActed | ProposalEvent | AwaySet) else None,
            acted_by=engine_pb2.ActedBy.ValueType(entry.acted_by),
            clock=_encode_turn_clock(after, now),
            revealed_seed=config.seed.hex() if after.is_over else "",
            proposal=_encode_proposal(after.proposal),
            compensated_ms=entry.event.milliseconds if isinstance(entry.event, ClockCompensated) else 0,
            is_away=entry.event.is_away if isinstance(entry.event, AwaySet) else None,
        )
        return update.SerializeToString() + b"".join([encode_fact_of_update(fact) for fact in known])

    def legal_actions(self, table: TableState, seat: Seat) -> bytes:
        legal = table.legal_actions(seat)
        if legal.choices:
            encoded = encode_legal(legal).SerializeToString()
        else:
            encoded = b"".join(map(_action_of_legal, legal.actions))
        return _prefix(_LEGAL_ACTIONS, len(encoded)) + encoded

    def message_of_update(self, update: bytes) -> bytes:
        return _update_prefix(len(update)) + update

    def snapshot(
        self, config: TableConfig, table: TableState, viewer: Viewer, now: int, presence: Presence | None = None
    ) -> bytes:
        return _message(TableEvent(snapshot=encode_snapshot(config, table, viewer, now, presence)))

    def turn_state(self, table: TableState, viewer: Viewer, now: int) -> bytes:
        state = engine_pb2.TurnState(
            sequence=table.sequence,
            clock=_encode_turn_clock(table, now),
            legal_actions=_encode_legal_now(table, viewer),
            proposal=_encode_proposal(table.proposal),
        )
        return _message(TableEvent(turn_state=state))

    def reaction(self, seat: Seat, reaction: int) -> bytes:
        value = games_pb2.Reaction.ValueType(reaction)
        return _message(TableEvent(reaction=engine_pb2.SeatReaction(seat=seat, reaction=value)))

    def presence(self, presence: Presence) -> bytes:
        return _message(TableEvent(presence=_encode_presence(presence)))

    def heartbeat(self, sequence: int) -> bytes:
        return _message(TableEvent(heartbeat=engine_pb2.Heartbeat(sequence=sequence)))

    def resume_notice(self) -> bytes:
        return _message(TableEvent(resume_notice=engine_pb2.ResumeNotice()))


def _message(event: TableEvent) -> bytes:
    return PlayTableResponse(table_event=event).SerializeToString()


def encode_acceptance(request_id: str, sequence: int) -> bytes:
    """Return the message with the answer to an action that was stored."""
    answer = engine_pb2.ActionAnswer(request_id=request_id, sequence=sequence)
    return PlayTableResponse(answer=answer).SerializeToString()


def encode_refusal(request_id: str, error: ServiceError) -> bytes:
    """Return the message with the answer to an action that was refused, as the unary call refuses it."""
    answer = engine_pb2.ActionAnswer(request_id=request_id, refusal=to_status(error))
    return PlayTableResponse(answer=answer).SerializeToString()


def encode_snapshot(
    config: TableConfig, table: TableState, viewer: Viewer, now: int, presence: Presence | None = None
) -> engine_pb2.Snapshot:
    """Return everything that a viewer may know, at a time in milliseconds since 1970 UTC."""
    return engine_pb2.Snapshot(
        table=encode_table(config, table.is_over),
        sequence=table.sequence,
        viewer_seat=None if viewer == SPECTATOR else viewer,
        view=encode_view(table.view(viewer)),
        clock=_encode_turn_clock(table, now),
        legal_actions=_encode_legal_now(table, viewer),
        revealed_seed=config.seed.hex() if table.is_over else "",
        proposal=_encode_proposal(table.proposal),
        presence=presence and _encode_presence(presence),
    )


def _encode_presence(presence: Presence) -> engine_pb2.Presence:
    return engine_pb2.Presence(connected_seats=presence.seats, spectator_count=presence.spectators)


def _encode_legal_now(table: TableState, viewer: Viewer) -> actions_pb2.LegalActions | None:
    return encode_legal(table.legal_actions(viewer)) if viewer in table.seats_to_act else None


def _encode_turn_clock(table: TableState, now: int) -> engine_pb2.TurnClock:
    return engine_pb2.TurnClock(
        deadline_unix_ms=table.deadline,
        reserve_ms=table.clock.reserves,
        away_seats=[seat for seat, absence in enumerate(table.clock.absences) if absence],
        left_seats=[seat for seat, absence in enumerate(table.clock.absences) if absence >= Absence.LEFT],
        server_unix_ms=now,
    )


def _encode_proposal(proposal: OpenProposal | None) -> engine_pb2.Proposal | None:
    return proposal and engine_pb2.Proposal(
        sequence=proposal.sequence,
        name=proposal.name,
        proposer=proposal.proposer,
        agreed_seats=sorted(proposal.agreed),
        expiry_time=encode_time(proposal.expires_at),
    )


def encode_time(milliseconds: int) -> Timestamp:
    """Return a point in time, given in milliseconds since 1970 UTC."""
    return Timestamp(seconds=milliseconds // 1000, nanos=milliseconds % 1000 * 1_000_000)
