"""A table as one viewer follows it: the state that a stream's messages add up to. No I/O.

A channel opens a stream with `watch_request()`, gives every message to `receive()`, and on the next stream, after a
lost connection or when the stream `is_moving`, sends `unanswered()` again: a repeated request_id gets the first answer,
so no action is lost or done twice.
"""

from collections.abc import Callable, Sequence
from typing import TypeAlias
from uuid import uuid4

import grpc

from croupier_api.v1 import engine_pb2, table_pb2
from croupier_client.callers import Call, Service
from croupier_client.errors import CroupierError, FailedPrecondition, LimitReached, SequenceError, from_refusal
from croupier_client.view import fold

Event: TypeAlias = engine_pb2.Snapshot | engine_pb2.TableUpdate | engine_pb2.Reaction
"""What happens at a table and is worth showing. A TableUpdate may have no facts: what it says of a proposal, or of time
that was given back, is news as well."""
Outcome: TypeAlias = int | CroupierError

MOST_UNANSWERED = 64
"""More actions than this do not wait for their answers at once."""


def new_request_id() -> str:
    """A name that no other action or wish has."""
    return uuid4().hex


class Table:
    """What one viewer knows of a table; every attribute is as of `sequence`."""

    def __init__(self, table_id: str, new_id: Callable[[], str] = new_request_id) -> None:
        self.table_id = table_id
        self.info = engine_pb2.Snapshot().table
        """What is fixed about the table."""
        self.view = table_pb2.TableView()
        """All that the viewer knows; a new message after each update, never changed afterwards."""
        self.seat: int | None = None
        """The viewer's seat; None for a spectator."""
        self.sequence = 0
        """The last log entry that the view includes."""
        self.legal_actions = table_pb2.LegalActions()
        """What the viewer may do now; empty when he is not to act."""
        self.clock = engine_pb2.TurnClock()
        """Who has until when."""
        self.proposal: engine_pb2.Proposal | None = None
        """What is proposed, if anything; it counts until its `expires_milliseconds`, of which no update tells."""
        self.revealed_seed = ""
        """The secret seed in hexadecimal, once the game is over."""
        self.rounds: list[table_pb2.RoundEnded] = []
        """The rounds that ended while this client followed; the score sheet has all."""
        self.facts: Sequence[table_pb2.Fact] = ()
        """The facts of the last update."""
        self.opened = False
        """Whether a snapshot has come, without which the rest says nothing."""
        self.resumes = 0
        """How often the stream went on as another one: after a lost connection, or because an engine stopped."""
        self.is_moving = False
        """Whether the stream ends because its engine stops: open it again at once, another one goes on."""
        self._is_fresh = True
        self._new_id = new_id
        self._pending: dict[str, engine_pb2.SubmitActionRequest] = {}
        self._outcomes: dict[str, Outcome] = {}

    @property
    def finished(self) -> bool:
        """Whether the game is over."""
        return bool(self.view.ranking)

    @property
    def ranking(self) -> tuple[tuple[int, ...], ...]:
        """Groups of seats, best first, once the game is over; else empty."""
        return tuple(tuple(group.seats) for group in self.view.ranking)

    @property
    def to_act(self) -> bool:
        """Whether the viewer may do something now."""
        return bool(self.legal_actions.actions or self.legal_actions.choices)

    def watch_request(self) -> engine_pb2.WatchTableRequest:
        """What opens a stream, the first as any later one: it goes on after what was seen."""
        self._is_fresh, self.is_moving = True, False
        seen = self.sequence if self.opened else None
        return engine_pb2.WatchTableRequest(table_id=self.table_id, after_sequence=seen)

    def proposing(self, proposal: str) -> Call[engine_pb2.ProposeResponse]:
        """The call that proposes something."""
        request = engine_pb2.ProposeRequest(table_id=self.table_id, request_id=self._new_id(), proposal=proposal)
        return Call(Service.ENGINE, request, engine_pb2.ProposeResponse)

    def voting(self, *, agree: bool) -> Call[engine_pb2.VoteResponse]:
        """The call that agrees with what is proposed, or refuses it; raises FailedPrecondition if nothing is."""
        proposal = self.proposal
        if proposal is None:
            raise FailedPrecondition(
                grpc.StatusCode.FAILED_PRECONDITION, "nothing is proposed at this table", reason="NOTHING_PROPOSED"
            )
        request = engine_pb2.VoteRequest(
            table_id=self.table_id, request_id=self._new_id(), proposal_sequence=proposal.sequence, agree=agree
        )
        return Call(Service.ENGINE, request, engine_pb2.VoteResponse)

    def submit(self, action: table_pb2.Action, expected_sequence: int | None = None) -> engine_pb2.SubmitActionRequest:
        """The request for an action, which stays unanswered until an answer is received or it is forgotten.

        Raises FailedPrecondition once the game is over and LimitReached with too many actions under way.
        """
        if self.finished:
            raise FailedPrecondition(
                grpc.StatusCode.FAILED_PRECONDITION, "the game at this table is over", reason="TABLE_FINISHED"
            )
        if len(self._pending) >= MOST_UNANSWERED:
            raise LimitReached(
                grpc.StatusCode.RESOURCE_EXHAUSTED, f"{MOST_UNANSWERED} actions wait already: await their answers first"
            )
        request = engine_pb2.SubmitActionRequest(
            table_id=self.table_id, request_id=self._new_id(), action=action, expected_sequence=expected_sequence
        )
        self._pending[request.request_id] = request
        return request

    def submit_again(self, request: engine_pb2.SubmitActionRequest) -> None:
        """Let an action be unanswered, also after an answer that asked for another attempt."""
        self._pending[request.request_id] = request

    def unanswered(self) -> tuple[engine_pb2.SubmitActionRequest, ...]:
        """The actions to send on a new stream, in the order in which they were submitted."""
        return tuple(self._pending.values())

    def settled(self, request_id: str) -> bool:
        """Whether the action was refused, or was accepted and is in the view."""
        outcome = self._outcomes.get(request_id)
        return outcome is not None and (isinstance(outcome, CroupierError) or outcome <= self.sequence)

    def take_outcome(self, request_id: str) -> int:
        """The sequence of an action that is settled; raises what it was refused with. To be asked once."""
        outcome = self._outcomes.pop(request_id)
        if isinstance(outcome, CroupierError):
            raise outcome
        return outcome

    def forget(self, request_id: str) -> None:
        """Nobody waits for this action any more: do not send it again."""
        self._pending.pop(request_id, None)
        self._outcomes.pop(request_id, None)

    def receive(self, message: engine_pb2.PlayResponse | engine_pb2.WatchTableResponse) -> Event | None:
        """Take in a message of the stream; gives the event that it brought, if it is worth showing.

        Raises SequenceError for a gap or a repeat and FoldError for a fact that does not fit; the state stays as it
        was before the message.
        """
        if message.HasField("resume_notice"):
            # A stream that brings nothing else has failed, or one would go round in circles without a pause.
            self.is_moving = not self._is_fresh
            return None
        self.resumes += self._is_fresh and self.opened
        self._is_fresh = False
        event = self._receive_event(message)
        if isinstance(message, engine_pb2.PlayResponse) and message.HasField("answer"):
            self.receive_answer(message.answer)
        return event

    def _receive_event(self, message: engine_pb2.PlayResponse | engine_pb2.WatchTableResponse) -> Event | None:
        match message.WhichOneof("event"):
            case "snapshot":
                self.receive_snapshot(message.snapshot)
                return message.snapshot
            case "update":
                self.receive_update(message.update, message.legal_actions)
                return message.update
            case "reaction":
                return message.reaction
            case "heartbeat":
                self.receive_heartbeat(message.heartbeat)
        return None

    def receive_snapshot(self, snapshot: engine_pb2.Snapshot) -> None:
        """Begin anew from a snapshot, which may be no older than what was seen."""
        if self.opened and snapshot.sequence < self.sequence:
            raise SequenceError(self.sequence, snapshot.sequence)
        self.info = snapshot.table
        self.seat = snapshot.viewer_seat if snapshot.HasField("viewer_seat") else None
        self.sequence = snapshot.sequence
        self.view = snapshot.view
        self.legal_actions = snapshot.legal_actions
        self.clock = snapshot.clock
        self.proposal = snapshot.proposal if snapshot.HasField("proposal") else None
        self.revealed_seed = snapshot.revealed_seed
        self.facts = ()
        self.opened = True

    def receive_update(self, update: engine_pb2.TableUpdate, legal_actions: table_pb2.LegalActions) -> None:
        """Go on by one entry of the log, with what may be done then; SequenceError if it is not the next one."""
        if not self.opened or update.sequence != self.sequence + 1:
            raise SequenceError(self.sequence + 1, update.sequence)
        self.view = fold(self.view, update.facts, self.seat)
        self.sequence = update.sequence
        self.legal_actions = legal_actions
        self.clock = update.clock
        self.proposal = update.proposal if update.HasField("proposal") else None
        self.revealed_seed = update.revealed_seed
        self.facts = update.facts
        self.rounds.extend(fact.round_ended for fact in update.facts if fact.HasField("round_ended"))

    def receive_heartbeat(self, heartbeat: engine_pb2.Heartbeat) -> None:
        """A heartbeat that is ahead tells of an entry that was left out."""
        if heartbeat.sequence > self.sequence:
            raise SequenceError(self.sequence, heartbeat.sequence)

    def receive_answer(self, answer: engine_pb2.ActionAnswer) -> None:
        """Note how an action went; an answer that nobody waits for is passed over."""
        if self._pending.pop(answer.request_id, None) is not None:
            refused = answer.WhichOneof("outcome") != "sequence"
            self._outcomes[answer.request_id] = from_refusal(answer.refusal) if refused else answer.sequence
