"""How much memory tables and streams took at most, as far as one run can tell."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from loadtest.watch.growth import Reading

ENGINE = "engine"


class Shares(NamedTuple):
    """By how many bytes the engines had grown when there were most streams, for each table and for each stream of then.

    One run cannot tell them apart: a table with its streams is in the first figure, a stream with its part of a table
    in the second. 0 is not known.
    """

    per_table: float
    per_stream: float


def memory_shares(histories: Mapping[str, Sequence[Reading]]) -> Shares:
    """The shares, from the readings of all engines."""
    growth = tables = streams = 0
    for instance, readings in histories.items():
        if instance.startswith(ENGINE) and readings:
            fullest = max(readings, key=lambda reading: (reading.streams, reading.tables))
            growth += max(0, fullest.memory_bytes - readings[0].memory_bytes)
            tables += fullest.tables
            streams += fullest.streams
    return Shares(growth / tables if tables else 0.0, growth / streams if streams else 0.0)
