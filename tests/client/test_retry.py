"""The retry policy: what is tried again, how long it waits, when it gives up."""

import random
from dataclasses import replace

import grpc
import pytest

from croupier_client import RetryPolicy, Unavailable
from croupier_client.errors import CroupierError, make_error
from croupier_client.retry import Attempts, Clock, Retries

ALL = frozenset(Attempts)
STREAM = frozenset({Attempts.STREAM})
REPEATABLE = frozenset({Attempts.STREAM, Attempts.IDEMPOTENT})
NONE: frozenset[Attempts] = frozenset()


POLICY = RetryPolicy(total_seconds=10, first_delay_seconds=1, most_delay_seconds=3)
ENDS = None
"""In place of a delay: there is no other attempt."""


class Longest:
    """Chance that always gives the most."""

    def uniform(self, a: float, b: float) -> float:
        return max(a, b)


def retries(attempts: Attempts, clock: Clock = lambda: 0, policy: RetryPolicy = POLICY) -> Retries:
    return Retries(policy, attempts, clock, Longest())


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


def limited(after_seconds: float) -> CroupierError:
    code = grpc.StatusCode.RESOURCE_EXHAUSTED
    return make_error(code, "too many", reason="TOO_MANY_CALLS", retry_after_seconds=after_seconds)


UNAVAILABLE = make_error(grpc.StatusCode.UNAVAILABLE, "down")
UNAUTHENTICATED = make_error(grpc.StatusCode.UNAUTHENTICATED, "who?")
STOPPING = make_error(grpc.StatusCode.UNAVAILABLE, "stopping", retry_after_seconds=5)


@pytest.mark.parametrize(
    ("attempts", "error", "delays"),
    [
        pytest.param(Attempts.STREAM, UNAVAILABLE, [(0, 1), (0, 2), (0, 3), (0, 3)], id="they double up to a bound"),
        pytest.param(Attempts.STREAM, UNAVAILABLE, [(9_000, 1)], id="the next attempt is just in time"),
        pytest.param(Attempts.STREAM, UNAVAILABLE, [(9_001, ENDS)], id="the next attempt would be too late"),
        pytest.param(Attempts.STREAM, UNAVAILABLE, [(6_000, 1), (6_000, ENDS)], id="failures add up to no success"),
        pytest.param(
            Attempts.STREAM, UNAVAILABLE, [(10_001, 1), (11_001, 1)], id="a silent stream that stood did well"
        ),
        pytest.param(Attempts.STREAM, UNAUTHENTICATED, [(10_001, 0), (10_001, 0)], id="so did one with a token"),
        pytest.param(Attempts.IDEMPOTENT, UNAVAILABLE, [(10_001, ENDS)], id="a call that hung did not"),
        pytest.param(Attempts.IDEMPOTENT, STOPPING, [(0, 1)], id="another service is asked at once"),
        pytest.param(Attempts.IDEMPOTENT, limited(10), [(0, ENDS)], id="nobody waits beyond his patience"),
        *(pytest.param(kind, limited(7), [(0, 8)], id=f"{kind}: as long as one is asked to") for kind in Attempts),
        *(pytest.param(kind, UNAUTHENTICATED, [(0, 0), (0, ENDS)], id=f"{kind}: one token") for kind in Attempts),
    ],
)
def test_how_long_to_wait(attempts: Attempts, error: CroupierError, delays: list[tuple[int, float | None]]) -> None:
    """Delays in seconds, after failures that came so many milliseconds one after the other."""
    now = 1_000_000
    tried = retries(attempts, lambda: now)
    for milliseconds, delay in delays:
        now += milliseconds
        if delay is not ENDS:
            assert tried.delay_seconds(error) == delay
            continue
        with pytest.raises(CroupierError) as caught:
            tried.delay_seconds(error)
        assert caught.value is error


def test_jitter_keeps_to_its_bounds_after_any_number_of_failures() -> None:
    assert POLICY.delay_seconds(10_000, Longest()) == POLICY.most_delay_seconds
    seed = random.randrange(2**32)
    print(f"seed {seed}: replace the line above by it to repeat")
    chance = random.Random(seed)
    delays = [POLICY.delay_seconds(2, chance) for _ in range(200)]
    assert all(1 <= delay <= 2 for delay in delays)
    assert len(set(delays)) > 100


def test_success_gives_new_patience() -> None:
    now = 0
    tried = retries(Attempts.STREAM, lambda: now)
    tried.delay_seconds(UNAVAILABLE)
    now = 9_999
    tried.succeeded()
    assert tried.delay_seconds(UNAVAILABLE) == 1


@pytest.mark.parametrize(
    ("attempts", "said"), [(Attempts.STREAM, "the stream ended"), (Attempts.IDEMPOTENT, "the connection broke again")]
)
def test_connections_that_break_again_and_again_are_told_as_such(attempts: Attempts, said: str) -> None:
    with pytest.raises(Unavailable, match=said):
        retries(attempts, policy=replace(POLICY, total_seconds=0)).delay_seconds(
            make_error(grpc.StatusCode.INTERNAL, "reset")
        )
