"""The retry policy: retried errors, delays and the end of retries."""

import random
from math import inf

import grpc
import pytest
from google.protobuf.duration_pb2 import Duration
from google.rpc import error_details_pb2

from croupier_api.v1 import errors_pb2
from croupier_api.v1.errors_pb2 import ERROR_REASON_UNSPECIFIED, ErrorReason
from croupier_client import LimitReached, RetryPolicy
from croupier_client.errors import CroupierError, from_status
from croupier_client.retry import Attempts, Clock, Retries
from tests.client.messages import refused

ALL = frozenset(Attempts)
STREAM = frozenset({Attempts.STREAM})
REPEATABLE = frozenset({Attempts.STREAM, Attempts.IDEMPOTENT})
NONE: frozenset[Attempts] = frozenset()


POLICY = RetryPolicy(total_seconds=10, stream_seconds=10, first_delay_seconds=1, max_delay_seconds=3)
ENDS = None
"""In place of a delay: there is no further attempt."""


def failed(
    code: str, reason: ErrorReason.ValueType = ERROR_REASON_UNSPECIFIED, after_seconds: float | None = None
) -> CroupierError:
    status = refused(grpc.StatusCode[code], "no", reason)
    if after_seconds is not None:
        delay = Duration(seconds=int(after_seconds))
        status.details.add().Pack(error_details_pb2.RetryInfo(retry_delay=delay))
    return from_status(status)


class MaxRandom(random.Random):
    def uniform(self, a: float, b: float) -> float:
        return max(a, b)


def retries(attempts: Attempts, clock: Clock = lambda: 0, policy: RetryPolicy = POLICY) -> Retries:
    return Retries(policy, attempts, clock, MaxRandom())


@pytest.mark.parametrize("attempts", Attempts)
@pytest.mark.parametrize(
    ("code", "reason", "retried"),
    [
        ("UNAVAILABLE", "", REPEATABLE),
        ("UNAVAILABLE", "SERVER_STOPPING", ALL),
        ("UNAVAILABLE", "STORE_UNAVAILABLE", REPEATABLE),
        ("DEADLINE_EXCEEDED", "", REPEATABLE),
        ("UNAUTHENTICATED", "", ALL),
        ("RESOURCE_EXHAUSTED", "", STREAM),
        ("RESOURCE_EXHAUSTED", "REQUEST_TOO_LARGE", NONE),
        ("RESOURCE_EXHAUSTED", "TOO_MANY_REQUESTS", ALL),
        ("INTERNAL", "INTERNAL_FAULT", NONE),
        ("DATA_LOSS", "", NONE),
        ("NOT_FOUND", "", NONE),
        ("PERMISSION_DENIED", "", NONE),
        ("FAILED_PRECONDITION", "", NONE),
        ("INVALID_ARGUMENT", "", NONE),
        ("ABORTED", "STALE_SEQUENCE", NONE),
        ("ABORTED", "SUPERSEDED", NONE),
    ],
)
def test_retried_errors(attempts: Attempts, code: str, reason: str, retried: frozenset[Attempts]) -> None:
    error = failed(code, ErrorReason.Value(f"ERROR_REASON_{reason or 'UNSPECIFIED'}"))
    if attempts in retried:
        assert retries(attempts).delay_seconds(error) >= 0
        return
    with pytest.raises(CroupierError) as caught:
        retries(attempts).delay_seconds(error)
    assert caught.value is error


def test_a_limit_with_a_known_time_is_retried_by_streams_only() -> None:
    error = failed("RESOURCE_EXHAUSTED", errors_pb2.ERROR_REASON_SLOW_READER, after_seconds=0)
    assert retries(Attempts.STREAM).delay_seconds(error) == POLICY.first_delay_seconds
    for attempts in Attempts.ONCE, Attempts.IDEMPOTENT:
        with pytest.raises(LimitReached):
            retries(attempts).delay_seconds(error)


def limited(after_seconds: float) -> CroupierError:
    return failed("RESOURCE_EXHAUSTED", errors_pb2.ERROR_REASON_TOO_MANY_REQUESTS, after_seconds)


UNAVAILABLE = failed("UNAVAILABLE")
UNAUTHENTICATED = failed("UNAUTHENTICATED")
STOPPING = failed("UNAVAILABLE", errors_pb2.ERROR_REASON_SERVER_STOPPING, after_seconds=5)


@pytest.mark.parametrize(
    ("attempts", "error", "delays"),
    [
        pytest.param(
            Attempts.STREAM, UNAVAILABLE, [(0, 1), (0, 2), (0, 3), (0, 3)], id="delays double up to a maximum"
        ),
        pytest.param(Attempts.STREAM, UNAVAILABLE, [(9_000, 1)], id="the next attempt is just in time"),
        pytest.param(Attempts.STREAM, UNAVAILABLE, [(9_001, ENDS)], id="the next attempt would be too late"),
        pytest.param(
            Attempts.STREAM, UNAVAILABLE, [(6_000, 1), (6_000, ENDS)], id="failures do not extend the total time"
        ),
        pytest.param(
            Attempts.STREAM,
            UNAVAILABLE,
            [(10_001, 1), (11_001, 1)],
            id="a silent stream of long duration was a success",
        ),
        pytest.param(Attempts.STREAM, UNAUTHENTICATED, [(10_001, 0), (10_001, 0)], id="a stream with a token too"),
        pytest.param(Attempts.IDEMPOTENT, UNAVAILABLE, [(10_001, ENDS)], id="a call that hung was not"),
        pytest.param(Attempts.IDEMPOTENT, STOPPING, [(0, 1)], id="another replica is called at once"),
        pytest.param(
            Attempts.IDEMPOTENT, limited(10), [(0, ENDS)], id="a delay beyond the total time ends the retries"
        ),
        *(
            pytest.param(kind, limited(7), [(0, 8)], id=f"{kind}: the time that the service asks for")
            for kind in Attempts
        ),
        *(pytest.param(kind, UNAUTHENTICATED, [(0, 0), (0, ENDS)], id=f"{kind}: one token") for kind in Attempts),
    ],
)
def test_delays(attempts: Attempts, error: CroupierError, delays: list[tuple[int, float | None]]) -> None:
    """Each delay in seconds follows a failure this many milliseconds after the one before."""
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


def test_a_stream_is_retried_without_an_end_and_with_bounded_delays() -> None:
    now = 0
    tried = retries(Attempts.STREAM, lambda: now, RetryPolicy())
    for _ in range(10_000):
        now += 3_000
        assert tried.delay_seconds(UNAVAILABLE) <= 3
    assert tried.seconds_left() == inf
    with pytest.raises(CroupierError):
        tried.delay_seconds(failed("NOT_FOUND"))


def test_jitter_is_within_its_bounds_after_any_number_of_failures() -> None:
    assert POLICY.delay_seconds(10_000, MaxRandom()) == POLICY.max_delay_seconds
    seed = random.randrange(2**32)
    print(f"seed {seed}: replace the line above by it to repeat")
    rng = random.Random(seed)
    delays = [POLICY.delay_seconds(2, rng) for _ in range(200)]
    assert all(1 <= delay <= 2 for delay in delays)
    assert len(set(delays)) > 100


def test_a_success_restarts_the_total_time() -> None:
    now = 0
    tried = retries(Attempts.STREAM, lambda: now)
    tried.delay_seconds(UNAVAILABLE)
    now = 9_999
    tried.succeeded()
    assert tried.delay_seconds(UNAVAILABLE) == 1
