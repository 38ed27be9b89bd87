"""The messages of a table's streams.

All of them are encoded PlayTableResponse messages. WatchTableResponse has the same event under the same number, so the
bytes of an event are those of both. An update is put together from parts that are encoded once: its own fields, the
facts that a viewer may know, and their legal actions. Concatenated encoded fields are a message.

Every move sends an update and an answer, so their own fields are written by hand, at less than half the cost of message
objects. No sequence and no time is 0 and no request id is empty, which a message would omit.
"""

from collections.abc import Iterable
from functools import lru_cache

from google.protobuf.timestamp_pb2 import Timestamp

from croupier.engine.api.action_codec import encode_action, encode_legal
from croupier.engine.api.fact_codec import encode_facts_of_update, encode_view
from croupier.engine.api.table_codec import encode_table
from croupier.engine.api.wire import double_prefix, prefix, tag, varint
from croupier.engine.core.clock import Absence
from croupier.engine.core.fold import OpenProposal, TableState, Transition
from croupier.engine.core.log import ActedBy, AwaySet, ClockCompensated, Proposed, TableConfig, Voted
from croupier.engine.tables.subscription import Encoder, Presence
from croupier.games.actions import PLAYS, Action
from croupier.games.facts import ALL_SEATS, SPECTATOR, Fact, Seat, Viewer
from croupier.games.interface import SeatActed
from croupier.runtime.errors import ServiceError, invalid_field, to_status
from croupier_api.v1 import actions_pb2, engine_pb2, games_pb2
from croupier_api.v1.engine_pb2 import PlayTableResponse, TableEvent

_TABLE_EVENT: int = PlayTableResponse.TABLE_EVENT_FIELD_NUMBER
_ANSWER: int = PlayTableResponse.ANSWER_FIELD_NUMBER
_REQUEST_ID: int = engine_pb2.ActionAnswer.REQUEST_ID_FIELD_NUMBER
_UPDATE: int = TableEvent.UPDATE_FIELD_NUMBER
_CLOCK: int = engine_pb2.TableUpdate.CLOCK_FIELD_NUMBER
_LEGAL_ACTIONS: int = engine_pb2.TableUpdate.LEGAL_ACTIONS_FIELD_NUMBER
_EVENTS_OF_SEATS = (SeatActed, Proposed, Voted, AwaySet)


_SEQUENCE_TAG = tag(engine_pb2.TableUpdate.SEQUENCE_FIELD_NUMBER)
_ANSWERED_TAG = tag(engine_pb2.ActionAnswer.SEQUENCE_FIELD_NUMBER)
_STORED_TAG = tag(engine_pb2.TableUpdate.STORED_UNIX_MS_FIELD_NUMBER)
_DEADLINE_TAG = tag(engine_pb2.TurnClock.DEADLINE_UNIX_MS_FIELD_NUMBER)
_SERVER_TAG = tag(engine_pb2.TurnClock.SERVER_UNIX_MS_FIELD_NUMBER)


@lru_cache(maxsize=4096)
def _action_of_legal(action: Action) -> bytes:
    return actions_pb2.LegalActions(actions=[encode_action(action)]).SerializeToString()


_LEGAL_PLAY = {id(play): _action_of_legal(play) for play in PLAYS}
"""By identity, since the hash of an action takes longer than all else."""


class StreamEncoder(Encoder):
    """Encodes the messages of a table's streams; every `now` is in milliseconds since 1970 UTC."""

    def update(self, config: TableConfig, transition: Transition, known: Iterable[Fact], now: int) -> bytes:
        entry, _, after, _, _ = transition
        sequence, at, _, event, acted_by, _ = entry
        head = _SEQUENCE_TAG + varint(sequence) + _STORED_TAG + varint(at)
        actor = _actor(event.seat if isinstance(event, _EVENTS_OF_SEATS) else None, acted_by)
        clock = _turn_clock_bytes(after, now)
        is_usual = type(event) is SeatActed and after.proposal is None and not after.is_over
        rest = b"" if is_usual else _rare_fields(config, transition)
        return b"".join((head, actor, prefix(_CLOCK, len(clock)), clock, rest, encode_facts_of_update(known)))

    def legal_actions(self, table: TableState, seat: Seat) -> bytes:
        legal = table.legal_actions(seat)
        if legal.choices:
            encoded = encode_legal(legal).SerializeToString()
        else:
            encoded = b"".join([_LEGAL_PLAY.get(id(action)) or _action_of_legal(action) for action in legal.actions])
        return prefix(_LEGAL_ACTIONS, len(encoded)) + encoded

    def message_of_update(self, update: bytes) -> bytes:
        return double_prefix(_TABLE_EVENT, _UPDATE, len(update)) + update

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


@lru_cache(maxsize=256)
def _actor(seat: Seat | None, acted_by: ActedBy) -> bytes:
    update = engine_pb2.TableUpdate(seat=seat, acted_by=engine_pb2.ActedBy.ValueType(acted_by))
    return update.SerializeToString()


def _rare_fields(config: TableConfig, transition: Transition) -> bytes:
    """Return the fields of an update that the action of a seat usually does not have."""
    event, after = transition.entry.event, transition.after
    update = engine_pb2.TableUpdate(
        revealed_seed=config.seed.hex() if after.is_over else "",
        proposal=_encode_proposal(after.proposal),
        compensated_ms=event.milliseconds if isinstance(event, ClockCompensated) else 0,
        is_away=event.is_away if isinstance(event, AwaySet) else None,
    )
    return update.SerializeToString()


def _message(event: TableEvent) -> bytes:
    return PlayTableResponse(table_event=event).SerializeToString()


def encode_acceptance(request_id: str, sequence: int) -> bytes:
    """Return the message with the answer to an action that was stored."""
    encoded = request_id.encode()
    answer = prefix(_REQUEST_ID, len(encoded)) + encoded + _ANSWERED_TAG + varint(sequence)
    return prefix(_ANSWER, len(answer)) + answer


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
    return engine_pb2.TurnClock.FromString(_turn_clock_bytes(table, now))


def _turn_clock_bytes(table: TableState, now: int) -> bytes:
    clock = table.clock
    seats, left_seats = _seats_of_clock(clock.reserves, clock.absences)
    deadline = _DEADLINE_TAG + varint(table.due.at) if table.due else b""
    return b"".join((deadline, seats, _SERVER_TAG, varint(now), left_seats))


@lru_cache(maxsize=4096)
def _seats_of_clock(reserves: tuple[int, ...], absences: tuple[Absence, ...]) -> tuple[bytes, bytes]:
    """Return the fields of a clock that rarely change: those before the time of the server, and those after it."""
    away = [seat for seat, absence in enumerate(absences) if absence]
    left = [seat for seat, absence in enumerate(absences) if absence >= Absence.LEFT]
    seats = engine_pb2.TurnClock(reserve_ms=reserves, away_seats=away)
    return seats.SerializeToString(), engine_pb2.TurnClock(left_seats=left).SerializeToString()


def _encode_proposal(proposal: OpenProposal | None) -> engine_pb2.Proposal | None:
    return proposal and engine_pb2.Proposal(
        sequence=proposal.sequence,
        name=proposal.name,
        proposer=proposal.proposer,
        agreed_seats=sorted(proposal.agreed),
        expiry_time=encode_time(proposal.expires_at),
    )


def decode_eyes(request: engine_pb2.WatchReplayRequest, seat_count: int) -> Viewer:
    """Return the viewer of a replay; raises MalformedRequest for a seat that the table lacks, or with `all_seats`."""
    if not request.HasField("seat"):
        return ALL_SEATS if request.all_seats else SPECTATOR
    if request.all_seats:
        raise invalid_field("seat", f"invalid seat {request.seat} beside all_seats: expected one of the two")
    if request.seat >= seat_count:
        raise invalid_field("seat", f"invalid seat {request.seat}: expected 0 to {seat_count - 1}")
    return request.seat


def encode_time(milliseconds: int) -> Timestamp:
    """Return a point in time, given in milliseconds since 1970 UTC."""
    return Timestamp(seconds=milliseconds // 1000, nanos=milliseconds % 1000 * 1_000_000)
