"""When to try again, and how long to wait before: decisions only, the channels do the waiting."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Protocol, TypeAlias

import grpc

from croupier_client.errors import CroupierError, LimitReached, Unauthenticated, Unavailable

Clock: TypeAlias = Callable[[], int]
"""Gives the time in milliseconds since 1970 UTC."""


class RandomSource(Protocol):
    """What is needed of a source of chance; random.Random fits."""

    def uniform(self, a: float, b: float) -> float:
        """A number between a and b."""
        ...


class Attempts(Enum):
    """What may be tried again."""

    ONCE = "once"
    """Doing it twice would harm: only when the services surely did nothing."""
    IDEMPOTENT = "idempotent"
    """A unary call that may be repeated."""
    STREAM = "stream"
    """A stream that can be opened again."""


_RETRIED = {
    Attempts.ONCE: frozenset[grpc.StatusCode](),
    Attempts.IDEMPOTENT: frozenset({grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED}),
    Attempts.STREAM: frozenset(
        {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.RESOURCE_EXHAUSTED}
    ),
}
_NOTHING_DONE = "TOO_MANY_CALLS"
"""The reason of a refusal that came before anything else: even a call that must not be made twice may be made again."""
_CONNECTION_LOST = frozenset({grpc.StatusCode.INTERNAL, grpc.StatusCode.UNKNOWN, grpc.StatusCode.CANCELLED})
"""How a call may end when its connection breaks; the services' own errors carry a reason, these do not."""


def is_lost_connection(error: CroupierError) -> bool:
    """Whether a call ended as it may when its connection breaks, by a code that a service would give a reason with."""
    return error.code in _CONNECTION_LOST and not error.reason


def _asked_seconds(error: CroupierError) -> float:
    """How long a limit asks to wait; of those who cannot answer now another one can be asked at once."""
    return error.retry_after_seconds if isinstance(error, LimitReached) else 0.0


@dataclass(frozen=True)
class RetryPolicy:
    """How patient to be: exponential backoff with jitter, bounded in step and in total."""

    total_seconds: float = 60
    """From the last success on, no attempt begins later than this; a stream that stood for longer was a success."""
    first_delay_seconds: float = 0.1
    """Upper bound of the first delay; it doubles with each failure."""
    most_delay_seconds: float = 3
    """No delay is longer."""
    silence_seconds: float = 40
    """A table's stream that brings nothing for so long, not even a heartbeat, of which there are four a minute, is
    opened anew."""

    def delay_seconds(self, failures: int, random: RandomSource) -> float:
        """How long to wait after this many failures in a row, from 1."""
        bound = min(self.first_delay_seconds * 2.0 ** min(failures - 1, 30), self.most_delay_seconds)
        return random.uniform(bound / 2, bound)


class Retries:
    """The attempts at one call or stream."""

    def __init__(self, policy: RetryPolicy, attempts: Attempts, clock: Clock, random: RandomSource) -> None:
        self.policy = policy
        self._attempts = attempts
        self._clock = clock
        self._random = random
        self.succeeded()

    def succeeded(self) -> None:
        """Take note that the service answered: patience starts anew."""
        self._failures = 0
        self._rejections = 0
        self._since_milliseconds = self._attempt_milliseconds = self._clock()

    def is_silent(self) -> bool:
        """Whether the attempt that is under way brings nothing for too long."""
        heard_milliseconds = max(self._since_milliseconds, self._attempt_milliseconds)
        return self._clock() - heard_milliseconds > self.policy.silence_seconds * 1000

    def delay_seconds(self, error: CroupierError) -> float:
        """How long to wait before the next attempt; raises the error itself when there should be none."""
        if self._stood():
            self.succeeded()
        if isinstance(error, Unauthenticated):
            return self._delay_of_rejection(error)
        self._failures += 1
        delay = _asked_seconds(error) + self.policy.delay_seconds(self._failures, self._random)
        waited = (self._clock() - self._since_milliseconds) / 1000
        if not self._may_retry(error) or waited + delay > self.policy.total_seconds:
            raise self.for_good(error) from error
        self._attempt_milliseconds = self._clock() + round(delay * 1000)
        return delay

    def _stood(self) -> bool:
        """Whether the attempt that failed now was a stream that had stood, perhaps in silence, for long."""
        stood_milliseconds = self._clock() - self._attempt_milliseconds
        return self._attempts is Attempts.STREAM and stood_milliseconds > self.policy.total_seconds * 1000

    def _delay_of_rejection(self, error: CroupierError) -> float:
        """A token may have ended early, once; nothing was done, so even a call that harms twice may be repeated."""
        self._rejections += 1
        if self._rejections > 1:
            raise error
        return 0.0

    def _may_retry(self, error: CroupierError) -> bool:
        is_repeatable = error.code in _RETRIED[self._attempts] or error.reason == _NOTHING_DONE
        return is_repeatable or self._is_lost_connection(error)

    def _is_lost_connection(self, error: CroupierError) -> bool:
        return self._attempts is not Attempts.ONCE and is_lost_connection(error)

    def for_good(self, error: CroupierError) -> CroupierError:
        """What the caller is told; that connections broke again and again is no fault of the services' own."""
        if not self._is_lost_connection(error):
            return error
        is_stream = self._attempts is Attempts.STREAM
        what = "the stream ended before the game was over" if is_stream else "the connection broke again and again"
        return Unavailable(grpc.StatusCode.UNAVAILABLE, f"{what}: {error}")
