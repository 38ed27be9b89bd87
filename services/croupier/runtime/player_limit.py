"""How often one player may call: a bucket for each, so that who floods a service takes nothing from the others."""

from collections.abc import Callable

from croupier.runtime.errors import LimitReached
from croupier.runtime.settings import PlayerSettings

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
                "TOO_MANY_CALLS",
                f"a player may make {self._calls_per_second} calls a second: wait a moment and call again",
                # In whole milliseconds, as they are told, and never too few.
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


def player_limit(settings: PlayerSettings, clock: MonotonicClock) -> PlayerLimit | None:
    """The limit that settings ask for, None for no limit; raises ValueError for one that lets nobody in."""
    if settings.calls_per_second == 0:
        return None
    if settings.burst == 0:
        raise ValueError("--player-burst must be at least 1: with 0 no player could call")
    return PlayerLimit(settings.calls_per_second, settings.burst, clock)
