"""The totals of a fault run: players who leave a table because of an error, or end by a defect, make it red."""

from collections.abc import Mapping
from typing import Any

from loadtest.faults.run import RunTotals
from loadtest.judge.violations import Invariant
from loadtest.players.seat_player import ABANDONING, CANCELLED, FOLLOWING, INTERRUPTED


def batch(**failures: tuple[int, str]) -> Mapping[str, Any]:
    return {"counts": {}, "violations": [], "failures": failures}


def test_players_who_leave_a_table_because_of_an_error_are_a_violation() -> None:
    for name in (f"{FOLLOWING}: UNAVAILABLE", ABANDONING):
        (violation,) = RunTotals().add(batch(**{name: (2, "the connection broke")}))
        assert violation.invariant is Invariant.CLIENT_ERROR
        assert violation.detail == f"players left their tables 2 times after {name}: the connection broke"


def test_failures_of_single_calls_are_none() -> None:
    totals = RunTotals()
    assert not totals.add(batch(UNAVAILABLE=(3, "no answer"), acting=(1, "timed out")))
    assert not totals.defects


def test_a_player_who_ends_by_a_cancelled_call_is_a_defect_of_the_harness() -> None:
    totals = RunTotals()
    assert not totals.add(batch(**{CANCELLED: (1, "table-1"), INTERRUPTED: (1, "table-2")}))
    assert totals.defects == [f"{CANCELLED}: table-1"]
