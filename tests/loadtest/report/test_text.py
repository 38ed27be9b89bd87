"""The text summary of a run."""

from dataclasses import replace

import pytest

from loadtest.report import figures
from loadtest.report.result import Result
from loadtest.report.text import to_text
from tests.loadtest.report.sample import EMPTY, FAILED, PASSED, hostile


def test_a_passed_run_ends_with_its_verdict() -> None:
    lines = to_text(PASSED).splitlines()
    assert lines[-1] == "verdict     fit to ship"
    assert lines[0].startswith("tables      1,180 opened, 1,102 finished, 1,180 judged, 1,102 played again")
    assert "actions     123,456 acknowledged, 205.8 a second" in lines
    assert "services    3,260 ms of CPU per thousand actions" in lines
    assert "violations  0" in lines
    (acknowledged,) = [line.split() for line in lines if line.strip().startswith("action acknowledged")]
    assert " ".join(acknowledged[2:]) == "123,456 3.1 ms 8.4 ms 12 ms 41 ms 92 ms 180 ms"
    assert f"repeat      {PASSED.conditions.command}" in lines
    assert "            engine-1: CPU 6 min 42 s, memory 180.0 MiB, then 191.0 MiB (+6.1%), files 40, then 41" in lines


def test_a_failed_run_has_its_reasons_in_the_last_line_and_the_first_of_each_violation() -> None:
    text = to_text(FAILED)
    lines = text.splitlines()
    assert lines[-1] == (
        "verdict     not fit to ship: violations: 4 (hidden_card_seen, metrics_differ); violations 4, limit none"
    )
    assert "hidden_card_seen 3, first: at table tbl_01J9ZK, sequence 17: seat 2 was shown 9♦ of seat 0" in text
    assert "metrics_differ 1, first: the services count 123,999 actions" in text
    assert "NOT KEPT: violations 4, limit none" in text
    assert "800 tables, 720.0 actions a second, p99 62 ms, kept the limits: the knee" in text
    assert text.count("the knee") == 1
    assert f"bottleneck  {FAILED.bottleneck}" in lines


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        (replace(EMPTY, passed=True), "no game was finished, so nothing is verified"),
        (replace(PASSED, passed=False), "the run has not passed, for no known limit"),
    ],
)
def test_a_run_without_finished_games_or_not_passed_fails(result: Result, reason: str) -> None:
    assert to_text(result).splitlines()[-1] == f"verdict     not fit to ship: {reason}"


def test_counters_that_differ_are_named() -> None:
    differing = replace(PASSED.compared[0], services=9_000, agrees=False)
    text = to_text(replace(PASSED, compared=(differing,)))
    assert "actions applied: services 9,000, clients 123,456, 20 of them unknown" in text


def test_foreign_text_has_no_control_characters() -> None:
    text = to_text(hostile())
    assert all(letter.isprintable() or letter == "\n" for letter in text)
    assert "alert(1)" in text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (figures.milliseconds(0.44), "0.4 ms"),
        (figures.milliseconds(12.6), "13 ms"),
        (figures.milliseconds(12_400), "12.4 s"),
        (figures.size(512), "512 B"),
        (figures.size(61_440), "60.0 KiB"),
        (figures.size(3 * 2**30), "3.00 GiB"),
        (figures.duration(59.0), "59.0 s"),
        (figures.duration(3_725), "1 h 2 min"),
        (figures.change(200, 150), "-25.0%"),
        (figures.change(0, 150), "–"),
        (figures.number(1234567.8), "1,234,568"),
    ],
)
def test_figures_are_formatted(text: str, expected: str) -> None:
    assert text == expected
