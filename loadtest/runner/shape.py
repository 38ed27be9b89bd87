"""Locust's shape of a scenario."""

from locust import LoadTestShape

from loadtest.runner.stages import Stages, Tick


class ScenarioShape(LoadTestShape):
    """The stages of a scenario, with the users, spawn rate and run time of Locust's own options."""

    use_common_options = True

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.stages = Stages()

    def tick(self) -> Tick | None:
        """How many users are wanted now, and how many may start or stop in a second; None when time is up."""
        return self.stages.tick()
