"""What a dashboard is: rows of panels, each of which asks Prometheus something and says what the answer means."""

from dataclasses import dataclass
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
    """An expression of Prometheus, and the name of its lines, with labels in double braces."""

    expression: str
    legend: str = ""


@dataclass(frozen=True, slots=True)
class Panel:
    """One picture; `meaning` says what to look for in it."""

    title: str
    meaning: str
    queries: tuple[Query, ...]
    unit: Unit = Unit.NUMBER
    form: Form = Form.LINES


@dataclass(frozen=True, slots=True)
class Row:
    """Panels side by side under a heading."""

    title: str
    panels: tuple[Panel, ...]


@dataclass(frozen=True, slots=True)
class Dashboard:
    """A page; `uid` is its name in addresses and of its file."""

    uid: str
    title: str
    rows: tuple[Row, ...]

    @property
    def panels(self) -> tuple[Panel, ...]:
        """All panels, in order."""
        return tuple(panel for row in self.rows for panel in row.panels)
