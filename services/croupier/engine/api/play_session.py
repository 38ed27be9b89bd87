"""The session of a player who follows a table and acts at it, whatever transport carries its messages."""

import asyncio
from dataclasses import dataclass

from croupier.engine.api.action_codec import decode_action
from croupier.engine.api.stream_codec import encode_acceptance, encode_refusal
from croupier.engine.metrics import EngineMetrics
from croupier.engine.tables.subscription import Subscription
from croupier.engine.tables.table import Table
from croupier.games.interface import SeatActed
from croupier.runtime.admission.admission import Admission
from croupier.runtime.admission.costs import MESSAGE_COST
from croupier.runtime.errors import MAX_ID_CHARACTERS, LimitReached, ServiceError, invalid_field
from croupier.runtime.field_rules import check_fields
from croupier_api.v1 import engine_pb2 as pb

PLAY_TABLE = f"/{pb.DESCRIPTOR.services_by_name['EngineService'].full_name}/PlayTable"


@dataclass(frozen=True, slots=True)
class PlaySession:
    """A player's stream of a table, and the actions that they send in it."""

    table: Table
    stream: Subscription
    player_id: str
    admission: Admission
    metrics: EngineMetrics

    async def receive(self, request: pb.PlayTableRequest) -> None:
        """Act for the player, and answer in the stream; raises MalformedRequest for a message without action."""
        await self._throttle()
        if self.stream.closed:
            # The token has expired, or another engine continues: the client sends it again there.
            return
        if request.WhichOneof("request") != "action":
            raise invalid_field("request", "invalid request: expected an action after the first message")
        self.stream.answer(await self._answer(request.action))

    async def _throttle(self) -> None:
        """Delay a message of a stream until the budgets of its player and their network allow it.

        A refusal would cost as much as an action, and a delay blocks only the sender.
        """
        seconds = self.admission.delay(MESSAGE_COST)
        if seconds > 0:
            self.metrics.rpc.limited.labels(PLAY_TABLE).inc()
            await asyncio.sleep(seconds)

    async def _answer(self, request: pb.SubmitActionRequest) -> bytes:
        try:
            if request.table_id not in ("", self.table.config.table_id):
                raise invalid_field("table_id", "invalid table_id: expected that of the stream, or none")
            check_fields(request)
            sequence = await act(self.table, self.player_id, request, self.metrics, waits=True)
            return encode_acceptance(request.request_id, sequence)
        except ServiceError as error:
            return encode_refusal(request.request_id[:MAX_ID_CHARACTERS], error)


async def act(
    table: Table, player_id: str, request: pb.SubmitActionRequest, metrics: EngineMetrics, *, waits: bool = False
) -> int:
    """Act for a player's seat, and return the sequence of the action; raises what Table.append_once() raises.

    `waits` while the table gets too many entries per second.
    """
    try:
        seat = table.seat_of(player_id)
        action = decode_action(request.action, table.state.rules.deck)
        expected = request.expected_sequence if request.HasField("expected_sequence") else None
        while True:
            try:
                return await table.append_once(SeatActed(seat, action), request.request_id, expected)
            except LimitReached as limit:
                if not waits:
                    raise
                await asyncio.sleep(limit.retry_after_seconds or 0)
    except ServiceError as error:
        metrics.actions_refused.labels(error.reason_name).inc()
        raise
