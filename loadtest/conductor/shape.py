"""How load rises and falls: Locust's shape of a scenario."""

from locust import LoadTestShape

from loadtest.scenarios import Scenario


class ScenarioShape(LoadTestShape):
    """The stages of a scenario, of so many users at full load."""

    def __init__(self, scenario: Scenario, users: int) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._scenario = scenario
        self._users = users
        self._is_over = False

    def stop_soon(self) -> None:
        """Let time be up now."""
        self._is_over = True

    def tick(self) -> tuple[int, float] | None:
        """How many users are wanted now, and how many of them may come or go in a second; None when time is up."""
        share = self.get_run_time() / self._scenario.seconds  # type: ignore[no-untyped-call]
        if self._is_over or share >= 1:
            return None
        return max(1, round(self._users * self._scenario.load_at(share))), self._scenario.arrivals_per_second
