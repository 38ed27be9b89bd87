"""Decisions when to retry and how long to wait; the channels carry them out."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from math import inf
from random import Random
from typing import TypeAlias

import grpc

from croupier_api.v1.errors_pb2 import ERROR_REASON_SERVER_STOPPING, ERROR_REASON_TOO_MANY_REQUESTS
from croupier_client.errors import CroupierError, LimitReached, Unauthenticated

Clock: TypeAlias = Callable[[], int]
"""Returns milliseconds since any moment: it measures durations."""


def monotonic_clock() -> int:
    """Return milliseconds by a clock that always goes on evenly."""
    return time.monotonic_ns() // 1_000_000


class Attempts(Enum):
    """Whether a call may be retried."""

    ONCE = "once"
    """A unary call that is not idempotent: it is retried only if it was surely not executed."""
    IDEMPOTENT = "idempotent"
    """An idempotent unary call."""
    STREAM = "stream"
    """A stream, which can be opened again."""


_RETRIED_CODES = {
    Attempts.ONCE: frozenset[grpc.StatusCode](),
    Attempts.IDEMPOTENT: frozenset({grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED}),
    Attempts.STREAM: frozenset({grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED}),
}
_NOT_EXECUTED = frozenset({ERROR_REASON_SERVER_STOPPING, ERROR_REASON_TOO_MANY_REQUESTS})
"""Reasons of refusals before the execution: even an RPC that is not idempotent may be called again."""


@dataclass(frozen=True)
class RetryPolicy:
    """Exponential backoff with jitter, limited by step and in total."""

    total_seconds: float = 60
    """Of a unary call no attempt begins later than this after the call."""
    stream_seconds: float = inf
    """Of a stream no attempt begins later than this after its last message; by default the app alone ends it."""
    first_delay_seconds: float = 0.1
    """Upper bound of the first delay; it doubles with each failure."""
    max_delay_seconds: float = 3
    silence_seconds: float = 40
    """A table's stream without any message for so long, even a heartbeat, of which there are four a minute, is opened
    again."""

    def delay_seconds(self, failures: int, random: Random) -> float:
        """Return the delay after this many failures in a row, from 1."""
        bound = min(self.first_delay_seconds * 2.0 ** min(failures - 1, 30), self.max_delay_seconds)
        return random.uniform(bound / 2, bound)


class Retries:
    """The attempts at one call or stream."""

    def __init__(self, policy: RetryPolicy, attempts: Attempts, clock: Clock, random: Random) -> None:
        self.policy = policy
        self.clock = clock
        self._attempts = attempts
        self._total_seconds = policy.stream_seconds if attempts is Attempts.STREAM else policy.total_seconds
        self._random = random
        self.succeeded()

    def succeeded(self) -> None:
        """Record an answer of the service, after which all limits start again."""
        self._failures = 0
        self._rejections = 0
        self._since_milliseconds = self._attempt_milliseconds = self.clock()

    def is_silent(self) -> bool:
        """Return whether the current attempt has been without a message for too long."""
        active_milliseconds = max(self._since_milliseconds, self._attempt_milliseconds)
        return self.clock() - active_milliseconds > self.policy.silence_seconds * 1000

    def delay_seconds(self, error: CroupierError) -> float:
        """Return the delay before the next attempt; raises the error if there should be none."""
        is_stream, milliseconds = self._attempts is Attempts.STREAM, self.clock() - self._attempt_milliseconds
        if is_stream and milliseconds > self.policy.total_seconds * 1000:
            # The stream was open, perhaps in silence, for long.
            self.succeeded()
        if isinstance(error, Unauthenticated):
            # Nothing was executed, so any call may be retried once, with another token and at once.
            self._rejections += 1
            if self._rejections > 1:
                raise error
            return 0.0
        self._failures += 1
        delay = self.policy.delay_seconds(self._failures, self._random)
        if isinstance(error, LimitReached):
            # After other errors another replica can be called at once.
            delay += error.retry_after_seconds or 0.0
        if not self._may_retry(error) or delay > self.seconds_left():
            raise error
        self._attempt_milliseconds = self.clock() + round(delay * 1000)
        return delay

    def seconds_left(self) -> float:
        """Return the time in which another attempt may begin unless a service answers before."""
        return self._total_seconds - (self.clock() - self._since_milliseconds) / 1000

    def _may_retry(self, error: CroupierError) -> bool:
        if error.reason in _NOT_EXECUTED or error.code in _RETRIED_CODES[self._attempts]:
            return True
        # A limit passes if the service says when, or if it is one of the connection, without a reason.
        is_limit = isinstance(error, LimitReached)
        is_passing = is_limit and (error.retry_after_seconds is not None or not error.reason_name)
        return self._attempts is Attempts.STREAM and is_passing
