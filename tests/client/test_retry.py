"""The retry policy: what is tried again, how long it waits, when it gives up."""

import random

import grpc
import pytest

from croupier_client import RetryPolicy
from croupier_client.errors import CroupierError, make_error
from croupier_client.retry import Attempts, Retries

ALL = frozenset(Attempts)
STREAM = frozenset({Attempts.STREAM})
REPEATABLE = frozenset({Attempts.STREAM, Attempts.IDEMPOTENT})
NONE: frozenset[Attempts] = frozenset()


class FakeClock:
    """Time that stands still until told otherwise."""

    def __init__(self) -> None:
        self.now = 1_000_000

    def __call__(self) -> int:
        return self.now


class Longest:
    """Chance that always gives the most."""

    def uniform(self, a: float, b: float) -> float:
        return max(a, b)


def retries(attempts: Attempts, clock: FakeClock | None = None, policy: RetryPolicy | None = None) -> Retries:
    return Retries(policy or RetryPolicy(), attempts, clock or FakeClock(), Longest())


@pytest.mark.parametrize("attempts", Attempts)
@pytest.mark.parametrize(
    ("code", "reason", "retried"),
    [
        ("UNAVAILABLE", "", REPEATABLE),
        ("UNAVAILABLE", "DRAINING", REPEATABLE),
        ("DEADLINE_EXCEEDED", "", REPEATABLE),
        ("UNAUTHENTICATED", "", ALL),
        ("RESOURCE_EXHAUSTED", "SLOW_READER", STREAM),
        ("RESOURCE_EXHAUSTED", "TOO_MANY_CALLS", ALL),
        ("INTERNAL", "", REPEATABLE),
        ("UNKNOWN", "", REPEATABLE),
        ("CANCELLED", "", REPEATABLE),
        ("INTERNAL", "BUG", NONE),
        ("DATA_LOSS", "SequenceError", NONE),
        ("NOT_FOUND", "", NONE),
        ("PERMISSION_DENIED", "", NONE),
        ("FAILED_PRECONDITION", "", NONE),
        ("INVALID_ARGUMENT", "", NONE),
        ("ABORTED", "", NONE),
    ],
)
def test_what_is_tried_again(attempts: Attempts, code: str, reason: str, retried: frozenset[Attempts]) -> None:
    error = make_error(grpc.StatusCode[code], "no", reason=reason)
    if attempts in retried:
        assert retries(attempts).delay_seconds(error) >= 0
        return
    with pytest.raises(CroupierError) as caught:
        retries(attempts).delay_seconds(error)
    assert caught.value is error


@pytest.mark.parametrize("attempts", Attempts)
def test_who_called_too_often_waits_as_long_as_he_is_asked_to(attempts: Attempts) -> None:
    policy = RetryPolicy(first_delay_seconds=0.5)
    assert retries(attempts, policy=policy).delay_seconds(limited(after_seconds=7)) == 7.5


def test_nobody_waits_longer_than_his_patience_though_he_is_asked_to() -> None:
    error = limited(after_seconds=61)
    with pytest.raises(CroupierError) as caught:
        retries(Attempts.IDEMPOTENT).delay_seconds(error)
    assert caught.value is error


def test_who_finds_a_service_unavailable_asks_another_one_at_once() -> None:
    error = make_error(grpc.StatusCode.UNAVAILABLE, "stopping", retry_after_seconds=5)
    assert retries(Attempts.IDEMPOTENT).delay_seconds(error) == RetryPolicy().first_delay_seconds


def limited(after_seconds: float) -> CroupierError:
    code = grpc.StatusCode.RESOURCE_EXHAUSTED
    return make_error(code, "too many", reason="TOO_MANY_CALLS", retry_after_seconds=after_seconds)


UNAVAILABLE = make_error(grpc.StatusCode.UNAVAILABLE, "down")
UNAUTHENTICATED = make_error(grpc.StatusCode.UNAUTHENTICATED, "who?")


def test_delays_double_up_to_a_bound() -> None:
    policy = RetryPolicy(total_seconds=60, first_delay_seconds=0.5, most_delay_seconds=3)
    attempts = retries(Attempts.STREAM, policy=policy)
    assert [attempts.delay_seconds(UNAVAILABLE) for _ in range(5)] == [0.5, 1, 2, 3, 3]


def test_many_failures_overflow_nothing() -> None:
    assert RetryPolicy().delay_seconds(10_000, Longest()) == RetryPolicy().most_delay_seconds


def test_jitter_keeps_to_its_bounds() -> None:
    seed = random.randrange(2**32)
    print(f"seed {seed}: replace the line above by it to repeat")
    chance = random.Random(seed)
    policy = RetryPolicy(first_delay_seconds=1, most_delay_seconds=8)
    delays = [policy.delay_seconds(3, chance) for _ in range(200)]
    assert all(2 <= delay <= 4 for delay in delays)
    assert len(set(delays)) > 100


@pytest.mark.parametrize("error", [UNAVAILABLE, UNAUTHENTICATED])
def test_stream_that_stood_in_silence_was_a_success(error: CroupierError) -> None:
    clock = FakeClock()
    policy = RetryPolicy(total_seconds=10, first_delay_seconds=1)
    attempts = retries(Attempts.STREAM, clock, policy)
    delays = []
    for _ in range(3):
        clock.now += 10_001
        delays.append(attempts.delay_seconds(error))
        clock.now += round(delays[-1] * 1000)
    assert delays == [delays[0]] * 3


def test_streams_that_fail_soon_do_not_add_up_to_a_success() -> None:
    clock = FakeClock()
    attempts = retries(Attempts.STREAM, clock, RetryPolicy(total_seconds=10))
    clock.now += 6_000
    attempts.delay_seconds(UNAVAILABLE)
    clock.now += 6_000
    with pytest.raises(CroupierError):
        attempts.delay_seconds(UNAVAILABLE)


def test_call_that_hangs_was_no_success() -> None:
    clock = FakeClock()
    attempts = retries(Attempts.IDEMPOTENT, clock, RetryPolicy(total_seconds=10))
    clock.now += 10_001
    with pytest.raises(CroupierError):
        attempts.delay_seconds(UNAVAILABLE)


def test_gives_up_when_the_next_attempt_would_be_too_late() -> None:
    clock = FakeClock()
    policy = RetryPolicy(total_seconds=10, first_delay_seconds=1, most_delay_seconds=1)
    attempts = retries(Attempts.STREAM, clock, policy)
    clock.now += 9_000
    assert attempts.delay_seconds(UNAVAILABLE) == 1
    clock.now += 1
    with pytest.raises(CroupierError):
        attempts.delay_seconds(UNAVAILABLE)


def test_success_gives_new_patience() -> None:
    clock = FakeClock()
    attempts = retries(Attempts.STREAM, clock)
    attempts.delay_seconds(UNAVAILABLE)
    clock.now += 1_000_000
    attempts.succeeded()
    assert attempts.delay_seconds(UNAVAILABLE) == RetryPolicy().first_delay_seconds


@pytest.mark.parametrize("attempts", Attempts)
def test_a_token_is_rejected_once_only(attempts: Attempts) -> None:
    tried = retries(attempts)
    assert tried.delay_seconds(UNAUTHENTICATED) == 0
    with pytest.raises(CroupierError):
        tried.delay_seconds(UNAUTHENTICATED)
