"""A limit of what is in use at a time, so that no player and no network takes the share of all others."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from croupier.runtime.errors import LimitReached
from croupier.runtime.identity import Caller
from croupier.runtime.network import WIDE_NETWORK_SHARE
from croupier_api.v1.errors_pb2 import ERROR_REASON_TOO_MANY_STREAMS, ErrorReason

RETRY_SECONDS = 5


class CapacityLimiter:
    """What is in use of something, limited in total, by player and by network; its length is the amount in use.

    `name` names the limit in metrics, logs and errors, `noun` what is counted in messages.
    """

    def __init__(
        self,
        name: str,
        limit: int,
        player_limit: int,
        network_limit: int,
        *,
        noun: str = "streams",
        reason: ErrorReason.ValueType = ERROR_REASON_TOO_MANY_STREAMS,
    ) -> None:
        self._name = name
        self._limit = limit
        self._player_limit = player_limit
        self._network_limit = network_limit
        self._noun = noun
        self._reason = reason
        self._in_use: Counter[tuple[str, str]] = Counter()

    def __len__(self) -> int:
        return self._in_use["on this server", ""]

    @contextmanager
    def slot(self, caller: Caller, amount: int = 1) -> Iterator[None]:
        """Hold an amount until the end of the block; raises LimitReached if there is too little."""
        release = self.acquire(caller, amount)
        try:
            yield
        finally:
            release()

    def acquire(self, caller: Caller, amount: int = 1) -> Callable[[], None]:
        """Take an amount; returns the function that gives it back, once. Raises LimitReached if there is too little."""
        limits = self._limits(caller)
        for key, limit in limits.items():
            if self._in_use[key] + amount > limit:
                whose, _ = key
                raise LimitReached(
                    self._reason,
                    f"too many {self._noun}: expected at most {limit} {whose}",
                    retry_after_seconds=RETRY_SECONDS,
                    metadata={"limit": self._name},
                )
        amounts = dict.fromkeys(limits, amount)
        self._in_use.update(amounts)
        return partial(self._release, amounts)

    def _release(self, amounts: dict[tuple[str, str], int]) -> None:
        self._in_use.subtract(amounts)
        for key in amounts:
            if not self._in_use[key]:
                del self._in_use[key]

    def _limits(self, caller: Caller) -> dict[tuple[str, str], int]:
        """Return the limits that hold for a caller, with the words for errors and the key of each."""
        limits = {("on this server", ""): self._limit}
        if caller.id:
            limits["for one player", caller.id] = self._player_limit
        if caller.network is not None:
            limits["for one network", caller.network.id] = self._network_limit
            if caller.network.wide_id:
                limits["for one network", caller.network.wide_id] = WIDE_NETWORK_SHARE * self._network_limit
        return limits
