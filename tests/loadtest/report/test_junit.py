"""Results as JUnit XML."""

from dataclasses import replace
from xml.etree.ElementTree import Element, fromstring

import pytest

from loadtest.judge.violations import Invariant
from loadtest.report.junit import to_junit
from loadtest.report.result import Result
from tests.loadtest.report.sample import EMPTY, FAILED, PASSED, hostile


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
