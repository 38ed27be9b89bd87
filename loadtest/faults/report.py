"""The report of a fault run, as text and as JSON."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from loadtest.faults.measures import Steps, percentile
from loadtest.faults.run import MAX_TAKEOVER_SECONDS, FaultRunPlan, RunTotals, format_violation
from loadtest.judge.violations import Invariant

MAX_PRINTED = 20
LOST = (Invariant.ACKNOWLEDGED_LOST, Invariant.TABLE_LOST)
NAMED = (*LOST, Invariant.ACTION_DUPLICATED, Invariant.HIDDEN_CARD_SEEN)


def result_of(totals: RunTotals, plan: FaultRunPlan, command: str) -> Mapping[str, Any]:
    """Return the report as a dictionary for JSON; a clean run has no problems."""
    problems = [*map(format_violation, totals.violations.values()), *totals.defects]
    seconds = [takeover.seconds for takeover in totals.takeovers]
    if not plan.short and percentile(seconds, 0.99) >= MAX_TAKEOVER_SECONDS:
        limit = f"99 of 100 must take less than {MAX_TAKEOVER_SECONDS:g} s"
        problems.append(f"takeovers take up to {max(seconds):.2f} s: {limit}")
    steps = [takeover.steps for takeover in totals.takeovers if takeover.steps is not None]
    return {
        "seed": plan.seed,
        "command": command,
        "tables": totals.tables,
        "finished_tables": totals.finished,
        "verified_tables": totals.verified,
        "acknowledged_moves": totals.acknowledged,
        "seconds": round(totals.seconds, 1),
        "faults": [asdict(fault) for fault in totals.faults],
        "violations": Counter(one.invariant.value for one in totals.violations.values()),
        "problems": problems[:MAX_PRINTED],
        "takeover_seconds": {"tables": len(totals.takeovers), **_percentiles(seconds)},
        "takeover_steps": {name: _percentiles([getattr(one, name) for one in steps]) for name in Steps._fields},
    }


def _percentiles(seconds: Sequence[float]) -> Mapping[str, float]:
    return {"median": round(percentile(seconds, 0.5), 3), "p99": round(percentile(seconds, 0.99), 3)}


def format_result(result: Mapping[str, Any]) -> Iterator[str]:
    """Yield the report as lines of text."""
    broken, faults, takeover = result["violations"], result["faults"], result["takeover_seconds"]
    tables = f"{result['tables']}, {result['finished_tables']} played to the end, {result['verified_tables']} of them"
    yield ""
    yield f"tables               {tables} verified"
    yield f"acknowledged moves   {result['acknowledged_moves']} in {result['seconds']:.0f} s"
    yield f"faults               {len(faults)}"
    yield f"lost                 {sum(broken[name] for name in LOST)}"
    yield f"duplicated           {broken[Invariant.ACTION_DUPLICATED]}"
    yield f"hidden cards shown   {broken[Invariant.HIDDEN_CARD_SEEN]}"
    yield f"other violations     {sum(count for name, count in broken.items() if name not in NAMED)}"
    if faults:
        slowest = max(faults, key=lambda fault: fault["pause_seconds"])
        yield f"longest pause        {slowest['pause_seconds']:.1f} s ({slowest['name']})"
    if quiet := [fault["pause_seconds"] for fault in faults if fault["name"] == "rolling_restart"]:
        yield f"rolling restarts     longest pause {max(quiet):.2f} s"
    if takeover["tables"]:
        times = f"median {takeover['median']:.2f} s, 99 % within {takeover['p99']:.2f} s"
        yield f"takeover             {takeover['tables']} tables, {times}"
        for step, times_of_step in result["takeover_steps"].items():
            yield f"  {step:18} median {times_of_step['median']:.2f} s, 99 % within {times_of_step['p99']:.2f} s"
    yield from (f"  {problem}" for problem in result["problems"])
    yield f"seed                 {result['seed']}; again: {result['command']}"
