"""Results as CI servers read them."""

from dataclasses import replace
from xml.etree.ElementTree import Element, fromstring

import pytest

from loadtest.judge.violations import Invariant
from loadtest.report.junit import to_junit
from loadtest.report.result import Result
from tests.loadtest.report.sample import EMPTY, GREEN, RED, hostile


def cases(result: Result, outcome: str) -> set[str]:
    """The names of the cases with a failure, or that are skipped."""
    suite = fromstring(to_junit(result))  # noqa: S314
    return {case.attrib["name"] for case in suite.iter("testcase") if case.find(outcome) is not None}


def case(result: Result, name: str) -> Element:
    (found,) = fromstring(to_junit(result)).iterfind(f"testcase[@name='{name}']")  # noqa: S314
    return found


def test_a_green_run_has_a_case_for_every_limit_and_every_invariant() -> None:
    suite = fromstring(to_junit(GREEN))  # noqa: S314
    groups = [case.attrib["classname"] for case in suite.iter("testcase")]
    assert groups.count("loadtest.limits") == len(GREEN.checks)
    assert groups.count("loadtest.invariants") == len(Invariant)
    assert suite.attrib["tests"] == str(len(groups))
    assert (suite.attrib["failures"], suite.attrib["skipped"], suite.attrib["errors"]) == ("0", "0", "0")
    assert cases(GREEN, "failure") == cases(GREEN, "skipped") == set()
    assert suite.attrib["timestamp"] == "2026-09-21T14:13:20+00:00"


def test_violations_and_limits_that_were_not_kept_are_failures() -> None:
    assert cases(RED, "failure") == {"verdict", "violations", "hidden_card_seen", "metrics_differ"}
    failure = case(RED, "hidden_card_seen").find("failure")
    assert failure is not None
    assert failure.attrib["message"] == "3 times, first at table tbl_01J9ZK, sequence 17"
    for part in ("tbl_01J9ZK", "17", "seat 2 was shown 9♦ of seat 0", "hidden_card_seen.jsonl"):
        assert part in (failure.text or "")
    assert fromstring(to_junit(RED)).attrib["failures"] == "4"  # noqa: S314


def test_a_run_that_tested_nothing_is_red_and_its_invariants_are_skipped() -> None:
    assert cases(EMPTY, "failure") == {"verdict"}
    assert cases(EMPTY, "skipped") == set(Invariant)


def test_metrics_are_skipped_where_they_could_not_be_compared() -> None:
    assert cases(replace(GREEN, compared=()), "skipped") == {Invariant.METRICS_DIFFER}


def test_a_run_that_was_not_passed_is_red_even_without_a_reason() -> None:
    assert cases(replace(GREEN, passed=False), "failure") == {"verdict"}


@pytest.mark.parametrize("character", ["\x00", "\x1b", "\ud800", "\uffff"])
def test_what_xml_cannot_carry_is_replaced(character: str) -> None:
    broken = replace(RED.violations[0], detail=f"a{character}b")
    failure = case(replace(RED, violations=(broken,)), "hidden_card_seen").find("failure")
    assert failure is not None
    assert "a\ufffdb" in (failure.text or "")


def test_hostile_text_stays_text() -> None:
    suite = fromstring(to_junit(hostile()))  # noqa: S314
    assert not list(suite.iter("script"))
    assert "<script>" in suite.attrib["name"]
