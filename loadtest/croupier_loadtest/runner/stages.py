"""The load over a run, by the stages of a scenario."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from croupier_loadtest.scenarios import Scenario

Tick: TypeAlias = tuple[int, float]
"""The number of users, and how many may start or stop in a second."""


@dataclass(frozen=True, slots=True)
class StagePlan:
    """The stages of a scenario with a number of users at full load; they begin after the warm-up."""

    scenario: Scenario
    users: int
    arrivals_per_second: float
    seconds: float

    @property
    def warm_up_seconds(self) -> float:
        """The time for the users of the first stage to start and to settle."""
        return self.tick_at(0)[0] / self.arrivals_per_second + self.scenario.settling_seconds

    def tick_at(self, share: float) -> Tick:
        """Return the tick at a share of the run."""
        return max(1, round(self.users * self.scenario.load_at(share))), self.arrivals_per_second


class Stages:
    """The stages of one run after another."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.first: Callable[[], Tick] = lambda: (1, 1.0)
        """The tick before a run, which makes Locust begin it."""
        self._clock = clock
        self._plan: StagePlan | None = None
        self._last: Tick | None = None
        self._began = 0.0

    def begin(self, plan: StagePlan) -> None:
        """Begin a run now."""
        self._plan, self._last, self._began = plan, None, self._clock()

    def hold(self) -> None:
        """Keep the load constant from now on."""
        self._plan = None

    def reset(self) -> None:
        """Forget the run."""
        self._plan = self._last = None

    def tick(self) -> Tick | None:
        """Return the current tick; None when the run drains."""
        if self._plan is None:
            return self._last or self.first()
        share = max(0.0, (self._clock() - self._began - self._plan.warm_up_seconds) / self._plan.seconds)
        if share >= 1:
            return None
        self._last = self._plan.tick_at(share)
        return self._last
