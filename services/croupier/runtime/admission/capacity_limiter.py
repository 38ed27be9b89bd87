"""A limit of what is in use at a time, so that no player and no network takes the share of all others."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from croupier.runtime.errors import LimitReached
from croupier.runtime.identity.tokens import Caller
from croupier_api.v1.errors_pb2 import ERROR_REASON_TOO_MANY_STREAMS, ErrorReason

RETRY_SECONDS = 5


@dataclass(frozen=True, slots=True)
class Capacity:
    """How much may be in use on one server: in total, by one player, and by one network."""

    total: int
    player: int
    network: int


@dataclass(eq=False, slots=True)
class Place:
    """What a caller uses, until it is released; `evict` is called if another network gets it."""

    player: str
    network: str
    amount: int
    evict: Callable[[], None] | None


@dataclass(eq=False, slots=True)
class CapacityLimiter:
    """What is in use of something; its length is the amount in use.

    `name` names the limit in metrics, logs and errors, `noun` what is counted in messages. If all of it is in use, a
    network with less than the greatest share gets the newest place of the network with the greatest.
    """

    name: str
    capacity: Capacity
    noun: str = "streams"
    reason: ErrorReason.ValueType = ERROR_REASON_TOO_MANY_STREAMS
    _total: int = 0
    _players: Counter[str] = field(default_factory=Counter)
    _networks: Counter[str] = field(default_factory=Counter)
    _evictable: dict[str, dict[Place, None]] = field(default_factory=dict)

    def __len__(self) -> int:
        return self._total

    def acquire(self, caller: Caller, amount: int = 1, evict: Callable[[], None] | None = None) -> Place:
        """Take an amount, to be released once; raises LimitReached if there is too little.

        `evict` has to end the use of a place soon; it is released at once, and a later release changes nothing.
        """
        place = Place(caller.id, caller.network, amount, evict)
        limit = self.capacity
        if place.player and self._players[place.player] + amount > limit.player:
            raise self._refusal(limit.player, "for one player")
        if place.network and self._networks[place.network] + amount > limit.network:
            raise self._refusal(limit.network, "for one network")
        if self._total + amount > limit.total and not self._evict_for(place):
            raise self.evicted()
        self._count(place, amount)
        if evict is not None:
            self._evictable.setdefault(place.network, {})[place] = None
        return place

    def release(self, place: Place) -> None:
        """Give a place back."""
        if place.amount:
            self._count(place, -place.amount)
            place.amount = 0
            if place.evict is not None:
                places = self._evictable[place.network]
                del places[place]
                if not places:
                    del self._evictable[place.network]

    @asynccontextmanager
    async def held(self, caller: Caller) -> AsyncIterator[None]:
        """Hold a place for the time of the block; raises LimitReached if there is none, or another network gets it."""
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(None) as end:
                place = self.acquire(caller, evict=lambda: end.reschedule(loop.time()))
                try:
                    yield
                finally:
                    self.release(place)
        except TimeoutError:
            if not end.expired():
                raise
            raise self.evicted() from None

    def evicted(self) -> LimitReached:
        """Return the error of a caller whose place another network gets, or for whom there is none."""
        return self._refusal(self.capacity.total, "on this server")

    def _evict_for(self, place: Place) -> bool:
        """Evict the newest place of the network with most, unless the place's own network would then have as many."""
        places = max(self._evictable.values(), key=len, default={})
        if len(places) <= self._networks[place.network] + place.amount:
            return False
        newest = next(reversed(places))
        self.release(newest)
        if newest.evict is not None:
            newest.evict()
        return True

    def _count(self, place: Place, amount: int) -> None:
        self._total += amount
        for counter, key in ((self._players, place.player), (self._networks, place.network)):
            counter[key] += amount
            if not counter[key]:
                del counter[key]

    def _refusal(self, limit: int, whose: str) -> LimitReached:
        return LimitReached(
            self.reason,
            f"too many {self.noun}: expected at most {limit} {whose}",
            retry_after_seconds=RETRY_SECONDS,
            metadata={"limit": self.name},
        )
