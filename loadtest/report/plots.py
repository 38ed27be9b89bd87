"""The pictures of a result: from figures to the SVG files that a page takes in.

Their colours can be read on light and on dark paper. matplotlib is imported only when something is drawn.
"""

from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from io import BytesIO
from math import nan
from typing import TYPE_CHECKING, Any, NamedTuple

from loadtest.report.figures import cores, megabytes, milliseconds, number
from loadtest.report.result import Result, Step

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK, GRID = "#808a93", "#80808055"
COLOURS = ("#3d8cc0", "#c08a30", "#cc5c60")
SIZE_INCHES = (5.2, 2.8)
"""Small, so that letters are still read where the picture is as narrow as a phone."""
MINUTES_FROM_SECONDS = 300
SETTINGS: Mapping[Any, object] = {
    "svg.fonttype": "none",
    # Without a salt the ids of paths were other ones each time, and one result would have many pages.
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


class Plot(NamedTuple):
    """A picture: `summary` says in a sentence what is seen, `address` is the picture itself as a data URL."""

    name: str
    title: str
    summary: str
    address: str


class Chart(NamedTuple):
    """A picture over time: its lines by the field of a moment and the label, and how a value is written."""

    name: str
    title: str
    lines: Mapping[str, str]
    written: Callable[[float], str] = number


PERCENTILES = {name: name for name in ("p50", "p95", "p99")}
LATENCY = Chart("latency", "Latency of actions, sent to acknowledged", PERCENTILES, milliseconds)
OVER_TIME = (
    LATENCY,
    Chart("actions", "Actions acknowledged", {"actions_per_second": "actions a second"}),
    Chart("load", "Tables and players", {"tables": "tables", "players": "players"}),
    Chart("cpu", "CPU, in cores", {"server_cpu": "services", "generator_cpu": "generator, busiest process"}, cores),
    Chart("memory", "Memory of all services", {"server_memory_bytes": "services"}, megabytes),
    Chart("failures", "Faults", {"failures": "calls that failed"}),
)


def plots(result: Result) -> Iterator[Plot]:
    """All pictures for which there are figures."""
    if result.steps:
        yield load_curve(result)
    if len(result.moments) > 1:
        yield from (over_time(result, chart) for chart in OVER_TIME)


def load_curve(result: Result) -> Plot:
    """Latency against offered load, with the knee marked; steps over a limit are hollow."""
    steps = sorted(result.steps, key=lambda step: step.tables)
    tables = [step.tables for step in steps]
    knee = result.steps[result.knee] if result.knee is not None else None

    def draw(axes: "Axes") -> None:
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


def _knee_sentence(knee: Step | None) -> str:
    if knee is None:
        return "No step kept the limits, or no knee was looked for."
    load = f"{number(knee.tables)} tables and {number(knee.actions_per_second)} actions a second"
    return f"The knee is at {load}, with p99 of {milliseconds(knee.p99)}; hollow points are over a limit."


def over_time(result: Result, chart: Chart) -> Plot:
    """What the moments of a run say of a few figures; where no action was acknowledged, latency has a gap."""
    lines = {label: [getattr(one, name) for one in result.moments] for name, label in chart.lines.items()}
    most = ", ".join(f"{label} {chart.written(max(values))}" for label, values in lines.items() if any(values))
    unit_seconds = 60 if result.moments[-1].seconds > MINUTES_FROM_SECONDS else 1
    times = [one.seconds / unit_seconds for one in result.moments]

    def draw(axes: "Axes") -> None:
        for (label, values), colour in zip(lines.items(), COLOURS, strict=False):
            shown = [value or nan for value in values] if chart is LATENCY else values
            axes.plot(times, shown, color=colour, label=label)
        if chart is LATENCY:
            _write_milliseconds(axes)
        else:
            axes.set_ylim(bottom=0)
            axes.yaxis.set_major_formatter(lambda value, _: chart.written(value))
        axes.set_xlim(0, times[-1])
        axes.set_xlabel("minutes" if unit_seconds > 1 else "seconds")

    return _plot(f"{chart.name}-over-time", chart.title, f"At most: {most or 'not known'}.", draw)


def _write_milliseconds(axes: "Axes") -> None:
    from matplotlib.ticker import LogLocator, NullFormatter

    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,g} ms")
    axes.yaxis.set_minor_formatter(NullFormatter())


def _plot(name: str, title: str, summary: str, draw: Callable[["Axes"], None]) -> Plot:
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context({**SETTINGS}):
        figure = Figure(figsize=SIZE_INCHES, layout="constrained")
        axes = figure.subplots()
        draw(axes)
        axes.legend(loc="lower left", bbox_to_anchor=(-0.02, 1), ncols=3, handlelength=1.2, borderaxespad=0.2)
        drawn = BytesIO()
        figure.savefig(drawn, format="svg", transparent=True, metadata={"Date": None})
    return Plot(name, title, summary, f"data:image/svg+xml;base64,{b64encode(drawn.getvalue()).decode()}")
