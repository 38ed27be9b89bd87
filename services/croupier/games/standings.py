"""Rankings: seats grouped by merit, and gains compared with those of the others."""

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import Any

from croupier.games.facts import Ranking, Seat


def ranked(seats: Iterable[Seat], merit: Callable[[Seat], Any]) -> Ranking:
    """Return groups of seats, the smallest merit first; equal ones share a group, in the order given."""
    return tuple(tuple(group) for _, group in groupby(sorted(seats, key=merit), key=merit))


def relative_to_others(gains: Sequence[float], span: float) -> list[float]:
    """Return a value for each gain, 0 to 1: 0.5 for the mean of the others, 1 for half the span above it."""
    total, others = sum(gains), len(gains) - 1
    return [clamped(0.5 + (own - (total - own) / others) / span) for own in gains]


def clamped(value: float) -> float:
    """Return the nearest number from 0 to 1."""
    return min(max(value, 0.0), 1.0)
