"""Checks that services do not grow over a long run, and of what they use while they are attacked."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from croupier.cli.launcher.replicas import service_of
from croupier_loadtest.report.result import Check
from croupier_loadtest.scenarios import Limits

SETTLED_SECONDS = 300.0
SETTLED_SHARE = 0.2
MEMORY_GROWTH = 0.1
SPARE_FILES = 32
"""Connections to databases and other services are opened on demand, and kept."""
MEBIBYTE = 1024 * 1024
DATA_FOLDER = "data folder"
START_SECONDS = 75.0
"""The time after which the longest step of the last minute excludes those of the start."""
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


def _checks_of(instance: str, readings: Sequence[Reading]) -> Iterator[Check]:
    if len(readings) < 2:
        yield Check(f"{instance} readings", "at least 2", str(len(readings)), passed=False)
        return
    first, last, settled = readings[0], readings[-1], settled_reading(readings).memory_bytes
    max_bytes = settled * (1 + MEMORY_GROWTH)
    limit = f"at most {max_bytes / MEBIBYTE:.1f} MiB, {MEMORY_GROWTH:.0%} above {settled / MEBIBYTE:.1f} MiB"
    measured = f"{last.memory_bytes / MEBIBYTE:.1f} MiB" if last.memory_bytes else "unknown"
    yield Check(f"{instance}{MEMORY}", limit, measured, passed=0 < last.memory_bytes <= max_bytes)
    returned = {
        "files": (first.files + SPARE_FILES, last.files),
        "streams": (first.streams, last.streams),
        "tables": (first.tables, last.tables),
        # A restart would hide growth.
        "restarts": (0, last.restarts),
    }
    for name, (most, count) in returned.items():
        yield Check(f"{instance} {name}", f"at most {most}", str(count), passed=count <= most)


def usage_checks(limits: Limits, histories: Mapping[str, Sequence[Reading]], folder: Path | None) -> Iterator[Check]:
    """Yield the checks of memory, loop steps and the data folder under attack, as far as the scenario limits them."""
    for instance, readings in histories.items():
        if readings and (mebibytes := limits.max_growth_mebibytes.get(service_of(instance))):
            peak = max(reading.memory_bytes for reading in readings)
            grown = (peak - settled_reading(readings).memory_bytes) / MEBIBYTE
            yield Check(f"{instance} growth", f"at most {mebibytes:g} MiB", f"{grown:.1f} MiB", grown <= mebibytes)
        settled = [
            # The gateway has no event loop.
            reading
            for reading in readings
            if reading.loop_step_seconds and reading.seconds >= readings[0].seconds + START_SECONDS
        ]
        if settled and (milliseconds := limits.loop_step_milliseconds):
            longest = max(reading.loop_step_seconds for reading in settled) * 1000
            limit, measured = f"at most {milliseconds:g} ms", f"{longest:.1f} ms"
            yield Check(f"{instance} longest loop step", limit, measured, longest <= milliseconds)
    if folder is not None and (mebibytes := limits.max_growth_mebibytes.get(DATA_FOLDER)):
        size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / MEBIBYTE
        yield Check(DATA_FOLDER, f"at most {mebibytes:g} MiB", f"{size:.1f} MiB", size <= mebibytes)
