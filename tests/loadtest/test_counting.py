"""How clients name what went wrong: a service that fails is told from a connection that was lost."""

import grpc
import pytest

from croupier_client.endpoints import STREAM_SECONDS
from croupier_client.errors import TimedOut, make_error
from loadtest.measures import Measures
from loadtest.players.counting import counted_stream, tell_error

CASES = (
    (grpc.StatusCode.INTERNAL, "INTERNAL_ERROR", "INTERNAL INTERNAL_ERROR"),
    (grpc.StatusCode.INTERNAL, "", "connection lost (INTERNAL)"),
    (grpc.StatusCode.UNKNOWN, "", "connection lost (UNKNOWN)"),
    (grpc.StatusCode.UNAVAILABLE, "", "UNAVAILABLE"),
    (grpc.StatusCode.DEADLINE_EXCEEDED, "", "DEADLINE_EXCEEDED"),
    (grpc.StatusCode.NOT_FOUND, "", "NOT_FOUND"),
)


@pytest.mark.parametrize(("code", "reason", "name"), CASES)
def test_a_failure_is_named_by_who_failed(code: grpc.StatusCode, reason: str, name: str) -> None:
    measures = Measures()
    tell_error(measures, make_error(code, "it did not work", reason=reason))
    assert dict(measures.failures) == {name: 1}


def test_a_refusal_is_no_failure() -> None:
    measures = Measures()
    tell_error(measures, make_error(grpc.StatusCode.NOT_FOUND, "there is no such table", reason="UNKNOWN_TABLE"))
    assert not measures.failures
    assert measures.counts["refused UNKNOWN_TABLE"] == 1


@pytest.mark.parametrize(("seconds", "failures"), [(STREAM_SECONDS, 0), (STREAM_SECONDS / 2, 1)])
def test_a_stream_that_its_client_opens_anew_has_not_failed(seconds: float, failures: int) -> None:
    measures, times = Measures(), iter([0.0, seconds])
    with pytest.raises(TimedOut), counted_stream(measures, "/s/Play", resumed=False, clock=lambda: next(times)):
        raise make_error(grpc.StatusCode.DEADLINE_EXCEEDED, "it is over")
    assert measures.failures.total() == failures
