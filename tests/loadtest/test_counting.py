"""How clients name what went wrong: a service that fails is told from a connection that was lost."""

import grpc
import pytest

from croupier_client.errors import make_error
from loadtest.measures import Measures
from loadtest.players.counting import tell_error

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
