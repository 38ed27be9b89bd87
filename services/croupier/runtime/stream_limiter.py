"""A limit of open streams, so that no player and no network takes the slots of all others."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from croupier.runtime.errors import LimitReached
from croupier.runtime.identity import Caller
from croupier.runtime.network import WIDE_NETWORK_SHARE
from croupier_api.v1 import errors_pb2

RETRY_SECONDS = 5


class StreamLimiter:
    """Slots for open streams, limited in total, by player and by network; its length is the number of slots in use.

    `name` names the limit in metrics, logs and errors.
    """

    def __init__(self, name: str, limit: int, player_limit: int, network_limit: int) -> None:
        self._name = name
        self._limit = limit
        self._player_limit = player_limit
        self._network_limit = network_limit
        self._in_use: Counter[tuple[str, str]] = Counter()

    def __len__(self) -> int:
        return self._in_use["on this server", ""]

    @contextmanager
    def slot(self, caller: Caller) -> Iterator[None]:
        """Hold a slot until the end of the block; raises LimitReached if there is none."""
        limits = self._limits(caller)
        for key, limit in limits.items():
            if self._in_use[key] >= limit:
                whose, _ = key
                raise LimitReached(
                    errors_pb2.ERROR_REASON_TOO_MANY_STREAMS,
                    f"too many streams: expected at most {limit} {whose}",
                    retry_after_seconds=RETRY_SECONDS,
                    metadata={"limit": self._name},
                )
        self._in_use.update(limits.keys())
        try:
            yield
        finally:
            self._in_use.subtract(limits.keys())
            for key in limits:
                if not self._in_use[key]:
                    del self._in_use[key]

    def _limits(self, caller: Caller) -> dict[tuple[str, str], int]:
        """Return the limits that hold for a caller, with the words for errors and the key of each."""
        limits = {("on this server", ""): self._limit, ("for one player", caller.id): self._player_limit}
        if caller.network is not None:
            limits["for one network", caller.network.id] = self._network_limit
            if caller.network.wide_id:
                limits["for one network", caller.network.wide_id] = WIDE_NETWORK_SHARE * self._network_limit
        return limits
