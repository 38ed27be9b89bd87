"""Checks of what the services use while they are attacked."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from croupier.cli.launcher.replicas import service_of
from loadtest.monitor.growth import MEBIBYTE, Reading, settled_reading
from loadtest.monitor.monitor import ServiceMonitor
from loadtest.report.result import Check
from loadtest.scenarios import Limits

DATA_FOLDER = "data folder"
START_SECONDS = 75.0
"""The time after which the longest step of the last minute excludes those of the start."""


def usage_checks(limits: Limits, monitor: ServiceMonitor, folder: Path | None) -> Iterator[Check]:
    """Yield the checks of memory, loop steps and the data folder, as far as the scenario limits them."""
    for instance, readings in monitor.histories.items():
        if readings and (mebibytes := limits.max_growth_mebibytes.get(service_of(instance))):
            yield _growth(instance, readings, mebibytes)
        settled = [
            # The gateway has no event loop.
            reading
            for reading in readings
            if reading.loop_step_seconds and reading.seconds >= readings[0].seconds + START_SECONDS
        ]
        if settled and limits.loop_step_milliseconds:
            yield _loop_step(instance, settled, limits.loop_step_milliseconds)
    if folder is not None and (mebibytes := limits.max_growth_mebibytes.get(DATA_FOLDER)):
        size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / MEBIBYTE
        yield Check(DATA_FOLDER, f"at most {mebibytes:g} MiB", f"{size:.1f} MiB", size <= mebibytes)


def _growth(instance: str, readings: Sequence[Reading], mebibytes: float) -> Check:
    peak = max(reading.memory_bytes for reading in readings)
    grown = (peak - settled_reading(readings).memory_bytes) / MEBIBYTE
    return Check(f"{instance} growth", f"at most {mebibytes:g} MiB", f"{grown:.1f} MiB", grown <= mebibytes)


def _loop_step(instance: str, readings: Sequence[Reading], milliseconds: float) -> Check:
    longest = max(reading.loop_step_seconds for reading in readings) * 1000
    limit = f"at most {milliseconds:g} ms"
    return Check(f"{instance} longest loop step", limit, f"{longest:.1f} ms", longest <= milliseconds)
