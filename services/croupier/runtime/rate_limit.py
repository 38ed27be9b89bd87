"""How often one player may call: a bucket for each, so that who floods a service takes nothing from the others."""

from collections.abc import Callable

from croupier.runtime.errors import LimitReached
from croupier_api.v1 import errors_pb2

SECOND = 1_000_000_000
MILLISECOND = 1_000_000
FEW_PLAYERS = 1024
"""So many are remembered without looking whether they need be."""

MonotonicClock = Callable[[], int]
"""Gives nanoseconds since any moment, and never goes back."""


class TooManyCalls(LimitReached):
    """A player calls more often than he may; nothing was done."""


class PlayerLimit:
    """Lets each player make `burst` calls at once and `calls_per_second` in the long run.

    Of each player it remembers when his bucket is full again, and nothing of those whose bucket is full.
    """

    def __init__(self, calls_per_second: int, burst: int, clock: MonotonicClock) -> None:
        self._calls_per_second = calls_per_second
        self._call = SECOND // calls_per_second
        self._most_owed = self._call * (burst - 1)
        self._clock = clock
        self._full_at: dict[str, int] = {}
        self._look_at = FEW_PLAYERS

    def take(self, player_id: str) -> None:
        """Count a call; raises TooManyCalls, and counts nothing, if it is one too many."""
        now = self._clock()
        if (wait := self._wait(player_id, now)) > 0:
            raise TooManyCalls(
                errors_pb2.ERROR_REASON_TOO_MANY_REQUESTS,
                f"too many calls: expected at most {self._calls_per_second} per second",
                # In whole milliseconds, as RetryInfo has them, and never too few.
                retry_after_seconds=-(-wait // MILLISECOND) / 1000,
            )
        self._count(player_id, now)

    def reserve_seconds(self, player_id: str) -> float:
        """Count something that is not refused but held back; gives for how long."""
        now = self._clock()
        wait = self._wait(player_id, now)
        self._count(player_id, now)
        return max(wait, 0) / SECOND

    def __len__(self) -> int:
        """How many players are remembered."""
        return len(self._full_at)

    def _wait(self, player_id: str, now: int) -> int:
        return self._full_at.get(player_id, now) - now - self._most_owed

    def _count(self, player_id: str, now: int) -> None:
        self._full_at[player_id] = max(self._full_at.get(player_id, now), now) + self._call
        if len(self._full_at) > self._look_at:
            self._full_at = {player: full_at for player, full_at in self._full_at.items() if full_at > now}
            self._look_at = max(2 * len(self._full_at), FEW_PLAYERS)


def player_limit(calls_per_second: int, burst: int, clock: MonotonicClock) -> PlayerLimit | None:
    """The limit for so many calls, None for 0 calls a second, which stands for no limit."""
    return PlayerLimit(calls_per_second, burst, clock) if calls_per_second else None
