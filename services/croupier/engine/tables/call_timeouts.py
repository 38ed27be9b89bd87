"""The time-outs of calls."""

import asyncio
from collections.abc import Callable
from types import TracebackType
from typing import TypeAlias

from croupier.runtime.errors import ServiceError, Unavailable
from croupier.runtime.time_limits import TimeLimits
from croupier_api.v1 import errors_pb2

CALL_TIMEOUT_SECONDS = 10.0
"""The time that a call waits for a table and its log; longer than the time-out of a commit on PostgreSQL."""
Answer: TypeAlias = Callable[[int | ServiceError], None]
"""Receives the sequence of a stored request, or its refusal."""


class CallTimeouts:
    """Limits the time of the calls of an engine."""

    def __init__(self) -> None:
        self._limits = TimeLimits(CALL_TIMEOUT_SECONDS)

    def in_time(self) -> "CallTimeout":
        """Return a context whose block, a part of the current task, raises Unavailable if it takes longer.

        An append in progress then continues in the background, since it may still become durable.
        """
        return CallTimeout(self._limits)

    def answer_in_time(self, answer: Answer) -> "TimedAnswer":
        """Return the answer of a call that no task waits for; it is Unavailable if the call takes longer."""
        return TimedAnswer(self._limits, answer)


class CallTimeout:
    """The limit of one call; cancels as asyncio.timeout() does."""

    __slots__ = ("_cancelling", "_is_expired", "_limits", "_task")

    def __init__(self, limits: TimeLimits) -> None:
        self._limits = limits
        self._is_expired = False

    def __enter__(self) -> None:
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("a time-out needs a task that it can cancel")
        self._task, self._cancelling = task, task.cancelling()
        self._limits.begin(self)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._limits.end(self)
        if self._is_expired and self._task.uncancel() <= self._cancelling and kind is asyncio.CancelledError:
            raise _late() from None

    def expire(self) -> None:
        """Cancel the block."""
        if self._limits.end(self):
            self._is_expired = True
            self._task.cancel()


class TimedAnswer:
    """An answer that is given once, in time or as a refusal; later outcomes of its call are ignored.

    `task` finds it, if the call needs one by now, and is cancelled when the time is over.
    """

    __slots__ = ("_answer", "_limits", "is_given", "task")

    def __init__(self, limits: TimeLimits, answer: Answer) -> None:
        self._limits = limits
        self._answer = answer
        self.is_given = False
        self.task: asyncio.Task[None] | None = None
        limits.begin(self)

    def __call__(self, outcome: int | ServiceError) -> None:
        if self._limits.end(self):
            self.is_given = True
            self._answer(outcome)

    def expire(self) -> None:
        """Refuse the call."""
        self(_late())
        if self.task is not None:
            self.task.cancel()


def _late() -> Unavailable:
    return store_unavailable("the store does not answer in time: send the same request again")


def store_unavailable(message: str) -> Unavailable:
    """Return the refusal of a call because the store fails."""
    return Unavailable(errors_pb2.ERROR_REASON_STORE_UNAVAILABLE, message, retry_after_seconds=0.5)
