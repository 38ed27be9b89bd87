"""Where a limit is passed: which loads to try, and what a series of steps says."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from loadtest.report.result import Broken, Result, Step
from loadtest.report.verdict import reasons

ACKNOWLEDGED = "action acknowledged"
MOST_TABLES = 20_000
NARROWINGS = 2
"""How often it is tried between the last good and the first bad load."""


def search(keeps: Callable[[int], bool], first: int, most: int = MOST_TABLES, narrowings: int = NARROWINGS) -> None:
    """Try loads until it is known about where `keeps` begins to say no; whoever gives it remembers what it said.

    The load is doubled until it is too high; where not even the first was good it is halved until one is, or there is
    nothing lower than one. Then loads between the last good and the first bad one are tried, so often.
    """
    good, bad = 0, min(first, most)
    while keeps(bad):
        if bad == most:
            return
        good, bad = bad, min(2 * bad, most)
    while bad - good > 1 and (narrowings > 0 or not good):
        middle = (good + bad) // 2
        narrowings -= bool(good)
        if keeps(middle):
            good = middle
        else:
            bad = middle


def keeps_limits(result: Result) -> bool:
    """Whether a step was good: all limits kept, and the generator not at its own."""
    return result.passed and not result.bottleneck


def over_limit(result: Result) -> str:
    """Why a step was not good, in one line; empty if it was."""
    return "; ".join([*reasons(result), *([result.bottleneck] if result.bottleneck else [])])


def step_of(result: Result, tables: int) -> Step:
    """A step as the curve shows it; its CPU is that of an average moment."""
    acknowledged = next((one for one in result.latencies if one.name == ACKNOWLEDGED), None)
    cpu = [moment.server_cpu for moment in result.moments]
    return Step(
        tables=tables,
        actions_per_second=result.actions_per_second,
        p50=acknowledged.p50 if acknowledged else 0.0,
        p99=acknowledged.p99 if acknowledged else 0.0,
        generator_cpu=result.generator_cpu,
        server_cpu=sum(cpu) / len(cpu) if cpu else 0.0,
        passed=keeps_limits(result),
    )


def ceiling(results: Mapping[int, Result]) -> Result:
    """What all steps together say, by their numbers of tables: the result of the highest good one, with the curve.

    Where none was good it is the lowest. What broke at any step is in it, and makes it red. The bottleneck is named
    where the generator gave out before the services did. Raises ValueError if there are no steps.
    """
    if not results:
        raise ValueError("no step was measured")
    steps = tuple(step_of(results[tables], tables) for tables in sorted(results))
    knee = max((at for at, step in enumerate(steps) if step.passed), default=None)
    first_bad = next((results[step.tables] for step in steps if not step.passed), None)
    best = results[steps[knee or 0].tables]
    violations = all_broken(results[step.tables].violations for step in steps)
    return replace(
        best,
        steps=steps,
        knee=knee,
        violations=violations,
        bottleneck=first_bad.bottleneck if first_bad else "",
        passed=knee is not None and not violations,
    )


def all_broken(found: Iterable[Sequence[Broken]]) -> tuple[Broken, ...]:
    """The violations of several steps by kind: how many, and the first."""
    kinds: dict[str, Broken] = {}
    for broken in (one for several in found for one in several):
        first = kinds.get(broken.invariant)
        kinds[broken.invariant] = replace(first, count=first.count + broken.count) if first else broken
    return tuple(kinds.values())


def step_line(step: Step, result: Result) -> str:
    """A step in one line."""
    measured = (
        f"{step.tables:>6} tables  {step.actions_per_second:7,.0f} actions/s  p50 {step.p50:6.1f} ms  "
        f"p99 {step.p99:7.1f} ms  {result.server_cpu_milliseconds_per_thousand_actions:5,.0f} ms CPU per thousand  "
        f"services {step.server_cpu:.2f}, generator {step.generator_cpu:.2f} cores"
    )
    return measured if step.passed else f"{measured}  OVER: {over_limit(result)}"


def ceiling_line(result: Result, limit_milliseconds: float) -> str:
    """The highest load that kept the limits, in one line."""
    limit = f"p99 under {limit_milliseconds:g} ms"
    if result.knee is None:
        return f"no load kept {limit}"
    step = result.steps[result.knee]
    told = f"highest load with {limit}: {step_line(step, result).strip()}"
    if result.knee == len(result.steps) - 1:
        told += "; more was not tried"
    return f"{told}; beyond it {result.bottleneck}" if result.bottleneck else told
