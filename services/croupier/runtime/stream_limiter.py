"""A limit of open streams, so that no player takes the slots of all others."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from croupier.runtime.errors import LimitReached
from croupier_api.v1 import errors_pb2

RETRY_SECONDS = 5


class StreamLimiter:
    """Slots for open streams, limited in total and by player; its length is the number of slots in use."""

    def __init__(self, limit: int, player_limit: int) -> None:
        self._limit = limit
        self._player_limit = player_limit
        self._by_player: Counter[str] = Counter()
        self._in_use = 0

    def __len__(self) -> int:
        return self._in_use

    @contextmanager
    def slot(self, player_id: str) -> Iterator[None]:
        """Hold a slot until the end of the block; raises LimitReached if there is none."""
        if self._in_use >= self._limit:
            raise _too_many(f"too many streams: expected at most {self._limit} on this server")
        if self._by_player[player_id] >= self._player_limit:
            raise _too_many(f"too many streams: expected at most {self._player_limit} for one player")
        self._count(player_id, 1)
        try:
            yield
        finally:
            self._count(player_id, -1)

    def _count(self, player_id: str, change: int) -> None:
        self._in_use += change
        self._by_player[player_id] += change
        if not self._by_player[player_id]:
            del self._by_player[player_id]


def _too_many(message: str) -> LimitReached:
    return LimitReached(
        errors_pb2.ERROR_REASON_TOO_MANY_STREAMS,
        message,
        retry_after_seconds=RETRY_SECONDS,
        metadata={"limit": "streams"},
    )
