"""A table followed by a thread: it reads the stream and folds it, everybody else waits for what it brings.

Nothing but threading and queue is used, so under gevent's monkey patching threads are greenlets.
"""

import queue
import threading
from collections.abc import Callable, Iterator
from math import inf
from types import TracebackType
from typing import Self

import grpc

from croupier_api.v1 import engine_pb2, table_pb2
from croupier_client.backlog import Backlog
from croupier_client.callers import BlockingCaller, Call, Messages, Service
from croupier_client.errors import CroupierError, TimedOut, Unavailable
from croupier_client.retry import Attempts
from croupier_client.table import Event, Table

CLOSE_SECONDS = 10.0
"""How long closing a table waits for its reader."""
LOOKS = 4
"""Whoever waits looks so often whether the stream fell silent before it counts as that."""


class BlockingWatchedTable(Table):
    """A table that is watched: a context manager, and an iterator over its events.

    Its attributes are those of the last message folded, so they may be ahead of the event that the iterator gave.
    Lost connections are resumed, and streams that fall silent while somebody waits; whatever waits raises CroupierError
    when that fails for good.
    """

    def __init__(self, caller: BlockingCaller, table_id: str) -> None:
        super().__init__(table_id)
        self._caller = caller
        self._retries = caller.retries(Attempts.STREAM)
        self._backlog = Backlog()
        self._changed = threading.Condition()
        self._closing = threading.Event()
        self._ended = False
        self._interruption: CroupierError | None = None
        self._error: CroupierError | None = None
        self._messages: Messages[engine_pb2.PlayResponse] | Messages[engine_pb2.WatchTableResponse] | None = None
        self._reader = threading.Thread(target=self._follow, name=f"table {table_id}", daemon=True)

    def __enter__(self) -> Self:
        self._reader.start()
        try:
            self._until(lambda: self.opened, self._retries.policy.total_seconds)
        except BaseException as error:
            # Closing interrupts the stream too.
            interruption = self._interruption
            self.close()
            if isinstance(error, TimedOut) and interruption is not None:
                raise self._retries.for_good(interruption) from None
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Event:
        with self._changed:
            if not self._until(lambda: bool(self._backlog)):
                raise StopIteration
            return self._backlog.take()

    def close(self) -> None:
        """End the stream; whoever waits for the table goes on."""
        self._closing.set()
        if self._messages is not None:
            self._messages.cancel()
        self._reader.join(CLOSE_SECONDS)

    def changed(self, *, after: int | None = None, timeout_seconds: float | None = None) -> None:
        """Wait until the table is beyond `after`, which is its present sequence unless given, or the game is over."""
        seen = self.sequence if after is None else after
        self._until(lambda: self.sequence > seen or self.finished, timeout_seconds)

    def _until(self, ready: Callable[[], bool], timeout_seconds: float | None = None) -> bool:
        """Wait; True when ready, False when the stream ended well before. Raises TimedOut, or what ended the stream."""
        with self._changed:
            if not self._wait_for(lambda: ready() or self._ended, timeout_seconds):
                raise TimedOut(
                    grpc.StatusCode.DEADLINE_EXCEEDED, f"nothing came of it within {timeout_seconds} seconds"
                )
            if self._error is not None and not ready():
                raise self._error
            return ready()

    def _wait_for(self, condition: Callable[[], bool], timeout_seconds: float | None) -> bool:
        """Wait for it, and hang up meanwhile on a stream that fell silent: the reader then opens it again."""
        left = inf if timeout_seconds is None else timeout_seconds
        look_seconds = self._retries.policy.silence_seconds / LOOKS
        while not self._changed.wait_for(condition, min(left, look_seconds)):
            left -= look_seconds
            if left <= 0:
                return False
            if self._messages is not None and self._retries.is_silent():
                self._messages.cancel()
        return True

    def _follow(self) -> None:
        try:
            while not self.finished and not self._closing.is_set():
                try:
                    self._read()
                except CroupierError as error:
                    self._interruption = error
                    self._closing.wait(self._retries.delay_seconds(error))
        except CroupierError as error:
            self._error = error
        finally:
            with self._changed:
                self._ended = True
                self._changed.notify_all()

    def _read(self) -> None:
        self._messages = messages = self._open()
        if self._closing.is_set():
            messages.cancel()
        for message in messages:
            self._take_in(message)
        if not (self.finished or self.is_moving):
            raise Unavailable(grpc.StatusCode.UNAVAILABLE, "the stream ended before the game was over")

    def _take_in(self, message: engine_pb2.PlayResponse | engine_pb2.WatchTableResponse) -> None:
        with self._changed:
            self._backlog.put(self.receive(message))
            if not message.HasField("resume_notice"):
                self._retries.succeeded()
            self._changed.notify_all()

    def _open(self) -> Messages[engine_pb2.PlayResponse] | Messages[engine_pb2.WatchTableResponse]:
        return self._caller.open(Call(Service.ENGINE, self.watch_request(), engine_pb2.WatchTableResponse))


class BlockingTable(BlockingWatchedTable):
    """A table that is played at."""

    def __init__(self, caller: BlockingCaller, table_id: str) -> None:
        super().__init__(caller, table_id)
        self._requests: queue.Queue[engine_pb2.PlayRequest | None] = queue.Queue()

    def act(self, action: table_pb2.Action, *, expected_sequence: int | None = None) -> int:
        """Act for one's seat: the action's sequence, once it is stored for good and folded into the view.

        Survives lost connections for the retry policy's total time: the action is sent again under the same name, and
        the services never do it twice. Raises IllegalAction, StaleSequence (with `expected_sequence`), TimedOut when
        it is not known how it went, or what ended the stream.
        """
        with self._changed:
            request = self.submit(action, expected_sequence)
        retries = self._caller.retries(Attempts.IDEMPOTENT)
        try:
            while True:
                try:
                    return self._answer(request)
                except Unavailable as error:
                    if self._ended:
                        raise
                    self._closing.wait(retries.delay_seconds(error))
        finally:
            with self._changed:
                self.forget(request.request_id)

    def propose(self, proposal: str) -> int:
        """Propose something that all seats can agree on: the proposal's sequence, once it is stored and folded.

        Raises CroupierError if the table refuses it, TimedOut, or what ended the stream.
        """
        answer = self._caller.invoke(self.proposing(proposal))
        return self._folded(answer.sequence)

    def vote(self, *, agree: bool) -> int:
        """Agree with what is proposed, or refuse it: the vote's sequence, once it is stored and folded.

        Raises CroupierError if nothing is proposed or the table refuses the vote, TimedOut, or what ended the stream.
        """
        answer = self._caller.invoke(self.voting(agree=agree))
        return self._folded(answer.sequence)

    def _folded(self, sequence: int) -> int:
        self._until(lambda: self.sequence >= sequence, self._retries.policy.total_seconds)
        return sequence

    def your_turn(self, *, timeout_seconds: float | None = None) -> bool:
        """Wait until the viewer may act (True) or the game is over (False)."""
        self._until(lambda: self.to_act or self.finished, timeout_seconds)
        return self.to_act and not self.finished

    def _answer(self, request: engine_pb2.SubmitActionRequest) -> int:
        """Send an action, and wait for the answer, on whichever stream it comes."""
        with self._changed:
            self.submit_again(request)
            self._requests.put(engine_pb2.PlayRequest(action=request))
        if self._until(lambda: self.settled(request.request_id), self._retries.policy.total_seconds):
            return self.take_outcome(request.request_id)
        return self._ask_again(request)

    def _ask_again(self, request: engine_pb2.SubmitActionRequest) -> int:
        """The game ended, and with it the stream, before the answer came: a repeat gets that answer."""
        if not self.finished:
            raise Unavailable(grpc.StatusCode.UNAVAILABLE, "the table was closed before the answer came")
        return self._caller.invoke(Call(Service.ENGINE, request, engine_pb2.SubmitActionResponse)).sequence

    def _open(self) -> Messages[engine_pb2.PlayResponse]:
        with self._changed:
            requests: queue.Queue[engine_pb2.PlayRequest | None] = queue.Queue()
            self._requests = requests
            requests.put(engine_pb2.PlayRequest(watch=self.watch_request()))
            for request in self.unanswered():
                requests.put(engine_pb2.PlayRequest(action=request))
        return self._caller.open_play(self.table_id, _sent(requests))

    def _read(self) -> None:
        try:
            super()._read()
        finally:
            self._requests.put(None)


def _sent(requests: queue.Queue[engine_pb2.PlayRequest | None]) -> Iterator[engine_pb2.PlayRequest]:
    return (request for request in iter(requests.get, None) if request is not None)
