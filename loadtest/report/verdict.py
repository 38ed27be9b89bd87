"""The verdict of a run, and the reasons if it has failed."""

from croupier.runtime.printed_text import escaped
from loadtest.report.figures import number
from loadtest.report.result import Result

FIT = "fit to ship"
UNFIT = "not fit to ship"


def reasons(result: Result) -> tuple[str, ...]:
    """Return the reasons why a run has failed, the gravest first; empty if it has passed."""
    found = []
    if result.violations:
        kinds = ", ".join(escaped(violation.invariant) for violation in result.violations)
        found.append(f"violations: {number(sum(violation.count for violation in result.violations))} ({kinds})")
    if not result.tables_finished:
        found.append("no game was finished, so nothing is verified")
    found += [
        escaped(f"{check.name} {check.measured}, limit {check.limit}") for check in result.checks if not check.passed
    ]
    return tuple(found) if found or result.passed else ("the run has not passed, for no known limit",)


def verdict(result: Result) -> str:
    """Return the verdict in one line."""
    found = reasons(result)
    return f"{UNFIT}: {'; '.join(found)}" if found else FIT
