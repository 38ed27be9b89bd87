"""A result as one self-contained page of HTML."""

from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from io import BytesIO
from math import nan
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib as mpl
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter

from croupier_loadtest.measures import ACKNOWLEDGED
from croupier_loadtest.report import figures
from croupier_loadtest.report.figures import megabytes, milliseconds, number
from croupier_loadtest.report.result import LoadStep, Result, reasons

INK, GRID = "#808a93", "#80808055"
COLOURS = ("#3d8cc0", "#c08a30", "#cc5c60")
SIZE_INCHES = (5.2, 2.8)
"""Small, so that text is readable on a phone."""
MINUTES_FROM_SECONDS = 300
SETTINGS: Mapping[Any, object] = {
    "svg.fonttype": "none",
    # Without a salt the ids of paths would differ each time.
    "svg.hashsalt": "croupier",
    "font.family": "sans-serif",
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": GRID,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.spines.left": False,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.axisbelow": True,
    "grid.color": GRID,
    "xtick.color": GRID,
    "xtick.labelcolor": INK,
    "ytick.left": False,
    "ytick.labelcolor": INK,
    "legend.frameon": False,
}
PERCENTILES = {name: name for name in ("p50", "p95", "p99")}


class Plot(NamedTuple):
    """A plot: `summary` describes it in a sentence, `address` is its data URL."""

    name: str
    title: str
    summary: str
    address: str


class Chart(NamedTuple):
    """A plot over time: labels of its lines by the field of an interval, and the format of values."""

    name: str
    title: str
    lines: Mapping[str, str]
    format: Callable[[float], str] = number


LATENCY = Chart("latency", "Latency of actions, sent to acknowledged", PERCENTILES, milliseconds)
OVER_TIME = (
    LATENCY,
    Chart("actions", "Actions acknowledged", {"actions_per_second": "actions a second"}),
    Chart("load", "Tables and players", {"tables": "tables", "players": "players"}),
    Chart(
        "cpu",
        "CPU, in cores",
        {"server_cpu": "services", "generator_cpu": "generator, busiest process"},
        "{:.2f}".format,
    ),
    Chart("memory", "Memory of all services", {"server_memory_bytes": "services"}, megabytes),
    Chart("failures", "Failures", {"failures": "calls that failed"}),
)


def plots(result: Result) -> Iterator[Plot]:
    """Yield all plots for which there are figures."""
    if result.steps:
        yield load_curve(result)
    if len(result.intervals) > 1:
        yield from (over_time(result, chart) for chart in OVER_TIME)


def load_curve(result: Result) -> Plot:
    """Return latency against offered load, with the knee marked and steps over a limit hollow."""
    steps = sorted(result.steps, key=lambda step: step.tables)
    tables = [step.tables for step in steps]
    knee = result.steps[result.knee] if result.knee is not None else None

    def draw(axes: Axes) -> None:
        for name, colour in (("p50", COLOURS[0]), ("p99", COLOURS[2])):
            values = [getattr(step, name) or nan for step in steps]
            axes.plot(tables, values, color=colour, label=name)
            for step, value in zip(steps, values, strict=True):
                axes.plot(step.tables, value, "o", color=colour, markerfacecolor=colour if step.passed else "none")
        _write_milliseconds(axes)
        axes.set_xlabel("tables at once")
        if knee is not None:
            axes.axvline(knee.tables, color=COLOURS[1], linestyle="dashed", label=f"knee: {number(knee.tables)} tables")

    return _plot("load-curve", "Latency against offered load", _knee_sentence(knee), draw)


def _knee_sentence(knee: LoadStep | None) -> str:
    if knee is None:
        return "No step kept the limits, or the run has no knee."
    load = f"{number(knee.tables)} tables and {number(knee.actions_per_second)} actions a second"
    return f"The knee is at {load}, with p99 of {milliseconds(knee.p99)}; hollow points are over a limit."


def over_time(result: Result, chart: Chart) -> Plot:
    """Return figures over the intervals of a run; latency has a gap where no action was acknowledged."""
    lines = {label: [getattr(one, name) for one in result.intervals] for name, label in chart.lines.items()}
    maxima = ", ".join(f"{label} {chart.format(max(values))}" for label, values in lines.items() if any(values))
    unit_seconds = 60 if result.intervals[-1].seconds > MINUTES_FROM_SECONDS else 1
    times = [one.seconds / unit_seconds for one in result.intervals]

    def draw(axes: Axes) -> None:
        for (label, values), colour in zip(lines.items(), COLOURS, strict=False):
            shown = [value or nan for value in values] if chart is LATENCY else values
            axes.plot(times, shown, color=colour, label=label)
        if chart is LATENCY:
            _write_milliseconds(axes)
        else:
            axes.set_ylim(bottom=0)
            axes.yaxis.set_major_formatter(lambda value, _: chart.format(value))
        axes.set_xlim(0, times[-1])
        axes.set_xlabel("minutes" if unit_seconds > 1 else "seconds")

    return _plot(f"{chart.name}-over-time", chart.title, f"Maximum: {maxima or 'not known'}.", draw)


def _write_milliseconds(axes: Axes) -> None:
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,g} ms")
    axes.yaxis.set_minor_formatter(NullFormatter())


def _plot(name: str, title: str, summary: str, draw: Callable[[Axes], None]) -> Plot:
    with mpl.rc_context({**SETTINGS}):
        figure = Figure(figsize=SIZE_INCHES, layout="constrained")
        axes = figure.subplots()
        draw(axes)
        axes.legend(loc="lower left", bbox_to_anchor=(-0.02, 1), ncols=3, handlelength=1.2, borderaxespad=0.2)
        drawn = BytesIO()
        figure.savefig(drawn, format="svg", transparent=True, metadata={"Date": None})
    return Plot(name, title, summary, f"data:image/svg+xml;base64,{b64encode(drawn.getvalue()).decode()}")


def to_page(result: Result) -> str:
    """Return the text of report.html, with foreign text escaped."""
    started = datetime.fromtimestamp(result.conditions.started_milliseconds / 1000, UTC)
    loader = FileSystemLoader(Path(__file__).parent)
    environment = Environment(
        autoescape=True, loader=loader, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    for filter_ in (figures.number, figures.milliseconds, figures.size, figures.duration):
        environment.filters[filter_.__name__] = filter_
    environment.globals |= {"change": figures.change, "known": figures.known, "unknown": figures.UNKNOWN}
    return environment.get_template("page.html.jinja").render(
        result=result,
        conditions=result.conditions,
        reasons=reasons(result),
        started=started.strftime("%d %B %Y, %H:%M UTC"),
        plots=list(plots(result)),
        headline_latency=next((one for one in result.latencies if one.name == ACKNOWLEDGED), None),
    )
