"""Results as text, JUnit and JSON, in complete files, or one-line errors."""

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from xml.etree.ElementTree import Element, fromstring

import pytest

from croupier_loadtest.judge.violations import Invariant
from croupier_loadtest.report import figures, write
from croupier_loadtest.report.junit import to_junit
from croupier_loadtest.report.result import Result, from_json, to_json
from croupier_loadtest.report.text import to_text
from croupier_loadtest.report.write import FORMS, ReportFault, check_folder, write_results, write_text
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


def suite_of(result: Result) -> Element:
    return fromstring(to_junit(result))  # noqa: S314


def cases(result: Result, outcome: str) -> set[str]:
    """Return the names of the cases with this outcome."""
    return {case.attrib["name"] for case in suite_of(result).iter("testcase") if case.find(outcome) is not None}


def test_a_passed_run_has_a_case_for_every_limit_and_every_invariant() -> None:
    suite = suite_of(PASSED)
    groups = [case.attrib["classname"] for case in suite.iter("testcase")]
    assert groups.count("loadtest.limits") == len(PASSED.checks)
    assert groups.count("loadtest.invariants") == len(Invariant)
    assert suite.attrib["tests"] == str(len(groups))
    assert (suite.attrib["failures"], suite.attrib["skipped"], suite.attrib["errors"]) == ("0", "0", "0")
    assert suite.attrib["timestamp"] == "2026-09-21T14:13:20+00:00"


@pytest.mark.parametrize(
    ("result", "failed", "skipped"),
    [
        (PASSED, (), ()),
        (FAILED, ("verdict", "violations", "hidden_card_seen", "metrics_differ"), ()),
        (EMPTY, ("verdict",), tuple(Invariant)),
        (replace(PASSED, compared=()), (), (Invariant.METRICS_DIFFER,)),
        (replace(PASSED, passed=False), ("verdict",), ()),
    ],
    ids=["passed", "failed", "nothing was tested", "metrics were not compared", "not passed, without a reason"],
)
def test_violations_are_failures_and_unchecked_invariants_are_skipped(
    result: Result, failed: tuple[str, ...], skipped: tuple[str, ...]
) -> None:
    assert (cases(result, "failure"), cases(result, "skipped")) == (set(failed), set(skipped))
    assert suite_of(result).attrib["failures"] == str(len(failed))


@pytest.mark.parametrize("character", ["\x00", "\x1b", "\ud800", "\uffff"])
def test_a_violation_is_complete_except_for_invalid_xml_characters(character: str) -> None:
    broken = replace(FAILED.violations[0], detail=f"a{character}b")
    (failure,) = suite_of(replace(FAILED, violations=(broken,))).iterfind("testcase[@name='hidden_card_seen']/failure")
    assert failure.attrib["message"] == "3 times, first at table tbl_01J9ZK, sequence 17"
    assert failure.text == "table tbl_01J9ZK, sequence 17\na\ufffdb\nkept in hidden_card_seen.jsonl"


def test_hostile_text_stays_text() -> None:
    suite = suite_of(hostile())
    assert not list(suite.iter("script"))
    assert "<script>" in suite.attrib["name"]


def names(folder: Path) -> set[str]:
    return {file.name for file in folder.iterdir()}


@pytest.mark.parametrize("result", [PASSED, FAILED, EMPTY, hostile()], ids=["passed", "failed", "empty", "hostile"])
def test_a_result_survives_encoding_and_decoding(result: Result) -> None:
    assert from_json(to_json(result)) == result


def test_all_formats_are_written_and_replaced_by_a_later_run(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "run"
    check_folder(folder)
    assert not folder.exists(), "a run that fails leaves no empty folder"
    for result in (PASSED, EMPTY):
        written = write_results(result, folder)
        assert written == {name: folder / name for name in FORMS}
        assert names(folder) == FORMS.keys()
        assert from_json(written["result.json"].read_text()) == result
    assert (folder / "summary.txt").read_text().endswith("nothing is verified\n")


@pytest.mark.parametrize("place", ["/proc/nowhere", "a file/run"])
@pytest.mark.parametrize("attempt", [check_folder, lambda folder: write_text(folder, "replay", "a line")])
def test_an_impossible_folder_has_a_one_line_error(
    tmp_path: Path, place: str, attempt: Callable[[Path], object]
) -> None:
    (tmp_path / "a file").touch()
    with pytest.raises(ReportFault, match="results cannot be written to") as fault:
        attempt(tmp_path / place)
    assert place in str(fault.value)
    assert "\n" not in str(fault.value)


def test_a_missing_package_is_reported_before_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ReportFault, match="need matplotlib"):
        check_folder(tmp_path / "run")
    assert names(tmp_path) == set()


def test_a_full_disk_is_reported_and_keeps_the_file_of_an_earlier_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(write, "FORMS", {"result.json": to_json})
    write_results(PASSED, tmp_path)
    for name in (".result.json", ".trial"):
        (tmp_path / name).symlink_to("/dev/full")
    for attempt in (check_folder, lambda folder: write_results(FAILED, folder)):
        with pytest.raises(ReportFault, match="No space left on device"):
            attempt(tmp_path)
    assert names(tmp_path) == {"result.json"}
    assert from_json((tmp_path / "result.json").read_text()) == PASSED
