"""The command line, the report and the exit code."""

from collections.abc import Sequence

import pytest

from croupier_client import Endpoints
from loadtest.court import Court, Invariant
from loadtest.options import read_options
from loadtest.report import BROKEN, FINE, exit_code, report_lines
from loadtest.tally import Tally


def report(court: Court, tally: Tally) -> str:
    return "\n".join(report_lines(court, tally, 10.0, {"action": (1.0, 2.0, 3.0)}, "a quiet room"))


def test_a_run_with_finished_games_and_nothing_broken_is_fine() -> None:
    court, tally = Court(8), Tally(actions=500)
    for table_id in ("a", "b"):
        court.sits_down(table_id)
    court.finishes("a", "thulla")
    court.finishes("a", "thulla")
    text = report(court, tally)
    assert exit_code(court) == FINE
    assert "1 finished, 1 not over at the end" in text
    assert "500 acknowledged in 10.0 s, 50.0 a second" in text
    assert "0 violations" in text


def test_a_violation_is_told_by_name_and_place_and_makes_the_run_fail() -> None:
    court = Court(8)
    court.finishes("a", "thulla")
    court.broken(Invariant.SEQUENCE_GAP, "a", 7, "it should go on with 6")
    court.broken(Invariant.SEQUENCE_GAP, "b", 9, "it should go on with 8")
    text = report(court, Tally())
    assert exit_code(court) == BROKEN
    assert "sequence_gap 2" in text
    assert "first sequence_gap at table a, sequence 7: it should go on with 6" in text


def test_a_run_without_a_finished_game_proves_nothing() -> None:
    court = Court(8)
    court.sits_down("a")
    assert exit_code(court) == BROKEN
    assert "no game was finished" in report(court, Tally())


def test_failed_calls_are_told_and_are_no_violation() -> None:
    court, tally = Court(8), Tally()
    court.finishes("a", "thulla")
    tally.failed("GetView", "too slow")
    assert exit_code(court) == FINE
    assert "GetView 1: too slow" in report(court, tally)


def test_no_more_tables_are_remembered_than_the_court_is_told_to() -> None:
    court = Court(2)
    for table_id in "abc":
        court.sits_down(table_id)
    assert len(court._tables) == 2
    assert court.tables_opened == 3


@pytest.mark.parametrize(
    "flags",
    [["--lobby=127.0.0.1:1"], ["--tables=0"], ["--seconds=0"], ["--host=a:1", "--lobby=a:1"], ["--probed=2"]],
)
def test_a_wrong_command_line_is_refused(flags: Sequence[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        read_options(flags)
    assert ended.value.code == 2
    assert "error:" in capsys.readouterr().err


def test_services_are_named_one_by_one_or_by_their_front_door() -> None:
    assert read_options([]).endpoints is None
    assert read_options(["--host=a:1"]).endpoints == Endpoints("a:1", "a:1", "a:1")
    three = read_options(["--lobby=a:1", "--engine=b:2", "--scoring=c:3", "--seed=5"])
    assert (three.endpoints, three.seed) == (Endpoints("a:1", "b:2", "c:3"), 5)
