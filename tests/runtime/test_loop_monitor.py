"""The metric of the longest step of an event loop, with planted steps."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field

import pytest
from prometheus_client import CollectorRegistry

from croupier.runtime.observation.loop_monitor import (
    LONG_STEP_SECONDS,
    MAX_PROBE_SECONDS,
    PROBE_SECONDS,
    WINDOW_SECONDS,
    LoopMonitor,
)
from tests.waiting import SettlingLoop, settled


@dataclass
class Probe:
    """The registry of a running monitor, and its clocks in seconds; the loop's time is that of the first."""

    registry: CollectorRegistry = field(default_factory=CollectorRegistry)
    now: float = 1_000.0
    cpu: float = 0.0

    async def pass_time(self, seconds: float, cpu_seconds: float) -> None:
        """Let a callback of the loop take this long, and run the timers that are due then."""
        self.now += seconds
        self.cpu += cpu_seconds
        await settled()

    async def be_quiet(self, seconds: int) -> None:
        """Pass time in short callbacks that need little CPU."""
        for _ in range(1000 * seconds):
            await self.pass_time(0.001, 0.00001)

    def value(self, name: str, **labels: str) -> float:
        return self.registry.get_sample_value(name, labels) or 0.0

    @property
    def timers(self) -> float:
        return self.value("croupier_loop_step_seconds_count")

    @property
    def longest(self) -> float:
        return self.value("croupier_loop_longest_step_seconds")


@pytest.fixture
async def probe() -> AsyncIterator[Probe]:
    loop, probe = asyncio.get_running_loop(), Probe()
    assert isinstance(loop, SettlingLoop)
    loop.follow(lambda: probe.now)
    monitoring = asyncio.create_task(LoopMonitor(probe.registry, lambda: probe.now, lambda: probe.cpu).run())
    await settled()
    yield probe
    monitoring.cancel()


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


async def test_a_quiet_loop_is_seldom_woken_until_it_has_a_long_step(probe: Probe) -> None:
    await probe.be_quiet(15)
    before = probe.timers
    await probe.be_quiet(2)
    assert probe.timers - before == pytest.approx(2 / MAX_PROBE_SECONDS, abs=1)
    await probe.pass_time(MAX_PROBE_SECONDS, LONG_STEP_SECONDS)
    await probe.pass_time(PROBE_SECONDS + 0.020, 0.020)
    assert probe.longest == pytest.approx(0.020)


async def test_steps_that_repeat_each_second_are_measured_by_short_timers(probe: Probe) -> None:
    await probe.be_quiet(15)
    for _ in range(3):
        await probe.pass_time(0.040, 0.040)
        await probe.be_quiet(1)
    assert 0.040 - 2 * PROBE_SECONDS <= probe.longest <= 0.040


async def test_a_loop_with_half_a_core_of_short_callbacks_keeps_short_timers(probe: Probe) -> None:
    for _ in range(2000):
        await probe.pass_time(0.001, 0.0006)
    assert probe.timers > 0.8 * 2 / PROBE_SECONDS
    assert probe.longest <= 0.001
