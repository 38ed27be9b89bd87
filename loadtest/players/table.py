"""Tables that players follow: the client's own, recorded, slowed down, and dropped now and then."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from random import Random
from typing import Any, TypeAlias

import grpc

from croupier_api.v1 import engine_pb2, table_pb2
from croupier_client import AsyncTable, AsyncWatchedTable, Client, CroupierError, Event, Unavailable
from croupier_client.callers import M
from croupier_client.table import new_request_id
from loadtest.measures import Measures
from loadtest.players.cheats import Attempt
from loadtest.players.counting import counted_stream
from loadtest.players.recorder import LOOKS_AWAY, SLOW_READ_SECONDS, Recorder
from loadtest.record import Expected
from loadtest.scenarios import Manner

Sleep: TypeAlias = Callable[[float], Awaitable[None]]
"""Lets seconds pass; not longer than until time is up."""
PLAY = "/croupier_api.v1.EngineService/Play"


async def counted(
    messages: AsyncGenerator[M, None], measures: Measures, path: str, *, resumed: bool
) -> AsyncGenerator[M, None]:
    """The messages of a stream, which is counted: that it was opened, resumed, and how it ended."""
    try:
        with counted_stream(measures, path, resumed=resumed) as hears:
            async for message in messages:
                hears()
                yield message
    finally:
        await messages.aclose()


class WatchedTable(AsyncWatchedTable):
    """A table that is watched."""

    def __init__(self, client: Client, table_id: str, recorder: Recorder) -> None:
        super().__init__(client, table_id)
        self._recorder = recorder

    def receive(self, message: engine_pb2.PlayResponse | engine_pb2.WatchTableResponse) -> Event | None:
        """Take in a message of the stream."""
        self._recorder.hears(message)
        return super().receive(message)

    async def _open(self) -> Any:
        self._recorder.opens(self.sequence if self.opened else None)
        return await super()._open()


class Seat(AsyncTable):
    """A table that is played at."""

    def __init__(self, client: Client, table_id: str, recorder: Recorder, sleep: Sleep) -> None:
        super().__init__(client, table_id)
        self._client = client
        self._sleep = sleep
        self._random = Random(f"{table_id} {recorder.record.player_id}")
        self._recorder = recorder
        self._is_slow = recorder.record.manner == Manner.SLOW
        self._is_flaky = recorder.record.manner == Manner.FLAKY
        self._expected: Expected | None = None
        self._under_way: asyncio.Future[Any] | None = None

    def drop(self) -> None:
        """Lose the stream, as a phone does; it is resumed."""
        if self._under_way is not None:
            self._under_way.cancel("dropped")

    # Recording

    def receive(self, message: engine_pb2.PlayResponse | engine_pb2.WatchTableResponse) -> Event | None:
        """Take in a message of the stream."""
        self._recorder.hears(message)
        return super().receive(message)

    def submit(self, action: table_pb2.Action, expected_sequence: int | None = None) -> engine_pb2.SubmitActionRequest:
        """The request for an action."""
        request = super().submit(action, expected_sequence)
        self._recorder.sends(request, self._expected)
        return request

    async def _open(self) -> AsyncGenerator[engine_pb2.PlayResponse, None]:
        self._recorder.opens(self.sequence if self.opened else None)
        resumed = self.opened
        return counted(await super()._open(), self._recorder.measures, PLAY, resumed=resumed)

    async def _next(self, messages: Any) -> Any:
        """One message, unless the stream is dropped meanwhile."""
        if self._is_slow and self._random.random() < LOOKS_AWAY:
            await self._sleep(SLOW_READ_SECONDS)
        if not self._is_flaky:
            return await super()._next(messages)
        self._under_way = reading = asyncio.ensure_future(super()._next(messages))
        try:
            return await reading
        except asyncio.CancelledError:
            # Whoever closes the table cancels this task; a drop cancels the reading alone.
            if (task := asyncio.current_task()) is not None and task.cancelling():
                raise
            raise Unavailable(grpc.StatusCode.UNAVAILABLE, "the phone is in a tunnel") from None

    async def close(self) -> None:
        """End the stream; what was not answered by now never is."""
        await super().close()
        self._recorder.closes()

    # Acting

    async def attempt(self, attempt: Attempt, *, request_id: str = "", by_call: bool = False) -> int:
        """Send an action, in the stream or by a call of its own, under a name if one is given; returns its sequence."""
        if by_call:
            return await self._recorder.calls(self._client, self.table_id, attempt, request_id or new_request_id())
        self._expected = attempt.expected
        try:
            return await self.act(attempt.action, expected_sequence=attempt.expected_sequence)
        finally:
            self._expected = None

    async def _ask_again(self, request: engine_pb2.SubmitActionRequest) -> int:
        try:
            sequence = await super()._ask_again(request)
        except CroupierError as error:
            self._recorder.ended(request.request_id, error)
            raise
        self._recorder.accepted(request.request_id, sequence)
        return sequence
