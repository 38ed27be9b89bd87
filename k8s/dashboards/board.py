"""What a dashboard is: rows of panels, each of which asks Prometheus something and says what the answer means."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum


class Unit(StrEnum):
    """How Grafana writes a figure."""

    NUMBER = "short"
    PER_SECOND = "ops"
    SECONDS = "s"
    BYTES = "bytes"
    SHARE = "percentunit"
    DAYS = "d"


class Form(StrEnum):
    """How Grafana draws a panel."""

    LINES = "timeseries"
    FIGURE = "stat"


@dataclass(frozen=True, slots=True)
class Query:
    """An expression of Prometheus, the name of its lines, with labels in double braces, and what its figures are."""

    expression: str
    legend: str = ""
    unit: Unit = Unit.NUMBER

    def called(self, legend: str) -> "Query":
        """The same with another name for its lines."""
        return replace(self, legend=legend)

    def divided(self, divisor: int) -> "Query":
        """The same in a larger unit."""
        return replace(self, expression=f"{self.expression} / {divisor}")


@dataclass(frozen=True, slots=True)
class Panel:
    """One picture; `meaning` says what to look for in it."""

    title: str
    meaning: str
    queries: tuple[Query, ...]
    unit: Unit
    form: Form


def panel(title: str, meaning: str, *queries: Query, unit: Unit | None = None, form: Form = Form.LINES) -> Panel:
    """A panel of queries, in the unit of the first unless another is named."""
    return Panel(title, meaning, queries, unit or queries[0].unit, form)


@dataclass(frozen=True, slots=True)
class Dashboard:
    """A page of rows of panels by their heading; `uid` is its name in addresses and of its file."""

    uid: str
    title: str
    rows: Mapping[str, tuple[Panel, ...]]

    @property
    def panels(self) -> tuple[Panel, ...]:
        """All panels, in order."""
        return tuple(panel for row in self.rows.values() for panel in row)
