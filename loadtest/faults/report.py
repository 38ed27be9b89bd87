"""What a run has found, for people and as JSON."""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from loadtest.faults.measures import percentile
from loadtest.faults.run import Plan, Tally, line_of
from loadtest.judge.violations import Invariant

TAKEOVER_LIMIT_SECONDS = 3.0
MAX_PRINTED = 20
LOST = (Invariant.ACKNOWLEDGED_LOST, Invariant.TABLE_LOST)
NAMED = (*LOST, Invariant.ACTION_DOUBLED, Invariant.HIDDEN_CARD_SEEN)


def problems_of(tally: Tally, plan: Plan) -> list[str]:
    """What keeps a run from being clean, one line each."""
    found = [*map(line_of, tally.violations.values()), *tally.defects]
    if not plan.short and percentile(tally.takeovers, 0.99) >= TAKEOVER_LIMIT_SECONDS:
        found.append(f"takeovers take up to {max(tally.takeovers):.2f} s: 99 of 100 are to take less than 3 s")
    return found


def text_of(tally: Tally, plan: Plan, command: str) -> str:
    """The report for people."""
    return "\n".join(_lines(tally, plan, command))


def _lines(tally: Tally, plan: Plan, command: str) -> Iterator[str]:
    broken = Counter(one.invariant for one in tally.violations.values())
    yield ""
    yield f"tables               {tally.tables}, {tally.finished} played to the end, {tally.judged} of them proved"
    yield f"acknowledged moves   {tally.acknowledged} in {tally.seconds:.0f} s"
    yield f"faults               {len(tally.faults)}"
    yield f"lost                 {sum(broken[name] for name in LOST)}"
    yield f"doubled              {broken[Invariant.ACTION_DOUBLED]}"
    yield f"hidden cards shown   {broken[Invariant.HIDDEN_CARD_SEEN]}"
    yield f"other violations     {sum(count for name, count in broken.items() if name not in NAMED)}"
    slowest = max(tally.faults, key=lambda fault: fault.pause_seconds, default=None)
    if slowest is not None:
        yield f"longest pause        {slowest.pause_seconds:.1f} s ({slowest.name})"
    quiet = [fault.pause_seconds for fault in tally.faults if fault.name == "rolling_restart"]
    if quiet:
        yield f"rolling restarts     longest pause {max(quiet):.2f} s"
    if tally.takeovers:
        median, p99 = (percentile(tally.takeovers, share) for share in (0.5, 0.99))
        yield f"takeover             {len(tally.takeovers)} tables, median {median:.2f} s, 99 % within {p99:.2f} s"
    for problem in problems_of(tally, plan)[:MAX_PRINTED]:
        yield f"  {problem}"
    yield f"seed                 {plan.seed}; again: {command}"


def write_json(tally: Tally, plan: Plan, command: str, path: Path) -> None:
    """The report for programs."""
    result = {
        "seed": plan.seed,
        "command": command,
        "tables": tally.tables,
        "finished_tables": tally.finished,
        "proved_tables": tally.judged,
        "acknowledged_moves": tally.acknowledged,
        "seconds": round(tally.seconds, 1),
        "faults": [asdict(fault) for fault in tally.faults],
        "violations": Counter(one.invariant.value for one in tally.violations.values()),
        "problems": problems_of(tally, plan)[:MAX_PRINTED],
        "takeover_seconds": {
            "tables": len(tally.takeovers),
            "median": round(percentile(tally.takeovers, 0.5), 3),
            "p99": round(percentile(tally.takeovers, 0.99), 3),
        },
    }
    path.write_text(json.dumps(result, indent=1) + "\n")
