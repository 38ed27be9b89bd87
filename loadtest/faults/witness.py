"""The reference client as the fault tests use it: it keeps all that it was promised and sent, and every error."""

import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

import grpc

from croupier_api.v1 import engine_pb2, table_pb2
from croupier_client import AsyncTable, Client, CroupierError, Endpoints, Event, RetryPolicy
from croupier_client.callers import Call, R, Service
from croupier_client.endpoints import CALL_SECONDS, CHANNEL_OPTIONS, channel_target
from loadtest.faults.records import Acknowledged, Heard, Opened, Stream, TableRecord

POLICY = RetryPolicy(total_seconds=150)


@dataclass(slots=True)
class Errors:
    """What went wrong, with times of the monotonic clock: beneath the clients, which try again, and for their users."""

    beneath: list[tuple[float, str]] = field(default_factory=list)
    raised: list[tuple[float, str]] = field(default_factory=list)

    def note(self, error: CroupierError) -> None:
        """Remember an error of one call or stream."""
        self.beneath.append((time.monotonic(), f"{error.code.name} {error.reason or error.message[:60]}"))

    def note_raised(self, error: CroupierError) -> None:
        """Remember an error that a client raised."""
        self.raised.append((time.monotonic(), str(error)))


def counted(errors: Iterable[tuple[float, str]], since: float) -> Counter[str]:
    """How often each error came from a time on."""
    return Counter(text for at, text in errors if at >= since)


class Connections:
    """Channels that a group of clients shares, as a real client has its own; closing them breaks all its streams."""

    def __init__(self, endpoints: Endpoints) -> None:
        self.endpoints = endpoints
        self._channels: dict[str, grpc.aio.Channel] = {}

    def channel(self, address: str) -> grpc.aio.Channel:
        """The channel to an address."""
        if address not in self._channels:
            # Channels that are set up alike share one connection unless they are told not to.
            options = (*CHANNEL_OPTIONS, ("grpc.use_local_subchannel_pool", 1))
            self._channels[address] = grpc.aio.insecure_channel(channel_target(address), options=options)
        return self._channels[address]

    async def close(self) -> None:
        """Close every channel."""
        channels, self._channels = self._channels, {}
        for channel in channels.values():
            await channel.close()


class WitnessClient(Client):
    """A player's client over shared connections."""

    def __init__(self, connections: Connections, device_secret: str, name: str, errors: Errors) -> None:
        super().__init__(connections.endpoints, device_secret, name, policy=POLICY)
        self.connections = connections
        self.broken_at: list[float] = []
        """When calls or streams of this client failed."""
        self.errors = errors

    def _channel(self, service: Service) -> grpc.aio.Channel:
        return self.connections.channel(self._address(service))

    async def ask(self, connections: Connections, call: Call[R]) -> R:
        """One attempt at a unary call of any engine, over other connections than its own; raises CroupierError."""
        token = await self._access_token()
        send = connections.channel(connections.endpoints.engine).unary_unary(
            call.path, request_serializer=call.serialize, response_deserializer=call.response.FromString
        )
        try:
            return await send(call.request, timeout=CALL_SECONDS, metadata=self._metadata(token))
        except grpc.RpcError as error:
            raise self.failure(error, token) from error

    def failure(self, error: grpc.RpcError, access_token: str) -> CroupierError:
        """The typed error, which is noted."""
        failure = super().failure(error, access_token)
        self.broken_at.append(time.monotonic())
        self.errors.note(failure)
        return failure


class WitnessTable(AsyncTable):
    """A seat whose every message is kept before the client looks at it."""

    def __init__(self, client: WitnessClient, record: TableRecord, stream: Stream, folds: bool) -> None:
        super().__init__(client, record.table_id)
        self._record = record
        self._stream = stream
        self._folds = folds
        self._actions: dict[str, bytes] = {}
        self._heard_at = self._sent_at = 0.0
        self._answered = True

    def submit(self, action: table_pb2.Action, expected_sequence: int | None = None) -> engine_pb2.SubmitActionRequest:
        """The request for an action."""
        request = super().submit(action, expected_sequence)
        self._actions[request.request_id] = request.action.SerializeToString()
        self._sent_at, self._answered = time.monotonic(), False
        return request

    def receive(self, message: engine_pb2.PlayResponse | engine_pb2.WatchTableResponse) -> Event | None:
        """Take in a message of the stream."""
        assert isinstance(message, engine_pb2.PlayResponse)
        now = time.monotonic()
        if message.HasField("update"):
            self._hear(message, now)
        elif message.HasField("snapshot"):
            snapshot = message.snapshot.SerializeToString(deterministic=True)
            self._stream.seat = message.snapshot.viewer_seat if message.snapshot.HasField("viewer_seat") else None
            self._stream.messages.append(Opened(message.snapshot.sequence, snapshot, now))
        self._heard_at = now
        if message.HasField("answer"):
            self._answered = True
            if message.answer.HasField("sequence"):
                self.promised(message.answer.request_id, message.answer.sequence)
        return super().receive(message)

    def promised(self, request_id: str, sequence: int) -> None:
        """An action was acknowledged, on whichever way."""
        assert self.seat is not None
        one = Acknowledged(self.seat, request_id, self._actions[request_id], sequence)
        self._record.acknowledged.append(one)

    def _hear(self, message: engine_pb2.PlayResponse, now: float) -> None:
        update, legal = message.update, b""
        if update.acted_by == engine_pb2.ACTED_BY_TIMEOUT and update.seat == self.seat:
            sent = "no action is under way" if self._answered else f"an action was sent {now - self._sent_at:.1f} s ago"
            self._stream.time_outs[update.sequence] = f"{sent}, nothing was heard for {now - self._heard_at:.1f} s"
        if message.HasField("legal_actions"):
            legal = message.legal_actions.SerializeToString(deterministic=True)
        heard = Heard(update.sequence, update.SerializeToString(deterministic=True), legal, now)
        self._stream.messages.append(heard)
        self._record.heard(update.sequence, update.at_milliseconds, update.HasField("seat"), now)

    def receive_update(self, update: engine_pb2.TableUpdate, legal_actions: table_pb2.LegalActions) -> None:
        """Go on by one entry; most clients take over of the facts only what they need to play."""
        if not self._folds and self.opened and update.sequence == self.sequence + 1:
            facts = [fact for fact in update.facts if fact.WhichOneof("fact") in ("game_ended", "turn_changed")]
            kept = engine_pb2.TableUpdate()
            kept.CopyFrom(update)
            del kept.facts[:]
            kept.facts.extend(facts)
            update = kept
        super().receive_update(update, legal_actions)
