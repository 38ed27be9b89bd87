"""A table followed by a thread, which reads and folds the stream; other threads wait for its changes.

Nothing but threading and queue is used, so under gevent's monkey patching threads are greenlets.
"""

import queue
import threading
from collections.abc import Callable, Iterator
from math import inf
from typing import Self

import grpc

from croupier_api.v1 import actions_pb2, engine_pb2
from croupier_client.backlog import Backlog
from croupier_client.errors import CroupierError, TimedOut, Unavailable
from croupier_client.retry import Attempts
from croupier_client.rpc import BlockingCaller, Messages, Rpc, Service, StreamMessage
from croupier_client.table import Event, FollowedTable, connection_closed, is_resume_notice

CLOSE_SECONDS = 10.0
"""The time that closing a table waits for its reader."""
SILENCE_CHECKS = 4
"""A waiting thread checks this often within `silence_seconds` whether the stream is silent."""


class BlockingWatchedTable(FollowedTable):
    """A watched table: a context manager, and an iterator over its events.

    Its attributes are those of the last folded message, so they may be ahead of the event that the iterator returned.
    Lost connections, and silent streams for which a thread waits, are resumed until the table is closed, or the
    policy's `stream_seconds` have passed; meanwhile there is an `interruption`. Waiting methods raise CroupierError for
    a final refusal, and Superseded when newer streams of the player replace this one, which is not resumed.
    """

    def __init__(self, caller: BlockingCaller, table_id: str, link: str = "") -> None:
        self._retries = caller.retries(Attempts.STREAM)
        super().__init__(table_id, link=link, monotonic=self._retries.clock)
        self._caller = caller
        self._backlog = Backlog()
        self._changed = threading.Condition()
        self._closing = threading.Event()
        self._ended = False
        self._error: CroupierError | None = None
        self._messages: Messages[StreamMessage] | None = None
        self._reader = threading.Thread(target=self._follow, name=f"table {table_id}", daemon=True)

    def __enter__(self) -> Self:
        self._reader.start()
        try:
            self._until(lambda: self.is_open, self._retries.policy.total_seconds)
        except BaseException as error:
            # Closing interrupts the stream too.
            interruption = self.interruption
            self.close()
            if isinstance(error, TimedOut) and interruption is not None:
                raise interruption from None
            raise
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Event:
        with self._changed:
            if not self._until(lambda: bool(self._backlog)):
                raise StopIteration
            return self._backlog.take()

    @property
    def retry_seconds_left(self) -> float:
        """Return for how many seconds more an interruption is retried: infinite without a limit of the policy."""
        return self._retries.seconds_left()

    def close(self) -> None:
        """End the stream, and wake threads that wait for the table."""
        self._closing.set()
        if self._messages is not None:
            self._messages.cancel()
        self._reader.join(CLOSE_SECONDS)

    def wait_for_change(self, *, after: int | None = None, timeout_seconds: float | None = None) -> None:
        """Wait until the table is beyond `after`, by default its current sequence, or the game is over."""
        seen = self.sequence if after is None else after
        self._until(lambda: self.sequence > seen or self.is_finished, timeout_seconds)

    def _until(self, ready: Callable[[], bool], timeout_seconds: float | None = None) -> bool:
        """Return True when ready, False when the stream ended well before; raises TimedOut, or the stream's error."""
        with self._changed:
            if not self._wait_for(lambda: ready() or self._ended, timeout_seconds):
                raise TimedOut(grpc.StatusCode.DEADLINE_EXCEEDED, f"timed out after {timeout_seconds} seconds")
            if self._error is not None and not ready():
                raise self._error
            return ready()

    def _wait_for(self, condition: Callable[[], bool], timeout_seconds: float | None) -> bool:
        """Wait for a condition, and cancel a silent stream meanwhile, which the reader then opens again."""
        left = inf if timeout_seconds is None else timeout_seconds
        check_seconds = self._retries.policy.silence_seconds / SILENCE_CHECKS
        while not self._changed.wait_for(condition, min(left, check_seconds)):
            left -= check_seconds
            if left <= 0:
                return False
            if self._messages is not None and self._retries.is_silent():
                self._messages.cancel()
        return True

    def _follow(self) -> None:
        try:
            while not self.is_finished and not self._closing.is_set():
                try:
                    self._read()
                except CroupierError as error:
                    if delay := self._retries.delay_seconds(error):
                        # Not for a refused token, which is renewed at once.
                        self.interruption = error
                    self._closing.wait(delay)
        except CroupierError as error:
            self._error = error
        except ValueError:
            # By this gRPC refuses a call on a channel that was closed.
            self._error = connection_closed()
        finally:
            with self._changed:
                self._ended = True
                self._changed.notify_all()

    def _read(self) -> None:
        self._messages = messages = self._open()
        if self._closing.is_set():
            messages.cancel()
        for message in messages:
            self._process(message)
        if not (self.is_finished or self.is_moving):
            raise Unavailable(grpc.StatusCode.UNAVAILABLE, "the stream ended before the game was over")

    def _process(self, message: StreamMessage) -> None:
        with self._changed:
            self._backlog.put(self.receive(message))
            if not is_resume_notice(message):
                self._retries.succeeded()
            self._changed.notify_all()

    def _open(self) -> Messages[StreamMessage]:
        return self._caller.open_table(self.watch_request())


class BlockingTable(BlockingWatchedTable):
    """A table at which the client plays."""

    def __init__(self, caller: BlockingCaller, table_id: str) -> None:
        super().__init__(caller, table_id)
        self._actions: queue.Queue[engine_pb2.SubmitActionRequest | None] = queue.Queue()

    def submit_action(self, action: actions_pb2.Action, *, expected_sequence: int | None = None) -> int:
        """Act for the viewer's seat, and return the action's sequence once it is durable and folded into the view.

        Give `expected_sequence` the value that the table's property of this name had when the action was decided.
        As long as the table is followed, the action is sent again after a lost connection, with the same `request_id`:
        the services never carry it out twice. Raises IllegalAction, StaleSequence (with `expected_sequence`), TimedOut
        when an open stream brings no answer for the retry policy's total time, or the stream's error.
        """
        with self._changed:
            request = self.action_request(action, expected_sequence)
        retries = self._caller.retries(Attempts.STREAM)
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

    def create_proposal(self, proposal: str) -> int:
        """Propose something to all seats, and return the proposal's sequence once it is stored and folded.

        Raises CroupierError if the table refuses it, TimedOut, or the stream's error.
        """
        answer = self._caller.invoke(self.proposal_rpc(proposal))
        return self._folded(answer.sequence)

    def cast_vote(self, *, agree: bool) -> int:
        """Vote on the pending proposal, and return the vote's sequence once it is stored and folded.

        Raises CroupierError if no proposal is pending or the table refuses the vote, TimedOut, or the stream's error.
        """
        answer = self._caller.invoke(self.vote_rpc(agree=agree))
        return self._folded(answer.sequence)

    def set_away(self, *, is_away: bool) -> int:
        """Leave the viewer's seat to the engine, or return to it, and return the sequence once it is folded.

        Return when the player looks at the table again: to follow it is no return. Raises CroupierError if the table
        refuses it, TimedOut, or the stream's error.
        """
        answer = self._caller.invoke(self.away_rpc(is_away=is_away))
        return self._folded(answer.sequence)

    def _folded(self, sequence: int) -> int:
        self._until_received(lambda: self.sequence >= sequence)
        return sequence

    def _until_received(self, ready: Callable[[], bool]) -> bool:
        """Wait as `_until` does, for a time that begins again with each new stream; raises what that does."""
        while True:
            streams = self.resume_count
            try:
                return self._until(ready, self._retries.policy.total_seconds)
            except TimedOut:
                if self.interruption is None and self.resume_count == streams:
                    raise

    def wait_for_turn(self, *, timeout_seconds: float | None = None) -> bool:
        """Wait until the viewer may act (returns True) or the game is over (returns False)."""
        self._until(lambda: self.is_to_act or self.is_finished, timeout_seconds)
        return self.is_to_act and not self.is_finished

    def _answer(self, request: engine_pb2.SubmitActionRequest) -> int:
        """Send an action, and wait for its answer on this or a later stream."""
        with self._changed:
            self.mark_unanswered(request)
            self._actions.put(request)
        if self._until_received(lambda: self.is_settled(request.request_id)):
            return self.take_outcome(request.request_id)
        return self._request_again(request)

    def _request_again(self, request: engine_pb2.SubmitActionRequest) -> int:
        """Repeat an action whose answer was lost at the end of the game, which returns that answer."""
        if not self.is_finished:
            raise Unavailable(grpc.StatusCode.UNAVAILABLE, "the table was closed before the answer arrived")
        return self._caller.invoke(Rpc(Service.ENGINE, request, engine_pb2.SubmitActionResponse)).sequence

    def _open(self) -> Messages[StreamMessage]:
        with self._changed:
            actions: queue.Queue[engine_pb2.SubmitActionRequest | None] = queue.Queue()
            self._actions = actions
            watch = self.watch_request()
            for request in self.unanswered_requests():
                actions.put(request)
        return self._caller.open_table(watch, _until_none(actions))

    def _read(self) -> None:
        try:
            super()._read()
        finally:
            self._actions.put(None)


def _until_none(
    actions: queue.Queue[engine_pb2.SubmitActionRequest | None],
) -> Iterator[engine_pb2.SubmitActionRequest]:
    return (action for action in iter(actions.get, None) if action is not None)
