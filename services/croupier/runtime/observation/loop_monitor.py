"""The steps of the event loop: the times for which callbacks kept all other calls of the process waiting."""

import asyncio
from collections.abc import Callable

from prometheus_client import CollectorRegistry, Gauge, Histogram

PROBE_SECONDS = 0.01
"""A step is measured by its delay of a timer of this length, and so may appear shorter by up to this time."""
MAX_PROBE_SECONDS = 0.1
"""The length of the timer while the loop does little, since each timer wakes the process."""
PROBE_GROWTH = 1.01
"""Each timer of a quiet loop is longer than the one before by this factor: 20 ms after a second, 100 ms after ten."""
LONG_STEP_SECONDS = 0.005
"""A timer in which the thread used less CPU time missed no step of this length; after any other the next is short."""
WINDOW_SECONDS = 30.0
STEP_BUCKETS_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0)


class LoopMonitor:
    """Measures the steps of the loop that runs it by two clocks in seconds: monotonic time, and its thread's CPU time.

    A delay counts only as far as the thread used the CPU meanwhile, so that other processes do not cause any.
    """

    def __init__(self, registry: CollectorRegistry, clock: Callable[[], float], cpu_clock: Callable[[], float]) -> None:
        self._clock = clock
        self._cpu_clock = cpu_clock
        self._probe_seconds = PROBE_SECONDS
        self._window_end = 0.0
        self._longest = self._longest_before = 0.0
        self._steps = Histogram(
            "croupier_loop_step_seconds",
            "CPU time for which the event loop delayed a timer, in seconds.",
            buckets=STEP_BUCKETS_SECONDS,
            registry=registry,
        )
        Gauge(
            "croupier_loop_longest_step_seconds",
            "Longest CPU time for which the event loop delayed a timer in the last 30 to 60 seconds, in seconds.",
            registry=registry,
        ).set_function(self.longest)

    def longest(self) -> float:
        """Return the longest step of this window and the one before, in seconds."""
        return max(self._longest, self._longest_before)

    async def run(self) -> None:
        """Measure until cancelled."""
        self._start()
        try:
            await asyncio.Event().wait()
        finally:
            self._timer.cancel()

    def _start(self) -> None:
        self._began, self._cpu_began = self._clock(), self._cpu_clock()
        # A callback needs two thirds of the CPU time of a task that sleeps.
        self._timer = asyncio.get_running_loop().call_later(self._probe_seconds, self._measure)

    def _measure(self) -> None:
        now, cpu_seconds = self._clock(), self._cpu_clock() - self._cpu_began
        step = max(0.0, min(now - self._began - self._probe_seconds, cpu_seconds))
        self._steps.observe(step)
        if now >= self._window_end:
            self._longest, self._longest_before = 0.0, self._longest
            self._window_end = now + WINDOW_SECONDS
        self._longest = max(self._longest, step)
        is_quiet = cpu_seconds < LONG_STEP_SECONDS
        self._probe_seconds = min(self._probe_seconds * PROBE_GROWTH, MAX_PROBE_SECONDS) if is_quiet else PROBE_SECONDS
        self._start()
