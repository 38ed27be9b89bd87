"""A result as one page of HTML that needs nothing but itself."""

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from loadtest.report import figures
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
    started = datetime.fromtimestamp(result.conditions.started_milliseconds / 1000, UTC)
    return (
        _environment()
        .get_template(TEMPLATE)
        .render(
            result=result,
            conditions=result.conditions,
            reasons=reasons(result),
            started=started.strftime("%d %B %Y, %H:%M UTC"),
            plots=list(plots(result)),
            waited_for=next((one for one in result.latencies if one.name == WAITED_FOR), None),
        )
    )


def _environment() -> "Environment":
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    loader = FileSystemLoader(Path(__file__).parent)
    environment = Environment(
        autoescape=True, loader=loader, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    for written in (figures.number, figures.milliseconds, figures.size, figures.duration):
        environment.filters[written.__name__] = written
    environment.globals |= {"change": figures.change, "known": figures.known, "unknown": figures.UNKNOWN}
    return environment
