"""The metric of the longest step of an event loop, with planted steps."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest
from prometheus_client import CollectorRegistry

from croupier.runtime.loop_monitor import PROBE_SECONDS, WINDOW_SECONDS, LoopMonitor
from tests.waiting import until


@dataclass
class Clock:
    """A clock in seconds that counts its readings."""

    now: float = 1_000.0
    readings: int = 0

    def __call__(self) -> float:
        self.readings += 1
        return self.now


@dataclass
class Probe:
    """A running monitor with its clocks."""

    registry: CollectorRegistry
    clock: Clock
    cpu: Clock

    async def pass_time(self, seconds: float, cpu_seconds: float) -> None:
        """Let a callback of the loop take this long, and wait until the monitor has measured it."""
        self.clock.now += seconds
        self.cpu.now += cpu_seconds
        # The reading that may be under way, and two of a whole probe.
        after = self.clock.readings + 3
        await until(lambda: self.clock.readings >= after)

    def value(self, name: str, **labels: str) -> float:
        return self.registry.get_sample_value(name, labels) or 0.0

    @property
    def longest(self) -> float:
        return self.value("croupier_loop_longest_step_seconds")


@asynccontextmanager
async def running(monitor: LoopMonitor) -> AsyncIterator[None]:
    task = asyncio.create_task(monitor.run())
    try:
        yield
    finally:
        task.cancel()


@pytest.fixture
async def probe() -> AsyncIterator[Probe]:
    registry, clock, cpu = CollectorRegistry(), Clock(), Clock()
    async with running(LoopMonitor(registry, clock, cpu)):
        await until(lambda: clock.readings > 0)
        yield Probe(registry, clock, cpu)


async def test_a_planted_step_is_the_longest(probe: Probe) -> None:
    await probe.pass_time(PROBE_SECONDS + 0.020, 0.025)
    await probe.pass_time(PROBE_SECONDS + 0.003, 0.003)
    assert probe.longest == pytest.approx(0.020)
    count: Callable[[str], float] = lambda limit: probe.value("croupier_loop_step_seconds_bucket", le=limit)  # noqa: E731
    assert count("+Inf") - count("0.01") == 1
    assert count("0.005") - count("0.0025") == 1


async def test_a_process_that_waits_for_the_cpu_makes_no_step(probe: Probe) -> None:
    await probe.pass_time(3.0, 0.001)
    assert probe.longest == pytest.approx(0.001)


async def test_a_loop_with_many_short_callbacks_makes_no_step(probe: Probe) -> None:
    await probe.pass_time(PROBE_SECONDS, PROBE_SECONDS)
    assert probe.longest == 0


async def test_a_step_is_exported_for_one_window_at_least_and_two_at_most(probe: Probe) -> None:
    await probe.pass_time(PROBE_SECONDS + 0.020, 0.020)
    await probe.pass_time(WINDOW_SECONDS, 0.0)
    assert probe.longest == pytest.approx(0.020)
    await probe.pass_time(WINDOW_SECONDS, 0.0)
    assert probe.longest == 0
