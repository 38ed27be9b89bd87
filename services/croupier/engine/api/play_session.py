"""The session of a viewer who follows a table and may act at it, whatever transport carries its messages."""

import asyncio
from dataclasses import dataclass
from functools import partial

from google.protobuf.message import DecodeError

from croupier.engine.api.action_codec import decode_action
from croupier.engine.api.stream_codec import encode_acceptance, encode_refusal
from croupier.engine.metrics import EngineMetrics
from croupier.engine.tables.subscription import Subscription
from croupier.engine.tables.table import Table
from croupier.games.interface import SeatActed
from croupier.runtime.admission.admission import Admission
from croupier.runtime.admission.costs import MESSAGE_COST
from croupier.runtime.errors import (
    MAX_ID_CHARACTERS,
    LimitReached,
    MalformedRequest,
    ServiceError,
    TimedOut,
    invalid_field,
)
from croupier.runtime.field_rules import check_fields
from croupier_api.v1 import engine_pb2 as pb
from croupier_api.v1 import errors_pb2

PLAY_TABLE = f"/{pb.DESCRIPTOR.services_by_name['EngineService'].full_name}/PlayTable"


@dataclass(frozen=True, slots=True)
class PlaySession:
    """A viewer's stream of a table, the timer that ends it with their token, and the actions that they send in it."""

    table: Table
    stream: Subscription
    expiry: asyncio.TimerHandle
    player_id: str
    admission: Admission
    metrics: EngineMetrics
    is_traced: bool
    """Whether the spans of the stream, and so of its actions, are recorded."""

    def leave(self) -> None:
        """Remove the stream from its table."""
        self.expiry.cancel()
        self.table.subscribers.leave(self.stream)

    def receive_at_once(self, request: pb.PlayTableRequest) -> bool:
        """Act for the player, and answer in the stream later; return False, and do nothing, if receive() has to.

        A stream's message comes after receive() has returned for the one before it.
        """
        if self.is_traced or self.stream.closed or request.WhichOneof("request") != "action":
            return False
        if not self.admission.allows(MESSAGE_COST):
            return False
        submitted = request.action
        request_id = submitted.request_id
        try:
            self._check(submitted)
            acted, expected = _decoded(self.table, self.player_id, submitted)
        except ServiceError:
            return False
        if not self.table.act_at_once(acted, request_id, expected, partial(self._answer_at_once, request_id)):
            return False
        self.admission.owe(MESSAGE_COST)
        return True

    def _answer_at_once(self, request_id: str, outcome: int | ServiceError) -> None:
        if isinstance(outcome, ServiceError):
            self.metrics.actions_refused.labels(outcome.reason_name).inc()
        self._answer(request_id, outcome)

    async def receive(self, request: pb.PlayTableRequest) -> None:
        """Act for the player, and answer in the stream; raises MalformedRequest for a message without action."""
        await self._throttle()
        if self.stream.closed:
            # The token has expired, or another engine continues: the client sends it again there.
            return
        if request.WhichOneof("request") != "action":
            raise invalid_field("request", "invalid request: expected an action after the first message")
        try:
            self._check(request.action)
            outcome: int | ServiceError = await act(
                self.table, self.player_id, request.action, self.metrics, waits=True
            )
        except ServiceError as refusal:
            outcome = refusal
        self._answer(request.action.request_id, outcome)

    async def _throttle(self) -> None:
        """Delay a message of a stream until the budgets of its player and their network allow it.

        A refusal would cost as much as an action, and a delay blocks only the sender.
        """
        seconds = self.admission.delay(MESSAGE_COST)
        if seconds > 0:
            self.metrics.rpc.limited.labels(PLAY_TABLE).inc()
            await asyncio.sleep(seconds)

    def _check(self, request: pb.SubmitActionRequest) -> None:
        if request.table_id and request.table_id != self.table.config.table_id:
            raise invalid_field("table_id", "invalid table_id: expected that of the stream, or none")
        check_fields(request)

    def _answer(self, request_id: str, outcome: int | ServiceError) -> None:
        if isinstance(outcome, ServiceError):
            self.stream.answer(encode_refusal(request_id[:MAX_ID_CHARACTERS], outcome))
        else:
            self.stream.answer(encode_acceptance(request_id, outcome))


async def act(
    table: Table, player_id: str, request: pb.SubmitActionRequest, metrics: EngineMetrics, *, waits: bool = False
) -> int:
    """Act for a player's seat, and return the sequence of the action; raises what Table.append_once() raises.

    `waits` while the table gets too many entries per second.
    """
    try:
        acted, expected = _decoded(table, player_id, request)
        while True:
            try:
                return await table.append_once(acted, request.request_id, expected)
            except LimitReached as limit:
                if not waits:
                    raise
                await asyncio.sleep(limit.retry_after_seconds or 0)
    except ServiceError as error:
        metrics.actions_refused.labels(error.reason_name).inc()
        raise


def _decoded(table: Table, player_id: str, request: pb.SubmitActionRequest) -> tuple[SeatActed, int | None]:
    """Return the action of a player's seat, and the sequence that they expect."""
    seat = table.seat_of(player_id)
    action = decode_action(request.action, table.state.rules.deck)
    return SeatActed(seat, action), request.expected_sequence if request.HasField("expected_sequence") else None


def decode_request(raw: bytes) -> pb.PlayTableRequest:
    """Return an encoded message of a client; raises MalformedRequest."""
    try:
        return pb.PlayTableRequest.FromString(raw)
    except DecodeError:
        raise malformed("invalid message: expected an encoded PlayTableRequest") from None


def malformed(message: str) -> MalformedRequest:
    """Return the refusal of a message that is not one of the contract."""
    return MalformedRequest(errors_pb2.ERROR_REASON_MALFORMED_REQUEST, message)


def first_message_late(seconds: float) -> TimedOut:
    """Return the end of a stream whose first message did not come within so many seconds."""
    message = f"the first message did not arrive: expected it within {seconds:g} s"
    return TimedOut(errors_pb2.ERROR_REASON_SERVICE_TIMEOUT, message)


def check_first(first: pb.PlayTableRequest) -> None:
    """Raise MalformedRequest unless the first message of a client sets a valid watch."""
    if first.WhichOneof("request") != "watch":
        raise invalid_field("request", "invalid request: expected watch in the first message")
    check_fields(first.watch)
