"""The reference client as the load test uses it: it is timed, refereed, and shares connections with other players."""

import time
from collections.abc import Callable, Mapping, Sequence
from itertools import cycle
from typing import Protocol, TypeVar

import grpc

from croupier_api.v1 import engine_pb2, lobby_pb2, table_pb2
from croupier_client import (
    BlockingClient,
    BlockingTable,
    CroupierError,
    Endpoints,
    Event,
    Internal,
    RetryPolicy,
    Unavailable,
)
from croupier_client.callers import Call, R, Service
from croupier_client.endpoints import CHANNEL_OPTIONS, channel_target
from loadtest.seat_referee import Referee

Answer = TypeVar("Answer")
ACTION_ACKNOWLEDGED = "action sent to acknowledged"
ACTION_SEEN = "action sent to seen"
CONNECTIONS_OF_A_SERVICE = 4
"""Each connection costs a thread that waits for it, however many players share it."""


class Timed(Protocol):
    """Hears how long something took, in seconds, and the error if it failed."""

    def __call__(self, kind: str, name: str, seconds: float, error: Exception | None = None) -> None: ...


class Connections:
    """The channels of all players."""

    def __init__(self, endpoints: Endpoints) -> None:
        channels = {service: _channels(address) for service, address in endpoints.by_service().items()}
        self._endpoints = endpoints
        self._shares = cycle(
            [{service: group[n] for service, group in channels.items()} for n in range(CONNECTIONS_OF_A_SERVICE)]
        )
        self._all = [channel for group in channels.values() for channel in group]

    def share(self) -> tuple[Endpoints, Mapping[Service, grpc.Channel]]:
        """Where the services are, and a channel to each for one more player."""
        return self._endpoints, next(self._shares)

    def close(self) -> None:
        """End them all."""
        for channel in self._all:
            channel.close()


def _channels(address: str) -> Sequence[grpc.Channel]:
    # Channels that are set up alike share one connection unless they are told not to.
    options = (*CHANNEL_OPTIONS, ("grpc.use_local_subchannel_pool", 1))
    return [grpc.insecure_channel(channel_target(address), options=options) for _ in range(CONNECTIONS_OF_A_SERVICE)]


class LoadClient(BlockingClient):
    """A player's client; `timed` hears of every call."""

    def __init__(
        self,
        device_secret: str,
        name: str,
        *,
        connections: Connections,
        policy: RetryPolicy,
        timed: Timed,
    ) -> None:
        endpoints, self._shared_channels = connections.share()
        super().__init__(endpoints, device_secret, name, policy=policy)
        self.timed = timed

    def _channel(self, service: Service) -> grpc.Channel:
        return self._shared_channels[service]

    def sign_in(self) -> lobby_pb2.Player:
        """Sign in now."""
        return self._take_time("SignIn", super().sign_in)

    def invoke(self, call: Call[R]) -> R:
        """The answer to a unary call; a refusal is an answer as well, and no failure."""
        return self._take_time(call.path.rpartition("/")[2], lambda: super(LoadClient, self).invoke(call))

    def seated(self, game: str, seats: int) -> lobby_pb2.Table | None:
        """Be matched with others; None if the stream ended without a table."""
        return self._take_time("QuickMatch", lambda: self._seated(game, seats))

    def _seated(self, game: str, seats: int) -> lobby_pb2.Table | None:
        table = None
        # Read to its end: whoever breaks off after the table came may be given it again.
        for answer in self.quick_match(game=game, seats=seats):
            table = answer.table if answer.HasField("table") else table
        return table

    def _take_time(self, name: str, act: Callable[[], Answer]) -> Answer:
        started = time.perf_counter()
        try:
            answer = act()
        except CroupierError as error:
            self.timed("grpc", name, time.perf_counter() - started, error if is_failure(error) else None)
            raise
        self.timed("grpc", name, time.perf_counter() - started)
        return answer


def is_failure(error: CroupierError) -> bool:
    """Whether a service failed, rather than said no."""
    return isinstance(error, Unavailable | Internal)


class RefereedTable(BlockingTable):
    """A table whose every message goes through a referee first."""

    def __init__(self, client: LoadClient, table_id: str, referee: Referee) -> None:
        super().__init__(client, table_id)
        self._referee = referee
        self._timed = client.timed
        self._sent: dict[str, float] = {}
        self._own: dict[int, float] = {}
        self._awaited: dict[int, float] = {}
        self.latest = engine_pb2.SubmitActionRequest()
        """The action that was sent last."""
        self.promised: int | None = None
        """The sequence as which that action was acknowledged."""

    def submit(self, action: table_pb2.Action, expected_sequence: int | None = None) -> engine_pb2.SubmitActionRequest:
        """The request for an action."""
        self.latest, self.promised = super().submit(action, expected_sequence), None
        self._sent[self.latest.request_id] = time.perf_counter()
        return self.latest

    def receive(self, message: engine_pb2.PlayResponse | engine_pb2.WatchTableResponse) -> Event | None:
        """Take in a message of the stream."""
        assert isinstance(message, engine_pb2.PlayResponse)
        self._take_times(message, time.perf_counter())
        self._referee.received(message)
        event = super().receive(message)
        self._referee.folded(self)
        return event

    def _take_times(self, message: engine_pb2.PlayResponse, now: float) -> None:
        update = message.update
        if update.HasField("seat") and update.seat == self.seat:
            sent = self._awaited.pop(update.sequence, None)
            if sent is None:
                self._own[update.sequence] = now
            else:
                self._timed("Play", ACTION_SEEN, now - sent)
        if message.HasField("answer"):
            self._take_time_of_answer(message.answer, now)

    def _take_time_of_answer(self, answer: engine_pb2.ActionAnswer, now: float) -> None:
        sent = self._sent.pop(answer.request_id, None)
        if answer.request_id == self.latest.request_id and answer.HasField("sequence"):
            self.promised = answer.sequence
        if sent is None or not answer.HasField("sequence"):
            return
        self._timed("Play", ACTION_ACKNOWLEDGED, now - sent)
        seen = self._own.pop(answer.sequence, None)
        if seen is None:
            self._awaited[answer.sequence] = sent
        else:
            self._timed("Play", ACTION_SEEN, seen - sent)
