"""The names of clients' failures, which distinguish services from lost connections."""

from functools import partial
from typing import Any

import grpc
import pytest
from google.rpc import error_details_pb2, status_pb2

from croupier_client import CroupierError, TimedOut, from_status
from croupier_client.endpoints import STREAM_SECONDS
from loadtest.measures import Measures
from loadtest.players.counting import BrokenOnPurpose, count_error, counted_call, counted_stream, service_code
from loadtest.players.user_context import count_failure


def failure(code: grpc.StatusCode, reason: str = "", **metadata: str) -> CroupierError:
    """Return the error of a call that ended with this status."""
    number: int = code.value[0]
    status = status_pb2.Status(code=number, message="it did not work")
    if reason:
        info = error_details_pb2.ErrorInfo(reason=reason, domain="croupier", metadata=metadata)
        status.details.add().Pack(info)
    return from_status(status)


@pytest.mark.parametrize(
    ("code", "reason", "failures"),
    [
        (grpc.StatusCode.INTERNAL, "INTERNAL_FAULT", ["INTERNAL INTERNAL_FAULT"]),
        (grpc.StatusCode.INTERNAL, "", ["connection lost (INTERNAL)"]),
        (grpc.StatusCode.UNKNOWN, "", ["connection lost (UNKNOWN)"]),
        (grpc.StatusCode.UNAVAILABLE, "", ["UNAVAILABLE"]),
        (grpc.StatusCode.DEADLINE_EXCEEDED, "", ["DEADLINE_EXCEEDED"]),
        (grpc.StatusCode.NOT_FOUND, "", ["NOT_FOUND"]),
        (grpc.StatusCode.NOT_FOUND, "UNKNOWN_TABLE", []),
    ],
)
def test_a_failure_names_its_cause_and_a_refusal_is_none(
    code: grpc.StatusCode, reason: str, failures: list[str]
) -> None:
    measures = Measures()
    count_error(measures, failure(code, reason))
    assert list(measures.failures) == failures
    assert measures.counts[f"refused {reason}"] == (not failures)


def test_a_refusal_of_the_gateway_has_no_service_code() -> None:
    limited = partial(failure, grpc.StatusCode.RESOURCE_EXHAUSTED, "TOO_MANY_REQUESTS")
    assert (service_code(limited()), service_code(limited(source="gateway"))) == (
        "RESOURCE_EXHAUSTED",
        None,
    )


@pytest.mark.parametrize("counted", [counted_call, partial(counted_stream, resumed=False)])
def test_a_call_that_a_limit_refused_is_counted_by_its_name(counted: Any) -> None:
    measures = Measures()
    with pytest.raises(CroupierError), counted(measures, "/s/GetView"):
        raise failure(grpc.StatusCode.RESOURCE_EXHAUSTED, "TOO_MANY_REQUESTS", limit="network_calls")
    with pytest.raises(CroupierError), counted(measures, "/s/GetView"):
        raise failure(grpc.StatusCode.NOT_FOUND, "UNKNOWN_TABLE")
    assert {name: count for name, count in measures.counts.items() if name.startswith("limited")} == {
        "limited network_calls": 1
    }


@pytest.mark.parametrize(("seconds", "failures"), [(STREAM_SECONDS, 0), (STREAM_SECONDS / 2, 1)])
def test_a_stream_that_its_client_renews_has_not_failed(seconds: float, failures: int) -> None:
    measures, times = Measures(), iter([0.0, seconds])
    with pytest.raises(TimedOut), counted_stream(measures, "/s/PlayTable", resumed=False, clock=lambda: next(times)):
        raise failure(grpc.StatusCode.DEADLINE_EXCEEDED)
    assert measures.failures.total() == failures


BROKEN_AT = 100.0
"""When all connections were broken on purpose."""


@pytest.mark.parametrize("counted", [counted_call, partial(counted_stream, resumed=False)])
@pytest.mark.parametrize(
    ("code", "reason", "began", "ended", "is_broken"),
    [
        (grpc.StatusCode.UNAVAILABLE, "", 90, 100.1, True),
        (grpc.StatusCode.INTERNAL, "", 99, 101, True),
        (grpc.StatusCode.UNAVAILABLE, "", 100.2, 100.3, True),
        (grpc.StatusCode.UNAVAILABLE, "", 100.2, 130, False),
        (grpc.StatusCode.UNAVAILABLE, "", 103, 104, False),
        (grpc.StatusCode.UNAVAILABLE, "STORE_UNAVAILABLE", 90, 100.1, False),
        (grpc.StatusCode.DEADLINE_EXCEEDED, "", 90, 100.1, False),
    ],
)
def test_a_call_that_the_load_test_broke_is_no_failure(
    counted: Any, code: grpc.StatusCode, reason: str, began: float, ended: float, is_broken: bool
) -> None:
    measures, times = Measures(), iter([began, *[ended] * 2])
    measures.broken_at = BROKEN_AT
    with pytest.raises(CroupierError) as raised, counted(measures, "/s/PlayTable", clock=lambda: next(times)):
        raise failure(code, reason)
    count_failure(measures, "playing", raised.value)
    assert (measures.counts["calls broken PlayTable"], not measures.failures) == (is_broken, is_broken)
    assert isinstance(raised.value, BrokenOnPurpose) is is_broken


@pytest.mark.parametrize(
    ("code", "reason", "failures", "violations"),
    [
        (grpc.StatusCode.UNAVAILABLE, "TABLE_BUSY", ["being matched: UNAVAILABLE TABLE_BUSY"], []),
        (grpc.StatusCode.INTERNAL, "", [], ["internal_error"]),
    ],
)
def test_a_failed_call_outside_of_a_table_is_counted_and_an_internal_error_is_a_violation(
    code: grpc.StatusCode, reason: str, failures: list[str], violations: list[str]
) -> None:
    measures = Measures()
    count_failure(measures, "being matched", failure(code, reason))
    batch = measures.take()
    assert list(batch["failures"]) == failures
    assert [one["invariant"] for one in batch["violations"]] == violations
