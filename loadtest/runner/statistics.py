"""Adds the measurements of load processes to Locust's own statistics, which its web page shows."""

from collections.abc import Mapping

from locust.stats import RequestStats

from loadtest.measures import Batch

METHOD = "grpc"
VIOLATION = "violation"


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
