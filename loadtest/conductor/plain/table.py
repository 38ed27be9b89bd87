"""Tables that greenlets follow: the blocking client's own, recorded, slowed down, and dropped now and then."""

from collections.abc import Callable, Iterator
from random import Random
from types import TracebackType
from typing import Generic, Self, TypeAlias

import grpc

from croupier_api.v1 import engine_pb2, table_pb2
from croupier_client import BlockingTable, BlockingWatchedTable, CroupierError, Event
from croupier_client.callers import BlockingCaller, M, Messages
from croupier_client.table import Table, new_request_id
from loadtest.measures import Measures
from loadtest.players.cheats import Attempt
from loadtest.players.counting import HungUp, counted_stream
from loadtest.players.recorder import LOOKS_AWAY, SLOW_READ_SECONDS, Recorder
from loadtest.players.world import PlayerClient
from loadtest.record import Expected
from loadtest.scenarios import Manner

Sleep: TypeAlias = Callable[[float], None]
"""Lets seconds pass; not longer than until time is up."""
PLAY = "/croupier_api.v1.EngineService/Play"


class CountedMessages(Generic[M]):
    """The messages of a stream, which is counted: that it was opened, resumed, and how it ended."""

    def __init__(self, messages: Messages[M], measures: Measures, path: str, *, resumed: bool) -> None:
        self._messages = messages
        self._measures = measures
        self._path = path
        self._resumed = resumed
        self._is_hung_up = False

    def __iter__(self) -> Iterator[M]:
        try:
            with counted_stream(self._measures, self._path, resumed=self._resumed) as hears:
                for message in self._read():
                    hears()
                    yield message
        finally:
            self._messages.cancel()

    def _read(self) -> Iterator[M]:
        try:
            yield from self._messages
        except CroupierError:
            if self._is_hung_up:
                raise HungUp(grpc.StatusCode.UNAVAILABLE, "the stream was ended on this side") from None
            raise

    def cancel(self) -> None:
        """End the stream, from any greenlet."""
        self._is_hung_up = True
        self._messages.cancel()


class RecordedGallery(BlockingWatchedTable):
    """A table that is watched, recorded."""

    def __init__(self, caller: BlockingCaller, table_id: str, recorder: Recorder) -> None:
        super().__init__(caller, table_id)
        self._recorder = recorder

    def receive(self, message: engine_pb2.PlayResponse | engine_pb2.WatchTableResponse) -> Event | None:
        """Take in a message of the stream."""
        self._recorder.hears(message)
        return super().receive(message)

    def _open(self) -> Messages[engine_pb2.PlayResponse] | Messages[engine_pb2.WatchTableResponse]:
        self._recorder.opens(self.sequence if self.opened else None)
        return super()._open()


class RecordedTable(BlockingTable):
    """A table that is played at, recorded."""

    def __init__(self, caller: BlockingCaller, table_id: str, recorder: Recorder, sleep: Sleep) -> None:
        super().__init__(caller, table_id)
        self.recorder = recorder
        self.expected: Expected | None = None
        """What the refusal of the next action must say."""
        self._sleep = sleep
        self._random = Random(f"{table_id} {recorder.record.player_id}")
        self._is_slow = recorder.record.manner == Manner.SLOW

    def receive(self, message: engine_pb2.PlayResponse | engine_pb2.WatchTableResponse) -> Event | None:
        """Take in a message of the stream."""
        self.recorder.hears(message)
        return super().receive(message)

    def submit(self, action: table_pb2.Action, expected_sequence: int | None = None) -> engine_pb2.SubmitActionRequest:
        """The request for an action."""
        request = super().submit(action, expected_sequence)
        self.recorder.sends(request, self.expected)
        return request

    def drop(self) -> None:
        """Lose the stream, as a phone does; it is resumed."""
        if self._messages is not None:
            self._messages.cancel()

    def close(self) -> None:
        """End the stream; what was not answered by now never is."""
        super().close()
        self.recorder.closes()

    def _open(self) -> Messages[engine_pb2.PlayResponse]:
        self.recorder.opens(self.sequence if self.opened else None)
        resumed = self.opened
        return CountedMessages(super()._open(), self.recorder.measures, PLAY, resumed=resumed)

    def _take_in(self, message: engine_pb2.PlayResponse | engine_pb2.WatchTableResponse) -> None:
        if self._is_slow and self._random.random() < LOOKS_AWAY:
            self._sleep(SLOW_READ_SECONDS)
        super()._take_in(message)

    def _ask_again(self, request: engine_pb2.SubmitActionRequest) -> int:
        try:
            sequence = super()._ask_again(request)
        except CroupierError as error:
            self.recorder.ended(request.request_id, error)
            raise
        self.recorder.accepted(request.request_id, sequence)
        return sequence


class PlainGallery:
    """A table that is watched, as behaviour wants it: what behaviour awaits holds up its greenlet, and nobody else."""

    def __init__(self, followed: BlockingWatchedTable) -> None:
        self._followed = followed

    async def __aenter__(self) -> Self:
        self._followed.__enter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._followed.close()

    @property
    def table(self) -> Table:
        """What is known of the table."""
        return self._followed

    async def changed(self, *, after: int | None = None, timeout_seconds: float | None = None) -> None:
        """Wait until the table is beyond a sequence, or the game is over; raises TimedOut."""
        self._followed.changed(after=after, timeout_seconds=timeout_seconds)


class PlainSeat(PlainGallery):
    """A table that is played at, as behaviour wants it."""

    def __init__(self, played: RecordedTable, client: PlayerClient) -> None:
        super().__init__(played)
        self._played = played
        self._client = client

    async def your_turn(self, *, timeout_seconds: float | None = None) -> bool:
        """Wait until the viewer may act (True) or the game is over (False); raises TimedOut."""
        return self._played.your_turn(timeout_seconds=timeout_seconds)

    async def attempt(self, attempt: Attempt, *, request_id: str = "", by_call: bool = False) -> int:
        """Send an action, in the stream or by a call of its own, under a name if one is given; gives its sequence."""
        if by_call:
            recorder, name = self._played.recorder, request_id or new_request_id()
            return await recorder.calls(self._client, self._played.table_id, attempt, name)
        self._played.expected = attempt.expected
        try:
            return self._played.act(attempt.action, expected_sequence=attempt.expected_sequence)
        finally:
            self._played.expected = None

    def drop(self) -> None:
        """Lose the stream, as a phone does; it is resumed."""
        self._played.drop()
