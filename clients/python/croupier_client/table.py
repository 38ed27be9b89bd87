"""A table as one viewer follows it: the state after a stream's messages. No I/O.

A channel opens a stream with `watch_request()`, passes every message to `receive()`, and on the next stream, after a
lost connection or when the stream `is_moving`, sends `unanswered_requests()` again: a repeated request_id gets the
first answer, so no action is lost or carried out twice.
"""

from collections.abc import Callable
from typing import TypeAlias
from uuid import uuid4

import grpc

from croupier_api.v1 import actions_pb2, engine_pb2, facts_pb2, tables_pb2
from croupier_api.v1.errors_pb2 import ERROR_REASON_NO_PROPOSAL, ERROR_REASON_TABLE_FINISHED
from croupier_client.errors import (
    CroupierError,
    FailedPrecondition,
    LimitReached,
    SequenceError,
    Unavailable,
    from_status,
)
from croupier_client.retry import Clock, monotonic_clock
from croupier_client.rpc import Rpc, Service, StreamMessage
from croupier_client.view import fold

Event: TypeAlias = engine_pb2.Snapshot | engine_pb2.TableUpdate | engine_pb2.SeatReaction | engine_pb2.Presence
"""An event at a table that is worth showing. A TableUpdate may have no facts, but a changed proposal, compensated time,
or a player who left or returned."""
Outcome: TypeAlias = int | CroupierError
"""The sequence of an action, or its refusal."""

MAX_UNANSWERED = 64
"""The maximum number of actions without an answer."""


def new_request_id() -> str:
    """Return a new unique id for a request."""
    return uuid4().hex


def is_resume_notice(message: StreamMessage) -> bool:
    """Return whether a message is the last one of a stream whose engine stops."""
    return message.table_event.HasField("resume_notice")


def connection_closed() -> CroupierError:
    """Return the error of a table whose connection was closed while it was open; it is not retried."""
    return Unavailable(grpc.StatusCode.CANCELLED, "the connection was closed while the table was open")


class FollowedTable:
    """The knowledge of one viewer about a table; every attribute is as of `sequence`."""

    def __init__(
        self,
        table_id: str,
        new_id: Callable[[], str] = new_request_id,
        link: str = "",
        monotonic: Clock = monotonic_clock,
    ) -> None:
        self.table_id = table_id
        self._link = link
        self.table = tables_pb2.PlayedTable()
        """The table as the last snapshot had it: game, options, time control, seats and teams."""
        self.view = facts_pb2.TableView()
        """The viewer's view; a new message after each update, never changed afterwards."""
        self.seat: int | None = None
        """The viewer's seat; None for a spectator."""
        self.sequence = 0
        """The last log entry that the view includes."""
        self.legal_actions = actions_pb2.LegalActions()
        """The viewer's legal actions; empty when they are not to act."""
        self.clock = engine_pb2.TurnClock()
        """The deadline and the reserves; `seconds_left` needs no clock that is right."""
        self.proposal: engine_pb2.Proposal | None = None
        """The pending proposal, if any; it ends without an update after `proposal_seconds_left`."""
        self.presence: engine_pb2.Presence | None = None
        """The seats whose players are connected, and the number of spectators; None while that is not known."""
        self.revealed_seed = ""
        """The secret seed in hexadecimal, once the game is over."""
        self.round_scores: list[facts_pb2.RoundScore] = []
        """The scores of rounds that ended while this client followed; the score sheet has all rounds."""
        self.is_open = False
        """Whether a snapshot was received, before which the other attributes are empty."""
        self.resume_count = 0
        """The number of times that the stream was resumed, after a lost connection or because an engine stopped."""
        self.is_moving = False
        """Whether the stream ends because its engine stops: open it again at once at another engine."""
        self.interruption: CroupierError | None = None
        """The error of a stream that is being opened again; None while messages arrive."""
        self._is_fresh = True
        self._monotonic = monotonic
        self._turn_arrived = monotonic()
        self._new_id = new_id
        self._pending: dict[str, engine_pb2.SubmitActionRequest] = {}
        self._outcomes: dict[str, Outcome] = {}

    @property
    def is_finished(self) -> bool:
        """Return whether the game is over."""
        return bool(self.view.ranking)

    @property
    def ranking(self) -> tuple[tuple[int, ...], ...]:
        """Return groups of seats, best first, once the game is over; else an empty tuple."""
        return tuple(tuple(group.seats) for group in self.view.ranking)

    @property
    def is_to_act(self) -> bool:
        """Return whether the viewer may act now."""
        return bool(self.legal_actions.actions or self.legal_actions.choices)

    @property
    def offline_seats(self) -> frozenset[int]:
        """Return the seats of players who are not connected; none while the presence is not known."""
        if self.presence is None:
            return frozenset()
        people = {number for number, seat in enumerate(self.table.seats) if not seat.bot}
        return frozenset(people.difference(self.presence.connected_seats))

    @property
    def seconds_left(self) -> float | None:
        """Return the time until the deadline, at least 0; None without a deadline."""
        deadline = self.clock.deadline_unix_ms
        return self._seconds_until(deadline) if deadline else None

    @property
    def proposal_seconds_left(self) -> float | None:
        """Return the time until the pending proposal ends, at least 0; None without a proposal."""
        return self._seconds_until(self.proposal.expiry_time.ToMilliseconds()) if self.proposal else None

    def _seconds_until(self, unix_ms: int) -> float:
        """Return the time left by the server's clock, which went on since the message arrived."""
        passed = self._monotonic() - self._turn_arrived
        return max(0, unix_ms - self.clock.server_unix_ms - passed) / 1000

    @property
    def expected_sequence(self) -> int | None:
        """Return what an action decided now is to expect: `sequence`, or None where several seats may act.

        Where the viewer alone may act, only their time-out or a proposal moves the table on, and they decide again.
        Where several may, any of their actions moves it on, and the viewer's stays legal.
        """
        return self.sequence if len(self.view.seats_to_act) == 1 else None

    def watch_request(self) -> engine_pb2.WatchTableRequest:
        """Return the request that opens a stream after the last known sequence."""
        self._is_fresh, self.is_moving = True, False
        seen = self.sequence if self.is_open else None
        return engine_pb2.WatchTableRequest(table_id=self.table_id, after_sequence=seen, link=self._link)

    def proposal_rpc(self, proposal: str) -> Rpc[engine_pb2.CreateProposalResponse]:
        """Return the call that makes a proposal."""
        request = engine_pb2.CreateProposalRequest(table_id=self.table_id, request_id=self._new_id(), proposal=proposal)
        return Rpc(Service.ENGINE, request, engine_pb2.CreateProposalResponse)

    def vote_rpc(self, *, agree: bool) -> Rpc[engine_pb2.CastVoteResponse]:
        """Return the call that votes on the pending proposal; raises FailedPrecondition if there is none."""
        if self.proposal is None:
            raise FailedPrecondition(
                grpc.StatusCode.FAILED_PRECONDITION, "no proposal waits for votes", reason=ERROR_REASON_NO_PROPOSAL
            )
        request = engine_pb2.CastVoteRequest(
            table_id=self.table_id,
            request_id=self._new_id(),
            proposal_sequence=self.proposal.sequence,
            vote=engine_pb2.VOTE_AGREE if agree else engine_pb2.VOTE_DECLINE,
        )
        return Rpc(Service.ENGINE, request, engine_pb2.CastVoteResponse)

    def away_rpc(self, *, is_away: bool) -> Rpc[engine_pb2.SetAwayResponse]:
        """Return the call that leaves the viewer's seat to the engine, or returns to it."""
        request = engine_pb2.SetAwayRequest(table_id=self.table_id, request_id=self._new_id(), is_away=is_away)
        return Rpc(Service.ENGINE, request, engine_pb2.SetAwayResponse)

    def action_request(
        self, action: actions_pb2.Action, expected_sequence: int | None = None
    ) -> engine_pb2.SubmitActionRequest:
        """Return the request for an action, which is unanswered until `receive_answer` or `forget`.

        Raises FailedPrecondition once the game is over and LimitReached with too many unanswered actions.
        """
        if self.is_finished:
            raise FailedPrecondition(
                grpc.StatusCode.FAILED_PRECONDITION,
                "the game at this table is over",
                reason=ERROR_REASON_TABLE_FINISHED,
            )
        if len(self._pending) >= MAX_UNANSWERED:
            raise LimitReached(
                grpc.StatusCode.RESOURCE_EXHAUSTED,
                f"{MAX_UNANSWERED} actions are unanswered: wait for their answers first",
            )
        request = engine_pb2.SubmitActionRequest(
            table_id=self.table_id, request_id=self._new_id(), action=action, expected_sequence=expected_sequence
        )
        self._pending[request.request_id] = request
        return request

    def mark_unanswered(self, request: engine_pb2.SubmitActionRequest) -> None:
        """Mark an action as unanswered again, after an answer that asked for a retry."""
        self._pending[request.request_id] = request

    def unanswered_requests(self) -> tuple[engine_pb2.SubmitActionRequest, ...]:
        """Return the actions to send on a new stream, in the order in which they were submitted."""
        return tuple(self._pending.values())

    def is_settled(self, request_id: str) -> bool:
        """Return whether the action was refused, or was accepted and is in the view."""
        outcome = self._outcomes.get(request_id)
        return outcome is not None and (isinstance(outcome, CroupierError) or outcome <= self.sequence)

    def take_outcome(self, request_id: str) -> int:
        """Remove a settled action and return its sequence; raises its refusal."""
        outcome = self._outcomes.pop(request_id)
        if isinstance(outcome, CroupierError):
            raise outcome
        return outcome

    def forget(self, request_id: str) -> None:
        """Remove an action, which is not sent again."""
        self._pending.pop(request_id, None)
        self._outcomes.pop(request_id, None)

    def receive(self, message: StreamMessage) -> Event | None:
        """Apply a message of the stream, and return its event if it is worth showing.

        Raises SequenceError for a gap or a repeat and FoldError for a fact that does not fit; the state stays as it
        was before the message.
        """
        if is_resume_notice(message):
            # A stream without another message has failed: otherwise the client would reconnect without a delay.
            self.is_moving = not self._is_fresh
            return None
        self.interruption = None
        self.resume_count += self._is_fresh and self.is_open
        self._is_fresh = False
        event = self._receive_event(message.table_event)
        if isinstance(message, engine_pb2.PlayTableResponse) and message.HasField("answer"):
            self.receive_answer(message.answer)
        return event

    def _receive_event(self, event: engine_pb2.TableEvent) -> Event | None:
        match event.WhichOneof("event_kind"):
            case "snapshot":
                self.receive_snapshot(event.snapshot)
                return event.snapshot
            case "update":
                self.receive_update(event.update)
                return event.update
            case "reaction":
                return event.reaction
            case "presence":
                self.presence = event.presence
                return event.presence
            case "turn_state":
                if not self.is_open or event.turn_state.sequence != self.sequence:
                    raise SequenceError(self.sequence, event.turn_state.sequence)
                self._set_turn(event.turn_state)
            case "heartbeat" if event.heartbeat.sequence > self.sequence:
                raise SequenceError(self.sequence, event.heartbeat.sequence)
        return None

    def receive_snapshot(self, snapshot: engine_pb2.Snapshot) -> None:
        """Replace the state by a snapshot; raises SequenceError if it is older than the state."""
        if self.is_open and snapshot.sequence < self.sequence:
            raise SequenceError(self.sequence, snapshot.sequence)
        self.table = snapshot.table
        self.seat = snapshot.viewer_seat if snapshot.HasField("viewer_seat") else None
        self.sequence = snapshot.sequence
        self.view = snapshot.view
        self.revealed_seed = snapshot.revealed_seed
        self.presence = snapshot.presence if snapshot.HasField("presence") else None
        self._set_turn(snapshot)
        self.is_open = True

    def receive_update(self, update: engine_pb2.TableUpdate) -> None:
        """Apply one entry of the log; raises SequenceError for a gap or a repeat."""
        if not self.is_open or update.sequence != self.sequence + 1:
            raise SequenceError(self.sequence + 1, update.sequence)
        self.view = fold(self.view, update.facts, self.seat)
        self.sequence = update.sequence
        self.revealed_seed = update.revealed_seed
        self._set_turn(update)
        self.round_scores.extend(fact.round_ended.score for fact in update.facts if fact.HasField("round_ended"))

    def _set_turn(self, state: engine_pb2.Snapshot | engine_pb2.TableUpdate | engine_pb2.TurnState) -> None:
        self._turn_arrived = self._monotonic()
        self.legal_actions = state.legal_actions
        self.clock = state.clock
        self.proposal = state.proposal if state.HasField("proposal") else None

    def receive_answer(self, answer: engine_pb2.ActionAnswer) -> None:
        """Record the answer to an action; an answer to no unanswered action is ignored."""
        if self._pending.pop(answer.request_id, None) is not None:
            is_accepted = answer.WhichOneof("outcome") == "sequence"
            self._outcomes[answer.request_id] = answer.sequence if is_accepted else from_status(answer.refusal)
