"""A table followed with asyncio: one task reads the stream and folds it, everybody else waits for what it brings."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from types import TracebackType
from typing import Self, TypeAlias

import grpc

from croupier_api.v1 import engine_pb2, table_pb2
from croupier_client.backlog import Backlog
from croupier_client.callers import AsyncCaller, Call, Service
from croupier_client.errors import CroupierError, TimedOut, Unavailable
from croupier_client.retry import Attempts
from croupier_client.table import Event, Table

_Messages: TypeAlias = (
    AsyncGenerator[engine_pb2.WatchTableResponse, None] | AsyncGenerator[engine_pb2.PlayResponse, None]
)


class AsyncWatchedTable(Table):
    """A table that is watched: an async context manager, and an async iterator over its events.

    Its attributes are those of the last message folded, so they may be ahead of the event that the iterator gave.
    Lost connections are resumed, and streams that fall silent; whatever waits raises CroupierError when that fails for
    good.
    """

    def __init__(self, caller: AsyncCaller, table_id: str) -> None:
        super().__init__(table_id)
        self._caller = caller
        self._retries = caller.retries(Attempts.STREAM)
        self._backlog = Backlog()
        self._changed = asyncio.Event()
        self._ended = False
        self._interruption: CroupierError | None = None
        self._error: CroupierError | None = None
        self._reader: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._reader = asyncio.create_task(self._follow())
        try:
            await self._until(lambda: self.opened, self._retries.policy.total_seconds)
        except BaseException as error:
            # Closing interrupts the stream too.
            interruption = self._interruption
            await self.close()
            if isinstance(error, TimedOut) and interruption is not None:
                raise self._retries.for_good(interruption) from None
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Event:
        if not await self._until(lambda: bool(self._backlog)):
            raise StopAsyncIteration
        return self._backlog.take()

    async def close(self) -> None:
        """End the stream; whoever waits for the table goes on."""
        # The traceback of the task's cancellation refers to the table and to the call: as long as the table refers to
        # the task, that reference cycle keeps the connection open until the garbage collector runs.
        reader, self._reader = self._reader, None
        if reader is not None:
            reader.cancel()
            await asyncio.wait([reader])
            if not reader.cancelled():
                reader.result()

    async def changed(self, *, after: int | None = None, timeout_seconds: float | None = None) -> None:
        """Wait until the table is beyond `after`, which is its present sequence unless given, or the game is over."""
        seen = self.sequence if after is None else after
        await self._until(lambda: self.sequence > seen or self.finished, timeout_seconds)

    async def _until(self, ready: Callable[[], bool], timeout_seconds: float | None = None) -> bool:
        """Wait; True when ready, False when the stream ended well before. Raises TimedOut, or what ended the stream."""
        try:
            async with asyncio.timeout(timeout_seconds):
                while not (ready() or self._ended):
                    await self._changed.wait()
        except TimeoutError:
            raise _timed_out(timeout_seconds) from None
        if self._error is not None and not ready():
            raise self._error
        return ready()

    def _notify(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    async def _follow(self) -> None:
        try:
            while not self.finished:
                try:
                    await self._read()
                except CroupierError as error:
                    self._interruption = error
                    await asyncio.sleep(self._retries.delay_seconds(error))
        except CroupierError as error:
            self._error = error
        finally:
            self._ended = True
            self._notify()

    async def _read(self) -> None:
        async with aclosing(await self._open()) as messages:
            while (message := await self._next(messages)) is not None:
                self._backlog.put(self.receive(message))
                if not message.HasField("resume_notice"):
                    self._retries.succeeded()
                self._notify()
        if not (self.finished or self.is_moving):
            raise Unavailable(grpc.StatusCode.UNAVAILABLE, "the stream ended before the game was over")

    async def _next(self, messages: _Messages) -> engine_pb2.PlayResponse | engine_pb2.WatchTableResponse | None:
        try:
            async with asyncio.timeout(self._retries.policy.silence_seconds):
                return await anext(messages, None)
        except TimeoutError:
            raise Unavailable(grpc.StatusCode.UNAVAILABLE, "the stream fell silent") from None

    async def _open(self) -> _Messages:
        return await self._caller.open(Call(Service.ENGINE, self.watch_request(), engine_pb2.WatchTableResponse))


class AsyncTable(AsyncWatchedTable):
    """A table that is played at."""

    def __init__(self, caller: AsyncCaller, table_id: str) -> None:
        super().__init__(caller, table_id)
        self._requests: asyncio.Queue[engine_pb2.PlayRequest | None] = asyncio.Queue()

    async def act(self, action: table_pb2.Action, *, expected_sequence: int | None = None) -> int:
        """Act for one's seat: the action's sequence, once it is stored for good and folded into the view.

        Survives lost connections for the retry policy's total time: the action is sent again under the same name, and
        the services never do it twice. Raises IllegalAction, StaleSequence (with `expected_sequence`), TimedOut when
        it is not known how it went, or what ended the stream.
        """
        request = self.submit(action, expected_sequence)
        retries = self._caller.retries(Attempts.IDEMPOTENT)
        try:
            while True:
                try:
                    return await self._answer(request)
                except Unavailable as error:
                    if self._ended:
                        raise
                    await asyncio.sleep(retries.delay_seconds(error))
        finally:
            self.forget(request.request_id)

    async def propose(self, proposal: str) -> int:
        """Propose something that all seats can agree on: the proposal's sequence, once it is stored and folded.

        Raises CroupierError if the table refuses it, TimedOut, or what ended the stream.
        """
        answer = await self._caller.invoke(self.proposing(proposal))
        return await self._folded(answer.sequence)

    async def vote(self, *, agree: bool) -> int:
        """Agree with what is proposed, or refuse it: the vote's sequence, once it is stored and folded.

        Raises CroupierError if nothing is proposed or the table refuses the vote, TimedOut, or what ended the stream.
        """
        answer = await self._caller.invoke(self.voting(agree=agree))
        return await self._folded(answer.sequence)

    async def _folded(self, sequence: int) -> int:
        await self._until(lambda: self.sequence >= sequence, self._retries.policy.total_seconds)
        return sequence

    async def your_turn(self, *, timeout_seconds: float | None = None) -> bool:
        """Wait until the viewer may act (True) or the game is over (False)."""
        await self._until(lambda: self.to_act or self.finished, timeout_seconds)
        return self.to_act and not self.finished

    async def _answer(self, request: engine_pb2.SubmitActionRequest) -> int:
        """Send an action, and wait for the answer, on whichever stream it comes."""
        self.submit_again(request)
        self._requests.put_nowait(engine_pb2.PlayRequest(action=request))
        if await self._until(lambda: self.settled(request.request_id), self._retries.policy.total_seconds):
            return self.take_outcome(request.request_id)
        return await self._ask_again(request)

    async def _ask_again(self, request: engine_pb2.SubmitActionRequest) -> int:
        """The game ended, and with it the stream, before the answer came: a repeat gets that answer."""
        if not self.finished:
            raise Unavailable(grpc.StatusCode.UNAVAILABLE, "the table was closed before the answer came")
        return (await self._caller.invoke(Call(Service.ENGINE, request, engine_pb2.SubmitActionResponse))).sequence

    async def _open(self) -> AsyncGenerator[engine_pb2.PlayResponse, None]:
        self._requests = asyncio.Queue()
        self._requests.put_nowait(engine_pb2.PlayRequest(watch=self.watch_request()))
        for request in self.unanswered():
            self._requests.put_nowait(engine_pb2.PlayRequest(action=request))
        return await self._caller.open_play(self.table_id, _sent(self._requests))

    async def _read(self) -> None:
        try:
            await super()._read()
        finally:
            self._requests.put_nowait(None)


async def _sent(requests: asyncio.Queue[engine_pb2.PlayRequest | None]) -> AsyncIterator[engine_pb2.PlayRequest]:
    while (request := await requests.get()) is not None:
        yield request


def _timed_out(seconds: float | None) -> TimedOut:
    return TimedOut(grpc.StatusCode.DEADLINE_EXCEEDED, f"nothing came of it within {seconds} seconds")
