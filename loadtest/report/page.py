"""A result as one page of HTML that needs nothing but itself."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from loadtest.report import figures
from loadtest.report.coarser import coarser, slices_in_a_point
from loadtest.report.plots import plots
from loadtest.report.result import Result
from loadtest.report.verdict import reasons

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATE = "page.html.jinja"
WAITED_FOR = "action acknowledged"
"""The latency that stands among the first figures of the page."""


def to_page(result: Result) -> str:
    """The text of report.html; whatever comes from outside is escaped in it."""
    conditions = result.conditions
    return (
        _environment()
        .get_template(TEMPLATE)
        .render(
            result=result,
            conditions=conditions,
            reasons=reasons(result),
            started=datetime.fromtimestamp(conditions.started_milliseconds / 1000, UTC).strftime("%d %B %Y, %H:%M UTC"),
            plots={plot.name: plot for plot in plots(replace(result, moments=coarser(result.moments)))},
            slices_in_a_point=slices_in_a_point(result.moments),
            waited_for=next((one for one in result.latencies if one.name == WAITED_FOR), None),
            violations=sum(broken.count for broken in result.violations),
            failures=sum(failure.count for failure in result.failures),
            refusals=sum(result.refusals.values()),
        )
    )


def _environment() -> "Environment":
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        autoescape=True,
        loader=FileSystemLoader(Path(__file__).parent),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "number": figures.number,
        "milliseconds": figures.milliseconds,
        "size": figures.size,
        "duration": figures.duration,
    }
    environment.globals |= {"change": figures.change, "known": figures.known, "unknown": figures.UNKNOWN}
    return environment
