"""Whether a service grew over a long run: its memory, files, streams and tables."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from loadtest.report.result import Check

SETTLED_SECONDS = 300.0
SETTLED_SHARE = 0.2
MEMORY_GROWTH = 0.1
SPARE_FILES = 32
"""Connections to databases and to other services are made when they are needed, and kept."""
MEBIBYTE = 1024 * 1024
MEMORY = " memory"
"""How the names of checks of memory end."""


class Reading(NamedTuple):
    """What an instance used at a moment; 0 is what it does not tell.

    `seconds` are those of the reader's clock, `cpu_seconds` are since the first reading, `restarts` as well.
    """

    seconds: float
    cpu_seconds: float
    memory_bytes: int
    files: int
    streams: int
    tables: int
    restarts: int = 0


def settled_reading(readings: Sequence[Reading]) -> Reading:
    """The first reading after five minutes, or after a fifth of a run that took less than 25."""
    began, ended = readings[0].seconds, readings[-1].seconds
    settled = began + min(SETTLED_SECONDS, (ended - began) * SETTLED_SHARE)
    return next(reading for reading in readings if reading.seconds >= settled)


def growth_checks(histories: Mapping[str, Sequence[Reading]]) -> tuple[Check, ...]:
    """Judge each instance by its readings, of which the first was taken before there was load, the last long after.

    Engines count their tables every 15 seconds only, so that the last reading must come that much after the last
    table has ended. The services must be nobody else's.
    """
    return tuple(check for instance, readings in histories.items() for check in _checks_of(instance, readings))


def _checks_of(instance: str, readings: Sequence[Reading]) -> tuple[Check, ...]:
    if len(readings) < 2:
        return (Check(f"{instance} readings", "2 at least", str(len(readings)), passed=False),)
    first, last = readings[0], readings[-1]
    return (
        _memory_check(instance, settled_reading(readings), last),
        _back_check(f"{instance} files", first.files, last.files, SPARE_FILES),
        _back_check(f"{instance} streams", first.streams, last.streams),
        _back_check(f"{instance} tables", first.tables, last.tables),
        # What grows until the process ends would otherwise be small again.
        _back_check(f"{instance} restarts", 0, last.restarts),
    )


def _memory_check(instance: str, settled: Reading, last: Reading) -> Check:
    most = settled.memory_bytes * (1 + MEMORY_GROWTH)
    limit = f"at most {most / MEBIBYTE:.1f} MiB, {MEMORY_GROWTH:.0%} above {settled.memory_bytes / MEBIBYTE:.1f} MiB"
    measured = f"{last.memory_bytes / MEBIBYTE:.1f} MiB" if last.memory_bytes else "it does not tell"
    return Check(f"{instance}{MEMORY}", limit, measured, passed=0 < last.memory_bytes <= most)


def _back_check(name: str, first: int, last: int, spare: int = 0) -> Check:
    return Check(name, f"at most {first + spare}", str(last), passed=last <= first + spare)
