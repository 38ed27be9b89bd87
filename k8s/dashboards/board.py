"""What a dashboard is: rows of panels, each of which asks Prometheus something and says what the answer means."""

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


class Panel:
    """One picture in the unit of its queries; `meaning` says what to look for in it."""

    def __init__(
        self, title: str, meaning: str, *queries: Query, unit: Unit | None = None, form: Form = Form.LINES
    ) -> None:
        self.title = title
        self.meaning = meaning
        self.queries = queries
        self.unit = unit or queries[0].unit
        self.form = form


@dataclass(frozen=True, slots=True)
class Dashboard:
    """A page of rows of panels by their heading; `uid` is its name in addresses and of its file."""

    uid: str
    title: str
    rows: dict[str, tuple[Panel, ...]]

    @property
    def panels(self) -> tuple[Panel, ...]:
        """All panels, in order."""
        return tuple(panel for row in self.rows.values() for panel in row)
