"""How clients name what went wrong: a service that fails is told from a connection that was lost."""

import grpc
import pytest

from croupier_client.endpoints import STREAM_SECONDS
from croupier_client.errors import TimedOut, make_error
from loadtest.measures import Measures
from loadtest.players.counting import counted_stream, tell_error
from loadtest.players.world import tell_failure


@pytest.mark.parametrize(
    ("code", "reason", "failures"),
    [
        (grpc.StatusCode.INTERNAL, "INTERNAL_ERROR", ["INTERNAL INTERNAL_ERROR"]),
        (grpc.StatusCode.INTERNAL, "", ["connection lost (INTERNAL)"]),
        (grpc.StatusCode.UNKNOWN, "", ["connection lost (UNKNOWN)"]),
        (grpc.StatusCode.UNAVAILABLE, "", ["UNAVAILABLE"]),
        (grpc.StatusCode.DEADLINE_EXCEEDED, "", ["DEADLINE_EXCEEDED"]),
        (grpc.StatusCode.NOT_FOUND, "", ["NOT_FOUND"]),
        (grpc.StatusCode.NOT_FOUND, "UNKNOWN_TABLE", []),
    ],
)
def test_a_failure_is_named_by_who_failed_and_a_refusal_is_none(
    code: grpc.StatusCode, reason: str, failures: list[str]
) -> None:
    measures = Measures()
    tell_error(measures, make_error(code, "it did not work", reason=reason))
    assert list(measures.failures) == failures
    assert measures.counts[f"refused {reason}"] == (not failures)


@pytest.mark.parametrize(("seconds", "failures"), [(STREAM_SECONDS, 0), (STREAM_SECONDS / 2, 1)])
def test_a_stream_that_its_client_opens_anew_has_not_failed(seconds: float, failures: int) -> None:
    measures, times = Measures(), iter([0.0, seconds])
    with pytest.raises(TimedOut), counted_stream(measures, "/s/Play", resumed=False, clock=lambda: next(times)):
        raise make_error(grpc.StatusCode.DEADLINE_EXCEEDED, "it is over")
    assert measures.failures.total() == failures


@pytest.mark.parametrize(
    ("code", "reason", "failures", "violations"),
    [
        (grpc.StatusCode.UNAVAILABLE, "BUSY", ["being matched: UNAVAILABLE BUSY"], []),
        (grpc.StatusCode.INTERNAL, "", [], ["internal_error"]),
    ],
)
def test_away_from_a_table_a_call_that_fails_is_counted_and_a_fault_of_a_program_is_a_violation(
    code: grpc.StatusCode, reason: str, failures: list[str], violations: list[str]
) -> None:
    measures = Measures()
    tell_failure(measures, "being matched", make_error(code, "it did not work", reason=reason))
    batch = measures.take()
    assert list(batch["failures"]) == failures
    assert [one["invariant"] for one in batch["violations"]] == violations
