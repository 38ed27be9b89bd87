"""A result as JUnit XML: a test case for each limit and each invariant."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from croupier_loadtest.judge.violations import Invariant
from croupier_loadtest.report.result import Result, reasons, verdict

NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 cannot hold, not even escaped."""


def to_junit(result: Result) -> str:
    """Return one test suite for the run, with every reason for which it has failed."""
    conditions = result.conditions
    suite = Element("testsuite", name=_text(f"croupier load test: {conditions.scenario}"))
    found = reasons(result)
    suite.append(_case("run", "verdict", verdict(result) if found else "", "\n".join(found)))
    for check in result.checks:
        detail = f"{check.measured}, limit {check.limit}"
        suite.append(_case("limits", check.name, "" if check.passed else detail, f"{check.name}: {detail}"))
    suite.extend(_invariants(result))
    suite.attrib |= {
        "tests": str(len(suite.findall("testcase"))),
        "failures": str(len(suite.findall("testcase/failure"))),
        "errors": "0",
        "skipped": str(len(suite.findall("testcase/skipped"))),
        "time": f"{conditions.seconds:.3f}",
        "timestamp": datetime.fromtimestamp(conditions.started_milliseconds / 1000, UTC).isoformat(),
    }
    indent(suite)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + tostring(suite, encoding="unicode") + "\n"


def _invariants(result: Result) -> Iterator[Element]:
    """Yield a test case for every invariant; invariants that were not checked are skipped."""
    found = {violation.invariant: violation for violation in result.violations}
    for name in dict.fromkeys([*map(str, Invariant), *found]):
        if violation := found.get(name):
            place = f"table {violation.table_id}, sequence {violation.sequence}"
            kept = f"\nkept in {violation.replay}" if violation.replay else ""
            headline = f"{violation.count} times, first at {place}"
            yield _case("invariants", name, headline, f"{place}\n{violation.detail}{kept}")
            continue
        case = _case("invariants", name)
        if not (result.compared if name == Invariant.METRICS_DIFFER else result.tables_judged):
            SubElement(case, "skipped", message="not checked in this run")
        yield case


def _case(group: str, name: str, failure: str = "", detail: str = "") -> Element:
    case = Element("testcase", classname=f"loadtest.{group}", name=_text(name), time="0")
    if failure:
        SubElement(case, "failure", message=_text(failure), type=_text(name)).text = _text(detail)
    return case


def _text(text: str) -> str:
    return NOT_XML.sub("\ufffd", text)
