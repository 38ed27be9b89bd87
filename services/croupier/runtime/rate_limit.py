"""The rate limit of a player's calls: a token bucket for each, so that a flood takes nothing from other players."""

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
    """A player exceeds the rate limit; nothing was done."""


class PlayerLimit:
    """Token buckets of players: `burst` calls at once and `calls_per_second` in the long run; full ones are removed.

    Its length is the number of buckets.
    """

    def __init__(self, calls_per_second: int, burst: int, clock: MonotonicClock) -> None:
        self._calls_per_second = calls_per_second
        self._call = SECOND // calls_per_second
        self._max_debt = self._call * (burst - 1)
        self._clock = clock
        self._full_at: dict[str, int] = {}
        self._prune_at = PRUNE_SIZE

    def acquire_nowait(self, player_id: str) -> None:
        """Take a token; raises TooManyCalls, and takes none, if the bucket is empty."""
        now = self._clock()
        if (wait := self._wait(player_id, now)) > 0:
            raise TooManyCalls(
                errors_pb2.ERROR_REASON_TOO_MANY_REQUESTS,
                f"too many calls: expected at most {self._calls_per_second} per second",
                # Rounded up to whole milliseconds, which RetryInfo has.
                retry_after_seconds=-(-wait // MILLISECOND) / 1000,
            )
        self._count(player_id, now)

    def acquire(self, player_id: str) -> float:
        """Take a token even from an empty bucket; returns the seconds until it is there."""
        now = self._clock()
        wait = self._wait(player_id, now)
        self._count(player_id, now)
        return max(wait, 0) / SECOND

    def __len__(self) -> int:
        return len(self._full_at)

    def _wait(self, player_id: str, now: int) -> int:
        return self._full_at.get(player_id, now) - now - self._max_debt

    def _count(self, player_id: str, now: int) -> None:
        self._full_at[player_id] = max(self._full_at.get(player_id, now), now) + self._call
        if len(self._full_at) > self._prune_at:
            self._full_at = {player: full_at for player, full_at in self._full_at.items() if full_at > now}
            self._prune_at = max(2 * len(self._full_at), PRUNE_SIZE)


def player_limit(calls_per_second: int, burst: int, clock: MonotonicClock) -> PlayerLimit | None:
    """Return a limit, or None for 0 calls a second."""
    return PlayerLimit(calls_per_second, burst, clock) if calls_per_second else None
