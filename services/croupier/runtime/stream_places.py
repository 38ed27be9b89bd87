"""How many streams may be open at a service, so that no player takes the places of all others."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from croupier.runtime.errors import LimitReached


class StreamPlaces:
    """How many streams there may be, in all and for one player."""

    def __init__(self, limit: int, player_limit: int) -> None:
        self._limit = limit
        self._player_limit = player_limit
        self._by_player: Counter[str] = Counter()
        self._taken = 0

    def __len__(self) -> int:
        """How many places are taken."""
        return self._taken

    @contextmanager
    def occupied_by(self, player_id: str) -> Iterator[None]:
        """Hold a place; raises LimitReached if there is none."""
        if self._taken >= self._limit:
            raise LimitReached("STREAMS", "too many streams are open here: try again later", retry_after_seconds=5)
        if self._by_player[player_id] >= self._player_limit:
            raise LimitReached(
                "PLAYER_STREAMS", f"{self._player_limit} streams are the most for one player: end one of yours first"
            )
        self._count(player_id, 1)
        try:
            yield
        finally:
            self._count(player_id, -1)

    def _count(self, player_id: str, more: int) -> None:
        self._taken += more
        self._by_player[player_id] += more
        if not self._by_player[player_id]:
            del self._by_player[player_id]
