"""The pictures of a result: from figures to SVG text that a page takes in as it is.

Colours are written as variables of the page's style, so that a picture follows it into the dark. matplotlib is
imported only when something is drawn.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from io import StringIO
from math import nan
from typing import TYPE_CHECKING, Any

from loadtest.report.figures import milliseconds, number
from loadtest.report.result import Result, Step

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK, GRID, FIRST, SECOND, THIRD = "#010101", "#020202", "#030303", "#040404", "#050505"
VARIABLES = {INK: "--muted", GRID: "--line", FIRST: "--first", SECOND: "--second", THIRD: "--third"}
"""By the colour that matplotlib is given: the variable that stands for it in the page."""
SIZE_INCHES = (5.2, 2.8)
"""Small, so that letters are still read where the picture is as narrow as a phone."""
MINUTES_FROM_SECONDS = 300
SETTINGS: Mapping[Any, object] = {
    "svg.fonttype": "none",
    "font.size": 10,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
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
    "grid.linewidth": 0.8,
    "xtick.color": GRID,
    "xtick.labelcolor": INK,
    "ytick.left": False,
    "ytick.labelcolor": INK,
    "legend.frameon": False,
    "lines.linewidth": 1.7,
    "lines.solid_capstyle": "round",
}


@dataclass(frozen=True, slots=True)
class Plot:
    """A picture: `name` is fit for an id, `summary` says in a sentence what is seen."""

    name: str
    title: str
    summary: str
    svg: str


def plots(result: Result) -> tuple[Plot, ...]:
    """All pictures for which there are figures."""
    curve = (load_curve(result),) if result.steps else ()
    return curve + (tuple(draw(result) for draw in OVER_TIME) if len(result.moments) > 1 else ())


def load_curve(result: Result) -> Plot:
    """Latency against offered load, with the knee marked; steps over a limit are hollow."""
    steps = sorted(result.steps, key=lambda step: step.tables)
    knee = result.steps[result.knee] if result.knee is not None else None

    def draw(axes: "Axes") -> None:
        for name, values, colour in (
            ("p50", [step.p50 for step in steps], FIRST),
            ("p99", [step.p99 for step in steps], THIRD),
        ):
            axes.plot([step.tables for step in steps], _above_zero(values), color=colour, label=name)
            for step, value in zip(steps, _above_zero(values), strict=True):
                axes.plot(step.tables, value, "o", color=colour, markerfacecolor=colour if step.passed else "none")
        _milliseconds_axis(axes)
        axes.set_xlabel("tables at once")
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:,g}")
        if knee is not None:
            told = f"knee: {number(knee.tables)} tables"
            axes.axvline(knee.tables, color=SECOND, linestyle=(0, (4, 3)), gid="knee", label=told)

    return _plot("load-curve", "Latency against offered load", _knee_sentence(knee), draw)


def _knee_sentence(knee: Step | None) -> str:
    if knee is None:
        return "No step kept the limits, or no knee was looked for."
    load = f"{number(knee.tables)} tables and {number(knee.actions_per_second)} actions a second"
    return f"The knee is at {load}, with p99 of {milliseconds(knee.p99)}; hollow points are over a limit."


def latency_over_time(result: Result) -> Plot:
    """Percentiles of actions, sent to acknowledged."""
    moments = result.moments
    lines = (
        ("p50", [moment.p50 for moment in moments], FIRST),
        ("p95", [moment.p95 for moment in moments], SECOND),
        ("p99", [moment.p99 for moment in moments], THIRD),
    )

    def draw(axes: "Axes") -> None:
        for name, values, colour in lines:
            axes.plot(_times(result), _above_zero(values), color=colour, label=name, gid=name)
        _milliseconds_axis(axes)
        _time_axis(axes, result)

    worst = milliseconds(max(moment.p99 for moment in moments))
    return _plot("latency-over-time", "Latency of actions", f"Sent to acknowledged; the highest p99 was {worst}.", draw)


def actions_over_time(result: Result) -> Plot:
    """Actions acknowledged per second."""
    rates = [moment.actions_per_second for moment in result.moments]
    summary = f"Acknowledged per second; at most {number(max(rates))}."
    return _over_time(result, "actions-over-time", "Actions", summary, [("actions a second", rates, FIRST)])


def failures_over_time(result: Result) -> Plot:
    """Calls that failed in each slice of the run."""
    failures = [moment.failures for moment in result.moments]
    summary = f"Calls that failed, {number(sum(failures))} in all."
    return _over_time(result, "failures-over-time", "Faults", summary, [("calls that failed", failures, THIRD)])


def load_over_time(result: Result) -> Plot:
    """Tables and players."""
    tables, players = ([getattr(moment, name) for moment in result.moments] for name in ("tables", "players"))
    lines = [("tables", tables, FIRST), ("players", players, SECOND)]
    summary = f"At most {number(max(tables))} tables with {number(max(players))} players at once."
    return _over_time(result, "load-over-time", "Tables and players", summary, lines)


def cpu_over_time(result: Result) -> Plot:
    """Cores used by the services and by the busiest process of the generator."""
    server, generator = (
        [getattr(moment, name) for moment in result.moments] for name in ("server_cpu", "generator_cpu")
    )
    lines = [("services", server, FIRST)] if any(server) else []
    lines.append(("generator, busiest process", generator, SECOND))
    most = f"{max(server):.2f}" if any(server) else "an unknown number of"
    summary = f"Cores used; the services took at most {most}, a process of the generator {max(generator):.2f}."
    return _over_time(result, "cpu-over-time", "CPU", summary, lines)


def memory_over_time(result: Result) -> Plot:
    """Memory of all services together."""
    memory = [moment.server_memory_bytes / 2**20 for moment in result.moments]
    lines = [("services, MiB", [value or nan for value in memory], FIRST)]
    summary = f"All services together; at most {number(max(memory))} MiB." if any(memory) else "It is not known."
    return _over_time(result, "memory-over-time", "Memory", summary, lines)


OVER_TIME = (
    *(latency_over_time, actions_over_time, load_over_time),
    *(cpu_over_time, memory_over_time, failures_over_time),
)


def _over_time(
    result: Result, name: str, title: str, summary: str, lines: Sequence[tuple[str, Sequence[float], str]]
) -> Plot:
    def draw(axes: "Axes") -> None:
        for label, values, colour in lines:
            axes.plot(_times(result), values, color=colour, label=label)
        axes.set_ylim(bottom=0)
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:,g}")
        _time_axis(axes, result)

    return _plot(name, title, summary, draw)


def _times(result: Result) -> list[float]:
    return [moment.seconds for moment in result.moments]


def _above_zero(values: Sequence[float]) -> list[float]:
    """Without the slices in which nothing was measured, for which a logarithmic axis has no place."""
    return [value if value > 0 else nan for value in values]


def _milliseconds_axis(axes: "Axes") -> None:
    from matplotlib.ticker import LogLocator, NullFormatter

    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,g} ms")
    axes.yaxis.set_minor_formatter(NullFormatter())


def _time_axis(axes: "Axes", result: Result) -> None:
    in_minutes = result.moments[-1].seconds > MINUTES_FROM_SECONDS
    axes.set_xlim(0, result.moments[-1].seconds)
    if in_minutes:
        from matplotlib.ticker import MaxNLocator

        step = 60.0
        ticks = MaxNLocator(7, integer=True).tick_values(0, result.moments[-1].seconds / step)
        axes.set_xticks([tick * step for tick in ticks if tick * step <= result.moments[-1].seconds])
        axes.xaxis.set_major_formatter(lambda value, _: f"{value / step:g}")
    axes.set_xlabel("minutes" if in_minutes else "seconds")


def _plot(name: str, title: str, summary: str, draw: Callable[["Axes"], None]) -> Plot:
    import matplotlib as mpl
    from matplotlib.figure import Figure

    # Without a salt the ids of paths were other ones each time, and one result would have many pages.
    with mpl.rc_context({**SETTINGS, "svg.hashsalt": name}):
        figure = Figure(figsize=SIZE_INCHES, layout="constrained")
        axes = figure.subplots()
        draw(axes)
        axes.legend(loc="lower left", bbox_to_anchor=(-0.02, 1), ncols=3, handlelength=1.2, borderaxespad=0.2)
        drawn = StringIO()
        figure.savefig(drawn, format="svg")
    return Plot(name, title, summary, _inlined(drawn.getvalue(), name, title, summary))


def _inlined(svg: str, name: str, title: str, summary: str) -> str:
    """The drawing alone: no prologue or metadata, ids of its own, the page's colours and type, a title to be read."""
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg[svg.index("<svg") :], flags=re.DOTALL)
    svg = re.sub(r'\bid="', f'id="{name}-', svg)
    svg = re.sub(r'(url\(|href=")#', rf"\1#{name}-", svg)
    svg = re.sub(r"font: ([\d.]+px) [^;\"]+", r"font-size: \1", svg)
    for colour, variable in VARIABLES.items():
        svg = svg.replace(colour, f"var({variable})")
    opening = re.search(r'viewBox="([^"]+)"', svg)
    assert opening is not None
    labelled = f'role="img" aria-labelledby="{name}-title {name}-summary"'
    texts = f'<title id="{name}-title">{escape(title)}</title><desc id="{name}-summary">{escape(summary)}</desc>'
    head = f'<svg viewBox="{opening[1]}" {labelled}>{texts}'
    return head + svg[svg.index(">") + 1 :].strip()
