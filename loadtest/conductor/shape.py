"""How load rises and falls: Locust's shape of a scenario."""

from locust import LoadTestShape

from loadtest.scenarios import Scenario


class ScenarioShape(LoadTestShape):
    """The stages of a scenario, of so many users at full load, which begin after `warm_up_seconds`."""

    def __init__(self, scenario: Scenario, users: int, warm_up_seconds: float) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._scenario = scenario
        self._users = users
        self._warm_up_seconds = warm_up_seconds
        self._is_over = False

    def stop_soon(self) -> None:
        """Let time be up now."""
        self._is_over = True

    def tick(self) -> tuple[int, float] | None:
        """How many users are wanted now, and how many of them may come or go in a second; None when time is up."""
        seconds = self.get_run_time() - self._warm_up_seconds  # type: ignore[no-untyped-call]
        share = max(0.0, seconds / self._scenario.seconds)
        if self._is_over or share >= 1:
            return None
        return max(1, round(self._users * self._scenario.load_at(share))), self._scenario.arrivals_per_second
