"""Two load tests side by side, the better figures, and whether the second one is worse.

python -m croupier_loadtest.compare A B [--fail-above PERCENT]
"""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from itertools import pairwise
from math import inf, isfinite, sqrt
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, NamedTuple, TypeAlias

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from croupier.cli.faults import FAILED, CommandFault, misused
from croupier.cli.terminal.safe_console import SafeConsole
from croupier.runtime.printed_text import escaped
from croupier_loadtest.measures import ACKNOWLEDGED
from croupier_loadtest.report.result import FORMAT_VERSION, Conditions, Result, from_json

FILE = "result.json"
MAX_BYTES = 4 * 2**20
"""A result has a few hundred kilobytes."""
PERCENTILES: Mapping[str, float] = MappingProxyType({"p50": 0.5, "p95": 0.05, "p99": 0.01, "p999": 0.001})
"""The shares of samples beyond them."""
TABLES, ACTIONS, SECONDS = "tables finished", "actions a second", "seconds of load"
P99, CPU = f"{ACKNOWLEDGED} p99, ms", "CPU per thousand actions, ms"
VIOLATIONS, FAILURES = "violations", "calls that failed"
MORE_IS_BETTER = (TABLES, ACTIONS)
EXACT = (VIOLATIONS, FAILURES)
"""Figures of which every difference counts."""
SAME_PERCENT = 2.0
"""Other figures that differ by no more are the same, as those of two runs of one program."""
MIN_SAMPLES = 10
"""With fewer samples a figure is not compared."""
UNKNOWN, FEW = "–", "too few samples"


class Figure(NamedTuple):
    """A figure, with the number of samples that it rests on: for a percentile those beyond it."""

    value: float
    samples: float = inf


Figures: TypeAlias = Mapping[str, Figure]
"""By name, in the order of display; a figure that was not measured is missing."""


def compare(first: Path, second: Path, fail_above_percent: float | None, console: Console) -> int:
    """Show two results, A and B, and return the exit code: FAILED if B is worse by more than allowed.

    Raises CommandFault for an invalid result or percentage.
    """
    if fail_above_percent is not None and not (isfinite(fail_above_percent) and fail_above_percent >= 0):
        raise misused("--fail-above is a percentage of 0 or more, such as 10")
    results = read_result(first), read_result(second)
    one, other = map(figures_of, results)
    conditions = _differences(*(result.conditions for result in results))
    for line in (_plain(f"A is {first}"), _plain(f"B is {second}"), *conditions, Text()):
        console.print(line, soft_wrap=True)
    console.print(_table(one, other), Text())
    if fail_above_percent is None:
        return 0
    found = list(worse(one, other, fail_above_percent))
    for sentence in found or [f"B is not worse by more than {fail_above_percent:g} percent"]:
        console.print(_plain(sentence), soft_wrap=True)
    return FAILED if found else 0


def read_result(path: Path) -> Result:
    """Return the result in a file, or in the result.json of a folder; raises CommandFault for anything else."""
    file = path / FILE if path.is_dir() else path
    if not file.is_file():
        raise misused(f"{file} is no file: name a {FILE} of a load test, or the folder that holds it")
    try:
        with file.open("rb") as opened:
            result = from_json(opened.read(MAX_BYTES))
    except OSError as fault:
        raise misused(f"{file} cannot be read: {fault.strerror}") from None
    except ValueError:
        raise misused(f"{file} is not a result of a load test: name its {FILE}, or the folder that holds it") from None
    if result.format != FORMAT_VERSION:
        raise misused(f"{file} is a result of another format: this version reads format {FORMAT_VERSION}")
    return result


def figures_of(result: Result) -> Figures:
    """Return the figures of a run."""
    figures = {
        SECONDS: Figure(result.conditions.seconds),
        TABLES: Figure(result.tables_finished, result.tables_finished),
        ACTIONS: Figure(result.actions_per_second, result.actions),
    }
    for latency in (latency for latency in result.latencies if latency.count):
        for which, share in PERCENTILES.items():
            name = f"{latency.name} {'p99.9' if which == 'p999' else which}, ms"
            figures[name] = Figure(getattr(latency, which), latency.count * share)
    # A use of 0 was not measured.
    if cpu := result.server_cpu_milliseconds_per_thousand_actions:
        figures[CPU] = Figure(cpu)
    if memory := sum(service.memory_last_bytes for service in result.services):
        figures["memory of services, MiB"] = Figure(memory / 2**20)
    figures[VIOLATIONS] = Figure(sum(one.count for one in result.violations))
    figures[FAILURES] = Figure(sum(one.count for one in result.failures))
    return figures


def worse(one: Figures, other: Figures, percent: float) -> Iterator[str]:
    """Yield a line for each figure of the second result that is worse by more than so many percent.

    A figure that only one of them has counts as worse, and so does a pair without the latency of actions. A difference
    that may be chance does not.
    """
    for name in (P99, CPU):
        before, after = one.get(name), other.get(name)
        if before is None or after is None:
            if name == P99 or before is not after:
                yield f"{name}: not measured in both, so B cannot be called as good"
        elif (by := grown(before.value, after.value)) > max(percent, chance_percent(before, after)):
            yield f"{name}: worse by {by:.1f} percent, {percent:g} are allowed"
    if other[VIOLATIONS].value > one[VIOLATIONS].value:
        yield f"{VIOLATIONS}: {one[VIOLATIONS].value:g} before, {other[VIOLATIONS].value:g} now"


def grown(before: float, after: float) -> float:
    """Return by how many percent a figure has grown; infinity from 0."""
    if before == after:
        return 0.0
    return (after - before) / abs(before) * 100 if before else inf if after > 0 else -inf


def chance_percent(before: Figure, after: Figure) -> float:
    """Return by how many percent a figure may differ by chance; infinity with too few samples.

    That is twice the standard error of the difference of two figures whose own is 1/sqrt(samples): of a rate, and, with
    a long tail, of a percentile with so many samples beyond it.
    """
    if min(before.samples, after.samples) < MIN_SAMPLES:
        return inf
    return 200 * sqrt(1 / before.samples + 1 / after.samples)


def better(name: str, before: Figure | None, after: Figure | None) -> str:
    """Return the better result in this figure, A or B, or that they are the same or cannot be compared."""
    if before is None or after is None or name == SECONDS:
        return UNKNOWN
    by = grown(before.value, after.value)
    chance = 0 if name in EXACT else max(SAME_PERCENT, chance_percent(before, after))
    if abs(by) <= chance:
        return FEW if by and chance == inf else "same"
    return "B" if (by > 0) == (name in MORE_IS_BETTER) else "A"


def _differences(one: Conditions, other: Conditions) -> Iterator[Text]:
    """Yield the conditions that differ, beside the times of the runs."""
    before, after = (
        {name: value for name, value in asdict(conditions).items() if name not in ("started_milliseconds", "seconds")}
        for conditions in (one, other)
    )
    for values in (before, after):
        values |= {f"version of {name}": version for name, version in sorted(values.pop("versions").items())}
    differing = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    if not differing:
        yield Text("Both were measured under the same conditions.")
        return
    yield Text("The conditions differ, so what differs below may come from them:", style="yellow")
    for name in differing:
        yield _plain(f"  {name}: A {before.get(name, UNKNOWN)}, B {after.get(name, UNKNOWN)}")


def _table(one: Figures, other: Figures) -> Table:
    table = Table("figure", box=None, padding=(0, 2, 0, 0))
    for head in ("A", "B", "difference", "better"):
        table.add_column(head, justify="right", no_wrap=True)
    for name in _names(one, other):
        before, after = one.get(name), other.get(name)
        difference = UNKNOWN
        if before is not None and after is not None:
            by = grown(before.value, after.value)
            difference = f"{by:+.1f} %" if isfinite(by) else "from none"
        winner = better(name, before, after)
        coloured = Text(winner, style={"A": "red", "B": "green"}.get(winner, "dim"))
        table.add_row(_plain(name), _written(before), _written(after), difference, coloured)
    return table


def _names(one: Figures, other: Figures) -> list[str]:
    """Return all figures in the order of the first result; figures of the second alone keep their neighbours."""
    names = list(one)
    for before, name in pairwise(["", *other]):
        if name not in names:
            names.insert(names.index(before) + 1 if before else 0, name)
    return names


def _written(figure: Figure | None) -> str:
    if figure is None:
        return UNKNOWN
    value = figure.value
    return f"{value:,.0f}" if value == int(value) or abs(value) >= 1000 else f"{value:,.1f}"


def _plain(text: str) -> Text:
    """Return a text of a file in one line."""
    return Text(escaped(text))


def report(
    first: Annotated[Path, typer.Argument(metavar="A", help="A result.json, or the folder that holds one.")],
    second: Annotated[Path, typer.Argument(metavar="B", help="The result to compare with it.")],
    fail_above: Annotated[
        float | None,
        typer.Option(metavar="PERCENT", help="Exit with 1 if p99 or CPU got worse by more, or violations rose."),
    ] = None,
) -> None:
    """Show two load tests side by side and which of them is better."""
    raise typer.Exit(compare(first, second, fail_above, SafeConsole()))


def main() -> None:
    """Compare the results that the command line names."""
    try:
        typer.run(report)
    except CommandFault as fault:
        fault.end("compare")


if __name__ == "__main__":
    main()
