"""Measurements of actions by latency and CPU, and their printed lines."""

import asyncio
import statistics
import time
from collections import Counter
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import psutil  # type: ignore[import-untyped]

WARM_UP_SECONDS = 2.0


@dataclass
class Measurement:
    """The counts of one run: seconds from each action to its answer, duration, and CPU seconds by process."""

    latencies: list[float] = field(default_factory=list)
    seconds: float = 0.0
    cpu_seconds: Counter[str] = field(default_factory=Counter)
    is_counting: bool = False

    def count_action(self, sent: float) -> None:
        """Count an action that was sent at `sent` and is answered now."""
        if self.is_counting:
            self.latencies.append(time.perf_counter() - sent)

    @property
    def per_second(self) -> float:
        return len(self.latencies) / self.seconds

    def percentile_milliseconds(self, percent: int) -> float:
        return statistics.quantiles(self.latencies, n=100)[percent - 1] * 1000

    def cpu_microseconds(self, process: str) -> float:
        """Return the CPU time of a process for each action."""
        return self.cpu_seconds[process] / len(self.latencies) * 1e6


async def measure_tables(
    run: Measurement, driving: Iterable[Coroutine[Any, Any, None]], pids: Mapping[str, int], seconds: float
) -> Measurement:
    """Drive the tables, and count for `seconds` after a warm-up; raises errors of drivers."""
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(one) for one in driving]
        await asyncio.sleep(WARM_UP_SECONDS)
        began, before = time.perf_counter(), _cpu_seconds(pids)
        run.is_counting = True
        await asyncio.sleep(seconds)
        run.is_counting = False
        run.seconds, run.cpu_seconds = time.perf_counter() - began, _cpu_seconds(pids) - before
        for task in tasks:
            task.cancel()
    return run


def _cpu_seconds(pids: Mapping[str, int]) -> Counter[str]:
    return Counter({name: sum(psutil.Process(pid).cpu_times()[:2]) for name, pid in pids.items()})


def report(name: str, runs: Sequence[Measurement]) -> None:
    """Print a line for all runs of a kind."""
    run = Measurement([one for run in runs for one in run.latencies], sum(run.seconds for run in runs))
    for one in runs:
        run.cpu_seconds += one.cpu_seconds
    latencies = "  ".join(f"p{percent} {run.percentile_milliseconds(percent):6.2f}" for percent in (50, 95, 99))
    cpu = ", ".join(f"{process} {run.cpu_microseconds(process):4.0f} µs" for process in run.cpu_seconds)
    print(f"  {name:<11}{run.per_second:7.0f} actions/s   {latencies} ms   CPU each: {cpu}", flush=True)


def report_ratios(title: str, ratios: Sequence[float]) -> None:
    """Print ratios round by round, and their median."""
    listed = ", ".join(f"{ratio:.2f}" for ratio in ratios)
    print(f"  {title}: median {statistics.median(ratios):.2f} of {listed}")
