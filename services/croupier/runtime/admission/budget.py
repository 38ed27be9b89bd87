"""Budgets of units: a token bucket for each player or each network, so that a flood takes nothing from others."""

from collections.abc import Callable

from croupier.runtime.errors import LimitReached
from croupier_api.v1 import errors_pb2

SECOND = 1_000_000_000
MILLISECOND = 1_000_000
PRUNE_SIZE = 1024
"""Below this number, full buckets are not removed."""

MonotonicClock = Callable[[], int]
"""Returns nanoseconds since any moment, and never goes back."""


class TooManyCalls(LimitReached):
    """A budget is used up; nothing was done."""


class Budget:
    """Token buckets by key: `burst` units at once and `units_per_second` in the long run, which is no limit if 0.

    `limit` names the limit in metrics, logs and errors. Full buckets are removed; the length is the number of others.
    """

    def __init__(self, limit: str, units_per_second: int, burst: int, clock: MonotonicClock) -> None:
        self.limit = limit
        self._units_per_second = units_per_second
        self._unit = SECOND // units_per_second if units_per_second else 0
        self._burst = burst
        self._clock = clock
        self._full_at: dict[str, int] = {}
        self._prune_at = PRUNE_SIZE

    def __len__(self) -> int:
        return len(self._full_at)

    @property
    def is_limited(self) -> bool:
        """Whether units run out."""
        return self._unit > 0

    def wait(self, key: str, cost: int) -> int:
        """Return the nanoseconds until a bucket has the units, 0 or less if it has; a full one has enough for any."""
        full_at = self._full_at.get(key)
        if full_at is None:
            return 0
        return full_at - self._clock() - self._unit * max(self._burst - cost, 0)

    def take(self, key: str, cost: int) -> None:
        """Take units, whether they are there or not."""
        if not self._unit:
            return
        now, full_at = self._clock(), self._full_at.get(key, 0)
        self._full_at[key] = (full_at if full_at > now else now) + self._unit * cost
        if len(self._full_at) > self._prune_at:
            self._full_at = {key: full_at for key, full_at in self._full_at.items() if full_at > now}
            self._prune_at = max(2 * len(self._full_at), PRUNE_SIZE)

    def pay(self, key: str, cost: int = 1) -> None:
        """Take units; raises TooManyCalls, and takes none, if the bucket has too few."""
        if (wait := self.wait(key, cost)) > 0:
            raise self.refusal(wait)
        self.take(key, cost)

    def owe(self, key: str, cost: int) -> None:
        """Take units, whether they are there or not, until the debt is one burst: a full bucket is two bursts away."""
        if not self._unit:
            return
        lacking = max(self._full_at.get(key, 0) - self._clock(), 0)
        self.take(key, min(cost, max(2 * self._burst - -(-lacking // self._unit), 0)))

    def delay(self, key: str, cost: int = 1) -> float:
        """Take units, whether they are there or not; returns the seconds until they are."""
        wait = self.wait(key, cost)
        self.take(key, cost)
        return wait / SECOND if wait > 0 else 0.0

    def give_back(self, key: str, cost: int) -> None:
        """Give units back that were taken for a call which turned out to need none."""
        if key in self._full_at:
            self._full_at[key] -= self._unit * cost

    def refusal(self, wait: int) -> TooManyCalls:
        """Return the error of a call that could be made after `wait` nanoseconds."""
        return TooManyCalls(
            errors_pb2.ERROR_REASON_TOO_MANY_REQUESTS,
            f"too many calls: expected at most {self._units_per_second} units per second",
            # Rounded up to whole milliseconds, which RetryInfo has.
            retry_after_seconds=-(-wait // MILLISECOND) / 1000,
            metadata={"limit": self.limit},
        )
