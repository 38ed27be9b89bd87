"""What becomes of calls that fail where there is no table."""

import grpc

from croupier_client import Internal, Unavailable
from loadtest.measures import Measures
from loadtest.players.world import tell_failure


def test_a_call_that_failed_is_counted_under_what_was_done() -> None:
    measures = Measures()
    tell_failure(measures, "being matched", Unavailable(grpc.StatusCode.UNAVAILABLE, "busy", reason="BUSY"))
    batch = measures.take()
    assert list(batch["failures"]) == ["being matched: UNAVAILABLE BUSY"]
    assert batch["violations"] == []


def test_a_fault_of_a_program_is_a_violation() -> None:
    measures = Measures()
    tell_failure(measures, "being matched", Internal(grpc.StatusCode.INTERNAL, "something went wrong"))
    batch = measures.take()
    assert [one["invariant"] for one in batch["violations"]] == ["internal_error"]
    assert batch["failures"] == {}
