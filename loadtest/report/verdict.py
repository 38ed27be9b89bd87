"""Whether a run says that what was put under load can be shipped, and if not, why."""

from loadtest.report.figures import number, printable
from loadtest.report.result import Result

FIT = "fit to ship"
UNFIT = "not fit to ship"


def reasons(result: Result) -> tuple[str, ...]:
    """Why a run is red, the gravest first; nothing for a green one."""
    found = []
    if result.violations:
        kinds = ", ".join(printable(broken.invariant) for broken in result.violations)
        found.append(f"violations: {number(sum(broken.count for broken in result.violations))} ({kinds})")
    if not result.tables_finished:
        found.append("no game was finished, so nothing is proved")
    found += [
        printable(f"{check.name} {check.measured}, limit {check.limit}") for check in result.checks if not check.passed
    ]
    return tuple(found) if found or result.passed else ("the run was not passed, and no limit says why",)


def verdict(result: Result) -> str:
    """The verdict in one line."""
    found = reasons(result)
    return f"{UNFIT}: {'; '.join(found)}" if found else FIT
