"""Two load tests side by side, the better figures, and whether the second one is worse.

python -m loadtest.compare A B [--fail-above PERCENT]
"""

from collections.abc import Iterator
from math import inf, isfinite, sqrt
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from croupier.cli.faults import FAILED, CommandFault, misused
from croupier.cli.terminal.safe_console import SafeConsole
from croupier.runtime.printed_text import escaped
from loadtest.measures import ACKNOWLEDGED
from loadtest.report import load_result
from loadtest.report.load_result import LoadResult, read_result

P99 = load_result.percentile(ACKNOWLEDGED, "p99")
MORE_IS_BETTER = (load_result.TABLES, load_result.ACTIONS)
EXACT = (load_result.VIOLATIONS, load_result.FAILURES)
"""Figures of which every difference counts."""
SAME_PERCENT = 2.0
"""Other figures that differ by no more are the same, as those of two runs of one program."""
MIN_SAMPLES = 10
"""With fewer samples a figure is not compared."""
UNKNOWN, FEW = "–", "too few samples"


def compare(first: Path, second: Path, fail_above_percent: float | None, console: Console) -> int:
    """Show two results, A and B, and return the exit code: FAILED if B is worse by more than allowed.

    Raises CommandFault for an invalid result or percentage.
    """
    if fail_above_percent is not None and not (isfinite(fail_above_percent) and fail_above_percent >= 0):
        raise misused("--fail-above is a percentage of 0 or more, such as 10")
    one, other = read_result(first), read_result(second)
    for line in (_plain(f"A is {first}"), _plain(f"B is {second}"), *_conditions(one, other), Text()):
        console.print(line, soft_wrap=True)
    console.print(_table(one, other), Text())
    if fail_above_percent is None:
        return 0
    found = list(worse(one, other, fail_above_percent))
    for sentence in found or [f"B is not worse by more than {fail_above_percent:g} percent"]:
        console.print(_plain(sentence), soft_wrap=True)
    return FAILED if found else 0


def worse(one: LoadResult, other: LoadResult, percent: float) -> Iterator[str]:
    """Yield a line for each figure of the second result that is worse by more than so many percent.

    A figure that only one of them has counts as worse, and so does a pair without the latency of actions. A difference
    that may be chance does not.
    """
    for name in (P99, load_result.CPU):
        before, after = one.figures.get(name), other.figures.get(name)
        if before is None or after is None:
            if name == P99 or before is not after:
                yield f"{name}: not measured in both, so B cannot be called as good"
        elif grown(before, after) > max(percent, chance_percent(name, one, other)):
            yield f"{name}: worse by {grown(before, after):.1f} percent, {percent:g} are allowed"
    violations = load_result.VIOLATIONS
    if other.figures.get(violations, inf) > one.figures.get(violations, 0.0):
        yield f"{violations}: {_written(one, violations)} before, {_written(other, violations)} now"


def grown(before: float, after: float) -> float:
    """Return by how many percent a figure has grown; infinity from 0."""
    if before == after:
        return 0.0
    return (after - before) / abs(before) * 100 if before else inf if after > 0 else -inf


def chance_percent(name: str, one: LoadResult, other: LoadResult) -> float:
    """Return by how many percent a figure may differ by chance; infinity with too few samples.

    That is twice the standard error of the difference of two figures whose own is 1/sqrt(samples): of a rate, and, with
    a long tail, of a percentile with so many samples beyond it.
    """
    samples = [result.samples[name] for result in (one, other) if name in result.samples]
    if any(number < MIN_SAMPLES for number in samples):
        return inf
    return 200 * sqrt(sum(1 / number for number in samples))


def better(name: str, one: LoadResult, other: LoadResult) -> str:
    """Return the better result in this figure, A or B, or that they are the same or cannot be compared."""
    before, after = one.figures.get(name), other.figures.get(name)
    if before is None or after is None or name == load_result.SECONDS:
        return UNKNOWN
    by = grown(before, after)
    chance = 0 if name in EXACT else max(SAME_PERCENT, chance_percent(name, one, other))
    if abs(by) <= chance:
        return FEW if by and chance == inf else "same"
    return "B" if (by > 0) == (name in MORE_IS_BETTER) else "A"


def _conditions(one: LoadResult, other: LoadResult) -> Iterator[Text]:
    names = dict.fromkeys([*one.conditions, *other.conditions])
    pairs = {name: (one.conditions.get(name, UNKNOWN), other.conditions.get(name, UNKNOWN)) for name in names}
    differing = {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}
    if not differing:
        yield Text("Both were measured under the same conditions.")
        return
    yield Text("The conditions differ, so what differs below may come from them:", style="yellow")
    for name, (before, after) in differing.items():
        yield _plain(f"  {name}: A {before}, B {after}")


def _table(one: LoadResult, other: LoadResult) -> Table:
    table = Table("figure", box=None, padding=(0, 2, 0, 0))
    for head in ("A", "B", "difference", "better"):
        table.add_column(head, justify="right", no_wrap=True)
    for name in _names(one, other):
        before, after = one.figures.get(name), other.figures.get(name)
        difference = UNKNOWN if before is None or after is None else _percent(grown(before, after))
        winner = better(name, one, other)
        coloured = Text(winner, style={"A": "red", "B": "green"}.get(winner, "dim"))
        table.add_row(_plain(name), _written(one, name), _written(other, name), difference, coloured)
    return table


def _names(one: LoadResult, other: LoadResult) -> list[str]:
    """Return all figures in the order of the first result; figures of the second alone keep their neighbours."""
    names = list(one.figures)
    place = 0
    for name in other.figures:
        if name in names:
            place = names.index(name) + 1
        else:
            names.insert(place, name)
            place += 1
    return names


def _written(result: LoadResult, name: str) -> str:
    value = result.figures.get(name)
    if value is None:
        return UNKNOWN
    return f"{value:,.0f}" if value == int(value) or abs(value) >= 1000 else f"{value:,.1f}"


def _percent(value: float) -> str:
    return f"{value:+.1f} %" if isfinite(value) else "from none"


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
