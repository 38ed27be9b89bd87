"""Checks that services do not grow over a long run: memory, files, streams and tables."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from loadtest.report.result import Check

SETTLED_SECONDS = 300.0
SETTLED_SHARE = 0.2
MEMORY_GROWTH = 0.1
SPARE_FILES = 32
"""Connections to databases and other services are opened on demand, and kept."""
MEBIBYTE = 1024 * 1024
MEMORY = " memory"
"""The suffix of the names of memory checks."""


class Reading(NamedTuple):
    """The resources that an instance used at a time; 0 where it does not export them.

    `seconds` are by the reader's clock; `cpu_seconds` and `restarts` count from the first reading.
    """

    seconds: float
    cpu_seconds: float
    memory_bytes: int
    files: int
    streams: int
    tables: int
    restarts: int = 0
    loop_step_seconds: float = 0.0
    """The longest step of the event loop in the last minute."""


def settled_reading(readings: Sequence[Reading]) -> Reading:
    """Return the first reading after five minutes, or after a fifth of a run of less than 25 minutes."""
    began, ended = readings[0].seconds, readings[-1].seconds
    settled = began + min(SETTLED_SECONDS, (ended - began) * SETTLED_SHARE)
    return next(reading for reading in readings if reading.seconds >= settled)


def growth_checks(histories: Mapping[str, Sequence[Reading]]) -> tuple[Check, ...]:
    """Check each instance by its readings, of which the first precedes the load.

    Engines count their tables every 15 seconds only, so the last reading must follow the end of the last table by as
    much. No other client may use the services.
    """
    return tuple(check for instance, readings in histories.items() for check in _checks_of(instance, readings))


def _checks_of(instance: str, readings: Sequence[Reading]) -> tuple[Check, ...]:
    if len(readings) < 2:
        return (Check(f"{instance} readings", "at least 2", str(len(readings)), passed=False),)
    first, last = readings[0], readings[-1]
    return (
        _memory_check(instance, settled_reading(readings), last),
        _return_check(f"{instance} files", first.files, last.files, SPARE_FILES),
        _return_check(f"{instance} streams", first.streams, last.streams),
        _return_check(f"{instance} tables", first.tables, last.tables),
        # A restart would hide growth.
        _return_check(f"{instance} restarts", 0, last.restarts),
    )


def _memory_check(instance: str, settled: Reading, last: Reading) -> Check:
    max_bytes = settled.memory_bytes * (1 + MEMORY_GROWTH)
    first = f"{settled.memory_bytes / MEBIBYTE:.1f} MiB"
    limit = f"at most {max_bytes / MEBIBYTE:.1f} MiB, {MEMORY_GROWTH:.0%} above {first}"
    measured = f"{last.memory_bytes / MEBIBYTE:.1f} MiB" if last.memory_bytes else "unknown"
    return Check(f"{instance}{MEMORY}", limit, measured, passed=0 < last.memory_bytes <= max_bytes)


def _return_check(name: str, first: int, last: int, spare: int = 0) -> Check:
    return Check(name, f"at most {first + spare}", str(last), passed=last <= first + spare)
