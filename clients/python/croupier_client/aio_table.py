"""A table followed with asyncio: one task reads and folds the stream, and other tasks wait for its changes."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from typing import Self

import grpc

from croupier_api.v1 import actions_pb2, engine_pb2
from croupier_client.backlog import Backlog
from croupier_client.errors import CroupierError, TimedOut, Unavailable
from croupier_client.retry import Attempts
from croupier_client.rpc import AsyncCaller, Rpc, Service, StreamMessage
from croupier_client.table import Event, FollowedTable, connection_closed, is_resume_notice


class AsyncWatchedTable(FollowedTable):
    """A watched table: an async context manager, and an async iterator over its events.

    Its attributes are those of the last folded message, so they may be ahead of the event that the iterator returned.
    Lost connections and silent streams are resumed until the table is closed, or the policy's `stream_seconds` have
    passed; meanwhile there is an `interruption`. Waiting methods raise CroupierError for a final refusal, and
    Superseded when newer streams of the player replace this one, which is not resumed.
    """

    def __init__(self, caller: AsyncCaller, table_id: str, link: str = "") -> None:
        self._retries = caller.retries(Attempts.STREAM)
        super().__init__(table_id, link=link, monotonic=self._retries.clock)
        self._caller = caller
        self._backlog = Backlog()
        self._changed = asyncio.Event()
        self._ended = False
        self._error: CroupierError | None = None
        self._reader: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._reader = asyncio.create_task(self._follow())
        try:
            await self._until(lambda: self.is_open, self._retries.policy.total_seconds)
        except BaseException as error:
            # Closing interrupts the stream too.
            interruption = self.interruption
            await self.close()
            if isinstance(error, TimedOut) and interruption is not None:
                raise interruption from None
            raise
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.close()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Event:
        if not await self._until(lambda: bool(self._backlog)):
            raise StopAsyncIteration
        return self._backlog.take()

    @property
    def retry_seconds_left(self) -> float:
        """Return for how many seconds more an interruption is retried: infinite without a limit of the policy."""
        return self._retries.seconds_left()

    async def close(self) -> None:
        """End the stream, and wake tasks that wait for the table."""
        # The traceback of the task's cancellation refers to the table and to the call: as long as the table refers to
        # the task, that reference cycle keeps the connection open until the garbage collector runs.
        reader, self._reader = self._reader, None
        if reader is not None:
            reader.cancel()
            await asyncio.wait([reader])
            if not reader.cancelled():
                reader.result()

    async def wait_for_change(self, *, after: int | None = None, timeout_seconds: float | None = None) -> None:
        """Wait until the table is beyond `after`, by default its current sequence, or the game is over."""
        seen = self.sequence if after is None else after
        await self._until(lambda: self.sequence > seen or self.is_finished, timeout_seconds)

    async def _until(self, ready: Callable[[], bool], timeout_seconds: float | None = None) -> bool:
        """Return True when ready, False when the stream ended well before; raises TimedOut, or the stream's error."""
        try:
            async with asyncio.timeout(timeout_seconds):
                while not (ready() or self._ended):
                    await self._changed.wait()
        except TimeoutError:
            message = f"timed out after {timeout_seconds} seconds"
            raise TimedOut(grpc.StatusCode.DEADLINE_EXCEEDED, message) from None
        if self._error is not None and not ready():
            raise self._error
        return ready()

    def _notify(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    async def _follow(self) -> None:
        try:
            while not self.is_finished:
                try:
                    await self._read()
                except CroupierError as error:
                    if delay := self._retries.delay_seconds(error):
                        # Not for a refused token, which is renewed at once.
                        self.interruption = error
                    await asyncio.sleep(delay)
        except CroupierError as error:
            self._error = error
        finally:
            # Not by close(), which takes the reader first: somebody closed the connection.
            if self._reader is not None and self._error is None and not self.is_finished:
                self._error = connection_closed()
            self._ended = True
            self._notify()

    async def _read(self) -> None:
        async with aclosing(await self._open()) as messages:
            while (message := await self._next(messages)) is not None:
                self._backlog.put(self.receive(message))
                if not is_resume_notice(message):
                    self._retries.succeeded()
                self._notify()
        if not (self.is_finished or self.is_moving):
            raise Unavailable(grpc.StatusCode.UNAVAILABLE, "the stream ended before the game was over")

    async def _next(self, messages: AsyncGenerator[StreamMessage, None]) -> StreamMessage | None:
        try:
            async with asyncio.timeout(self._retries.policy.silence_seconds):
                return await anext(messages, None)
        except TimeoutError:
            raise Unavailable(grpc.StatusCode.UNAVAILABLE, "the stream was silent for too long") from None

    async def _open(self) -> AsyncGenerator[StreamMessage, None]:
        return await self._caller.open_table(self.watch_request())


class AsyncTable(AsyncWatchedTable):
    """A table at which the client plays."""

    def __init__(self, caller: AsyncCaller, table_id: str) -> None:
        super().__init__(caller, table_id)
        self._actions: asyncio.Queue[engine_pb2.SubmitActionRequest | None] = asyncio.Queue()

    async def submit_action(self, action: actions_pb2.Action, *, expected_sequence: int | None = None) -> int:
        """Act for the viewer's seat, and return the action's sequence once it is durable and folded into the view.

        Give `expected_sequence` the value that the table's property of this name had when the action was decided.
        As long as the table is followed, the action is sent again after a lost connection, with the same `request_id`:
        the services never carry it out twice. Raises IllegalAction, StaleSequence (with `expected_sequence`), TimedOut
        when an open stream brings no answer for the retry policy's total time, or the stream's error.
        """
        request = self.action_request(action, expected_sequence)
        retries = self._caller.retries(Attempts.STREAM)
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

    async def create_proposal(self, proposal: str) -> int:
        """Propose something to all seats, and return the proposal's sequence once it is stored and folded.

        Raises CroupierError if the table refuses it, TimedOut, or the stream's error.
        """
        answer = await self._caller.invoke(self.proposal_rpc(proposal))
        return await self._folded(answer.sequence)

    async def cast_vote(self, *, agree: bool) -> int:
        """Vote on the pending proposal, and return the vote's sequence once it is stored and folded.

        Raises CroupierError if no proposal is pending or the table refuses the vote, TimedOut, or the stream's error.
        """
        answer = await self._caller.invoke(self.vote_rpc(agree=agree))
        return await self._folded(answer.sequence)

    async def set_away(self, *, is_away: bool) -> int:
        """Leave the viewer's seat to the engine, or return to it, and return the sequence once it is folded.

        Return when the player looks at the table again: to follow it is no return. Raises CroupierError if the table
        refuses it, TimedOut, or the stream's error.
        """
        answer = await self._caller.invoke(self.away_rpc(is_away=is_away))
        return await self._folded(answer.sequence)

    async def _folded(self, sequence: int) -> int:
        await self._until_received(lambda: self.sequence >= sequence)
        return sequence

    async def _until_received(self, ready: Callable[[], bool]) -> bool:
        """Wait as `_until` does, for a time that begins again with each new stream; raises what that does."""
        while True:
            streams = self.resume_count
            try:
                return await self._until(ready, self._retries.policy.total_seconds)
            except TimedOut:
                if self.interruption is None and self.resume_count == streams:
                    raise

    async def wait_for_turn(self, *, timeout_seconds: float | None = None) -> bool:
        """Wait until the viewer may act (returns True) or the game is over (returns False)."""
        await self._until(lambda: self.is_to_act or self.is_finished, timeout_seconds)
        return self.is_to_act and not self.is_finished

    async def _answer(self, request: engine_pb2.SubmitActionRequest) -> int:
        """Send an action, and wait for its answer on this or a later stream."""
        self.mark_unanswered(request)
        self._actions.put_nowait(request)
        if await self._until_received(lambda: self.is_settled(request.request_id)):
            return self.take_outcome(request.request_id)
        return await self._request_again(request)

    async def _request_again(self, request: engine_pb2.SubmitActionRequest) -> int:
        """Repeat an action whose answer was lost at the end of the game, which returns that answer."""
        if not self.is_finished:
            raise Unavailable(grpc.StatusCode.UNAVAILABLE, "the table was closed before the answer arrived")
        return (await self._caller.invoke(Rpc(Service.ENGINE, request, engine_pb2.SubmitActionResponse))).sequence

    async def _open(self) -> AsyncGenerator[StreamMessage, None]:
        self._actions = asyncio.Queue()
        for request in self.unanswered_requests():
            self._actions.put_nowait(request)
        return await self._caller.open_table(self.watch_request(), _until_none(self._actions))

    async def _read(self) -> None:
        try:
            await super()._read()
        finally:
            self._actions.put_nowait(None)


async def _until_none(
    actions: asyncio.Queue[engine_pb2.SubmitActionRequest | None],
) -> AsyncIterator[engine_pb2.SubmitActionRequest]:
    while (action := await actions.get()) is not None:
        yield action
