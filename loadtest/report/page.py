"""A result as one self-contained page of HTML."""

from datetime import UTC, datetime
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from loadtest.measures import ACKNOWLEDGED
from loadtest.report import figures
from loadtest.report.plots import plots
from loadtest.report.result import Result
from loadtest.report.verdict import reasons

TEMPLATE = "page.html.jinja"


def to_page(result: Result) -> str:
    """Return the text of report.html, with foreign text escaped."""
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
            headline_latency=next((one for one in result.latencies if one.name == ACKNOWLEDGED), None),
        )
    )


def _environment() -> Environment:
    loader = FileSystemLoader(Path(__file__).parent)
    environment = Environment(
        autoescape=True, loader=loader, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    for filter_ in (figures.number, figures.milliseconds, figures.size, figures.duration):
        environment.filters[filter_.__name__] = filter_
    environment.globals |= {"change": figures.change, "known": figures.known, "unknown": figures.UNKNOWN}
    return environment
