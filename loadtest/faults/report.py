"""What a run has found, for people and as JSON."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from loadtest.faults.findings import Kind
from loadtest.faults.measures import percentile
from loadtest.faults.run import Plan, Tally

TAKEOVER_LIMIT_SECONDS = 3.0
MOST_TOLD_FINDINGS = 20


def faults_of(tally: Tally, plan: Plan) -> list[str]:
    """What keeps a run from being clean, one line each."""
    told = [str(finding) for finding in tally.findings]
    if not plan.short and percentile(tally.takeovers, 0.99) >= TAKEOVER_LIMIT_SECONDS:
        told.append(f"takeovers take up to {max(tally.takeovers):.2f} s: 99 of 100 are to take less than 3 s")
    return told


def text_of(tally: Tally, plan: Plan, command: str) -> str:
    """The report for people."""
    return "\n".join(_lines(tally, plan, command))


def _lines(tally: Tally, plan: Plan, command: str) -> Iterator[str]:
    kinds = Counter(finding.kind for finding in tally.findings)
    yield ""
    yield f"tables               {tally.tables}, {tally.finished} played to the end"
    yield f"acknowledged moves   {tally.acknowledged} in {tally.seconds:.0f} s"
    yield f"faults               {len(tally.faults)}"
    yield f"lost                 {kinds[Kind.LOST] + kinds[Kind.ALTERED]}"
    yield f"doubled              {kinds[Kind.DOUBLED]}"
    yield f"hidden cards shown   {kinds[Kind.HIDDEN_CARD]}"
    yield f"other findings       {sum(kinds.values()) - sum(kinds[kind] for kind in _FIRST)}"
    slowest = max(tally.faults, key=lambda fault: fault.pause_seconds, default=None)
    if slowest is not None:
        yield f"longest pause        {slowest.pause_seconds:.1f} s ({slowest.name})"
    quiet = [fault.pause_seconds for fault in tally.faults if fault.name == "rolling_restart"]
    if quiet:
        yield f"rolling restarts     longest pause {max(quiet):.2f} s"
    if tally.takeovers:
        median, p99 = (percentile(tally.takeovers, share) for share in (0.5, 0.99))
        yield f"takeover             {len(tally.takeovers)} tables, median {median:.2f} s, 99 % within {p99:.2f} s"
    for told in faults_of(tally, plan)[:MOST_TOLD_FINDINGS]:
        yield f"  {told}"
    yield f"seed                 {plan.seed}; again: {command}"


_FIRST = (Kind.LOST, Kind.ALTERED, Kind.DOUBLED, Kind.HIDDEN_CARD)


def write_json(tally: Tally, plan: Plan, command: str, path: Path) -> None:
    """The report for programs."""
    kinds = Counter(finding.kind.value for finding in tally.findings)
    result = {
        "seed": plan.seed,
        "command": command,
        "tables": tally.tables,
        "finished_tables": tally.finished,
        "acknowledged_moves": tally.acknowledged,
        "seconds": round(tally.seconds, 1),
        "faults": [
            {
                "name": fault.name,
                "through_door": fault.door,
                "lasted_seconds": round(fault.lasted_seconds, 2),
                "longest_pause_seconds": round(fault.pause_seconds, 2),
                "harness_lag_seconds": round(fault.lag_seconds, 2),
                "own_commit_seconds": round(fault.commit_seconds, 2),
                "errors_beneath": dict(fault.errors),
                "errors_raised": dict(fault.raised),
                "findings": fault.findings,
            }
            for fault in tally.faults
        ],
        "lost": kinds["lost"] + kinds["altered"],
        "doubled": kinds["doubled"],
        "hidden_cards_shown": kinds["hidden_card"],
        "findings": dict(kinds),
        "first_findings": faults_of(tally, plan)[:MOST_TOLD_FINDINGS],
        "takeover_seconds": {
            "tables": len(tally.takeovers),
            "median": round(percentile(tally.takeovers, 0.5), 3),
            "p99": round(percentile(tally.takeovers, 0.99), 3),
        },
    }
    path.write_text(json.dumps(result, indent=1) + "\n")
