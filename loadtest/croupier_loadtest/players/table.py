"""The tables of players and spectators: the client's, with a record, slow reads and lost streams."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from random import Random
from typing import Any, TypeAlias, TypeVar

import grpc

from croupier_api.v1 import actions_pb2, engine_pb2
from croupier_client import (
    AsyncTable,
    AsyncWatchedTable,
    Client,
    CroupierError,
    Event,
    TimedOut,
    new_request_id,
)
from croupier_client.retry import Attempts
from croupier_client.rpc import M, StreamMessage
from croupier_loadtest.judge.streams import MAX_RESUMED_ENTRIES
from croupier_loadtest.measures import Measures
from croupier_loadtest.players.adversaries import Attempt
from croupier_loadtest.players.counting import BrokenOnPurpose, count_broken, counted_stream
from croupier_loadtest.players.recorder import SLOW_READ_SECONDS, SLOW_READ_SHARE, Recorder, wall_milliseconds
from croupier_loadtest.record import Expected, Opened, Received, SeatRecord
from croupier_loadtest.scenarios import Behaviour

Sleep: TypeAlias = Callable[[float], Awaitable[None]]
"""Sleeps for seconds, but not longer than until the run drains."""
OUTAGE_SECONDS = 90.0
"""How long a player waits for services that are out; the client itself may try for as long as a table is open."""
AnyTable = TypeVar("AnyTable", bound=AsyncWatchedTable)
PLAY_TABLE = "/croupier_api.v1.EngineService/PlayTable"


async def counted(
    messages: AsyncGenerator[M, None], measures: Measures, path: str, *, resumed: bool = False
) -> AsyncGenerator[M, None]:
    """Yield the messages of a stream, with its start, resume and end counted."""
    try:
        with counted_stream(measures, path, resumed=resumed) as received:
            async for message in messages:
                received()
                yield message
    finally:
        await messages.aclose()


@asynccontextmanager
async def opened(table: AnyTable) -> AsyncIterator[AnyTable]:
    """Open a table for the body; raises TimedOut if that takes as long as an outage, or CroupierError."""
    try:
        async with asyncio.timeout(OUTAGE_SECONDS):
            await table.__aenter__()
    except TimeoutError:
        message = f"the table was not opened within {OUTAGE_SECONDS:g} s"
        raise TimedOut(grpc.StatusCode.DEADLINE_EXCEEDED, message) from None
    try:
        yield table
    finally:
        await table.close()


class WatchedTable(AsyncWatchedTable):
    """A table that a spectator watches."""

    def __init__(self, client: Client, table_id: str, recorder: Recorder) -> None:
        super().__init__(client, table_id)
        self._recorder = recorder

    def receive(self, message: StreamMessage) -> Event | None:
        """Process a message of the stream."""
        self._recorder.received(message)
        return super().receive(message)

    async def _open(self) -> AsyncGenerator[StreamMessage, None]:
        self._recorder.opening(self.sequence if self.is_open else None)
        return await super()._open()


class RecordedTable(AsyncTable):
    """A table at which the player has a seat."""

    def __init__(self, client: Client, table_id: str, recorder: Recorder, sleep: Sleep) -> None:
        super().__init__(client, table_id)
        self._client = client
        self._sleep = sleep
        self._random = Random(f"{table_id} {recorder.record.player_id}")
        self._recorder = recorder
        self._is_slow = recorder.record.behaviour == Behaviour.SLOW
        self._is_flaky = recorder.record.behaviour == Behaviour.FLAKY
        self._expected: Expected | None = None
        self._under_way: asyncio.Future[Any] | None = None

    def drop(self) -> None:
        """Lose the stream, as a phone does; the client resumes it."""
        if self._under_way is not None:
            self._under_way.cancel("dropped")
            count_broken(self._recorder.measures, PLAY_TABLE)

    def receive(self, message: StreamMessage) -> Event | None:
        """Process a message of the stream."""
        self._recorder.received(message)
        return super().receive(message)

    def action_request(
        self, action: actions_pb2.Action, expected_sequence: int | None = None
    ) -> engine_pb2.SubmitActionRequest:
        """Return the request for an action."""
        request = super().action_request(action, expected_sequence)
        self._recorder.sending(request, self._expected)
        return request

    async def _open(self) -> AsyncGenerator[StreamMessage, None]:
        self._recorder.opening(self.sequence if self.is_open else None)
        return await super()._open()

    async def _next(self, messages: Any) -> Any:
        """Return the next message; raises BrokenOnPurpose if the stream is dropped meanwhile."""
        if self._is_slow and self._random.random() < SLOW_READ_SHARE:
            await self._sleep(SLOW_READ_SECONDS)
        if not self._is_flaky:
            return await super()._next(messages)
        self._under_way = reading = asyncio.ensure_future(super()._next(messages))
        try:
            return await reading
        except asyncio.CancelledError:
            # Closing the table cancels this task; a drop cancels the reading alone.
            if (task := asyncio.current_task()) is not None and task.cancelling():
                raise
            raise BrokenOnPurpose(grpc.StatusCode.UNAVAILABLE, "the stream was dropped") from None

    async def close(self) -> None:
        """End the stream; requests without an answer stay without one."""
        await super().close()
        self._recorder.closed()

    async def attempt(self, attempt: Attempt, *, request_id: str = "", by_call: bool = False) -> int:
        """Send an action, on the stream or by a call, under a new or this request id; returns its sequence."""
        if by_call:
            return await self._recorder.call(self._client, self.table_id, attempt, request_id or new_request_id())
        self._expected = attempt.expected
        try:
            return await self.submit_action(attempt.action, expected_sequence=attempt.expected_sequence)
        finally:
            self._expected = None

    async def set_away(self, *, is_away: bool) -> int:
        """Leave the seat to the engine, or return to it, and return the sequence once it is folded."""
        return await self._folded(await self._recorder.set_away(self._client, self.table_id, is_away=is_away))

    async def _request_again(self, request: engine_pb2.SubmitActionRequest) -> int:
        try:
            sequence = await super()._request_again(request)
        except CroupierError as error:
            self._recorder.ended(request.request_id, error)
            raise
        self._recorder.accepted(request.request_id, sequence)
        return sequence


async def read_again(client: Client, table_id: str, viewer: SeatRecord) -> None:
    """Read the whole log on a stream that resumes before the first entry: it must equal what the viewer received live.

    If the log is too long for that, the stream has a snapshot instead, and the end of the log is read on another one.
    Raises CroupierError.
    """
    first = await _read_after(client, table_id, viewer, 0)
    if first.HasField("snapshot"):
        await _read_after(client, table_id, viewer, first.snapshot.sequence - MAX_RESUMED_ENTRIES)


async def _read_after(client: Client, table_id: str, viewer: SeatRecord, after_sequence: int) -> engine_pb2.TableEvent:
    """Read a stream that resumes after a sequence, again if the connection is lost, and return its first event."""
    retries = client.retries(Attempts.STREAM)
    try:
        async with asyncio.timeout(OUTAGE_SECONDS):
            while True:
                try:
                    return await _read_stream(client, table_id, viewer, after_sequence)
                except CroupierError as error:
                    await asyncio.sleep(retries.delay_seconds(error))
    except TimeoutError:
        raise TimedOut(grpc.StatusCode.DEADLINE_EXCEEDED, "the log was not read before the time was over") from None


async def _read_stream(client: Client, table_id: str, viewer: SeatRecord, after_sequence: int) -> engine_pb2.TableEvent:
    viewer.opened.append(Opened(wall_milliseconds(), after_sequence))
    stream, first = len(viewer.opened) - 1, None
    request = engine_pb2.WatchTableRequest(table_id=table_id, after_sequence=after_sequence)
    async with aclosing(await client.open_table(request)) as messages:
        async for message in messages:
            first = first or message.table_event
            viewer.received.append(Received(wall_milliseconds(), stream, message.SerializeToString()))
    return first or engine_pb2.TableEvent()
