"""What Locust has of a load process: users, each a handle of one there, and statistics, which its web page shows."""

from collections.abc import Mapping
from typing import ClassVar

import gevent
from locust import User, tag, task
from locust.stats import RequestStats

from croupier_loadtest.measures import Batch
from croupier_loadtest.scenarios import SCENARIOS, UserKind

SLEEP_SECONDS = 3600.0
METHOD = "grpc"
VIOLATION = "violation"


class PlayedUser(User):
    """A user that runs in the load process from its start to its stop."""

    abstract = True
    kind: ClassVar[UserKind]

    def on_start(self) -> None:
        self.name = self.environment.load_test.start_user(self.kind)

    @tag(*SCENARIOS)
    @task
    def play(self) -> None:
        gevent.sleep(SLEEP_SECONDS)

    def on_stop(self) -> None:
        self.environment.load_test.stop_user(self.name)


def user_of(kind: UserKind) -> type[PlayedUser]:
    """Return the Locust class of a kind of users, whose name the web page shows."""
    return type(kind.value.title(), (PlayedUser,), {"kind": kind})


class LocustStatistics:
    """Adds batches to Locust's statistics, which round response times by their own rule."""

    def __init__(self, stats: RequestStats) -> None:
        self._stats = stats
        self._first: dict[str, str] = {}

    def add(self, batch: Batch) -> None:
        """Add a batch; a violation is a failure under the name of its invariant, with the detail of the first."""
        times: Mapping[str, list[int]] = batch["times"]
        for name, microseconds in times.items():
            for one in microseconds:
                self._stats.log_request(METHOD, name, one / 1000, 0)  # type: ignore[arg-type]
        failures: Mapping[str, tuple[int, str]] = batch["failures"]
        for name, (count, first) in failures.items():
            for _ in range(count):
                self._stats.log_error(METHOD, name, self._first.setdefault(name, first))
        for violation in batch["violations"]:
            name, detail = violation["invariant"], f"table {violation['table_id']}: {violation['detail']}"
            self._stats.log_error(VIOLATION, name, self._first.setdefault(name, detail))
