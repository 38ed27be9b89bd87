"""The table that `make bench` prints: a row for each figure."""

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

HEADER = ("part", "variant", "figures", "ratio (min to max)")


@dataclass(frozen=True, slots=True)
class Row:
    """Figures of a variant, and their ratios to a baseline, one for each round of the same run."""

    part: str
    variant: str
    figures: str
    ratios: Sequence[float] = ()
    ratio_name: str = ""
    """What is divided by what, such as "moves/s to bare grpc.aio"."""


def format_table(rows: Iterable[Row]) -> str:
    """Return aligned lines, the first with the names of the columns."""
    lines = [HEADER, *((row.part, row.variant, row.figures, _ratio(row)) for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)


def format_spread(ratios: Sequence[float]) -> str:
    """Return the median, the minimum and the maximum."""
    return f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"


def _ratio(row: Row) -> str:
    return f"{format_spread(row.ratios)} {row.ratio_name}" if row.ratios else ""
