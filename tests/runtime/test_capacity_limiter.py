"""Places are limited in all, by player and by network, and no network keeps others out."""

from dataclasses import replace
from functools import partial

import pytest

from croupier.runtime.admission.capacity_limiter import Capacity, CapacityLimiter
from croupier.runtime.errors import LimitReached, ServiceError
from croupier.runtime.identity.tokens import Caller

ANN, BEN, EVE = Caller("a", "Ann"), Caller("b", "Ben"), Caller("c", "Eve")


def of_network(number: int, player: Caller = ANN) -> Caller:
    return replace(player, id=f"{player.id} of {number}", network=f"192.0.{number}.0/24")


def refused(limiter: CapacityLimiter, caller: Caller) -> ServiceError:
    with pytest.raises(LimitReached) as refusal:
        limiter.acquire(caller)
    return refusal.value


def test_places_are_limited_and_released_once() -> None:
    limiter = CapacityLimiter("streams", Capacity(total=3, player=2, network=1))
    places = [limiter.acquire(ANN), limiter.acquire(ANN)]
    refusal = refused(limiter, ANN)
    assert refusal.message == "too many streams: expected at most 2 for one player"
    assert (refusal.reason_name, refusal.retry_after_seconds, refusal.limit) == ("TOO_MANY_STREAMS", 5, "streams")
    places.append(limiter.acquire(BEN))
    assert refused(limiter, EVE).message == "too many streams: expected at most 3 on this server"
    for _ in range(2):
        limiter.release(places[0])
    assert len(limiter) == 2
    places.append(limiter.acquire(EVE))
    for place in places:
        limiter.release(place)
    assert len(limiter) == 0


def test_a_network_has_a_share_and_callers_of_unknown_networks_have_no_such_limit() -> None:
    limiter = CapacityLimiter("streams", Capacity(total=100, player=100, network=2))
    for number in range(3):
        for _ in range(2):
            limiter.acquire(of_network(number))
        assert (
            refused(limiter, of_network(number, BEN)).message == "too many streams: expected at most 2 for one network"
        )
        limiter.acquire(ANN)


def test_a_network_gets_the_newest_places_of_the_one_with_most_until_it_has_nearly_as_many() -> None:
    limiter = CapacityLimiter("streams", Capacity(total=6, player=6, network=6))
    evicted: list[int] = []
    for number in range(6):
        limiter.acquire(of_network(1), evict=partial(evicted.append, number))
    for _ in range(3):
        limiter.acquire(of_network(2), evict=lambda: evicted.append(-1))
    assert evicted == [5, 4, 3]
    refused(limiter, of_network(2))
    limiter.acquire(of_network(3), evict=lambda: evicted.append(-2))
    assert (len(evicted), len(limiter)) == (4, 6)


def test_a_place_that_cannot_be_evicted_is_kept() -> None:
    limiter = CapacityLimiter("streams", Capacity(total=2, player=2, network=2))
    for _ in range(2):
        limiter.acquire(of_network(1))
    assert refused(limiter, of_network(2)).message == "too many streams: expected at most 2 on this server"
