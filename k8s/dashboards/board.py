"""The model of a dashboard: rows of panels, each with queries to Prometheus and a description."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum


class Unit(StrEnum):
    """Grafana's units of figures."""

    NUMBER = "short"
    PER_SECOND = "ops"
    SECONDS = "s"
    BYTES = "bytes"
    SHARE = "percentunit"
    DAYS = "d"


class Form(StrEnum):
    """Grafana's types of panels."""

    LINES = "timeseries"
    FIGURE = "stat"


@dataclass(frozen=True, slots=True)
class Query:
    """A PromQL expression, the legend of its series, with labels in double braces, and its unit."""

    expression: str
    legend: str = ""
    unit: Unit = Unit.NUMBER

    def called(self, legend: str) -> "Query":
        """Return the same query with another legend."""
        return replace(self, legend=legend)

    def divided(self, divisor: int) -> "Query":
        """Return the same query in a larger unit."""
        return replace(self, expression=f"{self.expression} / {divisor}")


@dataclass(frozen=True, slots=True)
class Panel:
    """A panel with a title and a description."""

    title: str
    description: str
    queries: tuple[Query, ...]
    unit: Unit
    form: Form


def panel(title: str, description: str, *queries: Query, unit: Unit | None = None, form: Form = Form.LINES) -> Panel:
    """Return a panel of queries, by default in the unit of the first."""
    return Panel(title, description, queries, unit or queries[0].unit, form)


@dataclass(frozen=True, slots=True)
class Dashboard:
    """A dashboard of rows of panels by their headings; `uid` is its name in URLs and of its file."""

    uid: str
    title: str
    rows: Mapping[str, tuple[Panel, ...]]

    @property
    def panels(self) -> tuple[Panel, ...]:
        """Return all panels, in order."""
        return tuple(panel for row in self.rows.values() for panel in row)
