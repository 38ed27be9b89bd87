"""Streams are limited in all, by player and by network."""

from contextlib import ExitStack
from dataclasses import replace

import pytest

from croupier.runtime.capacity_limiter import CapacityLimiter
from croupier.runtime.errors import LimitReached, ServiceError
from croupier.runtime.identity import Caller
from croupier.runtime.network import Network

ANN, BEN, EVE = Caller("a", "Ann"), Caller("b", "Ben"), Caller("c", "Eve")


def refused(limiter: CapacityLimiter, caller: Caller) -> ServiceError:
    with pytest.raises(LimitReached) as refusal, limiter.slot(caller):
        pass
    return refusal.value


def test_slots_are_limited_and_released() -> None:
    limiter = CapacityLimiter("tickets", limit=3, player_limit=2, network_limit=1)
    with limiter.slot(ANN):
        with limiter.slot(ANN):
            refusal = refused(limiter, ANN)
            assert refusal.message == "too many streams: expected at most 2 for one player"
            assert (refusal.reason_name, refusal.retry_after_seconds) == ("TOO_MANY_STREAMS", 5)
            assert refusal.limit == "tickets"
            with limiter.slot(BEN):
                assert refused(limiter, EVE).message == "too many streams: expected at most 3 on this server"
        with limiter.slot(ANN), limiter.slot(BEN):
            assert len(limiter) == 3
    assert len(limiter) == 0


def test_a_network_has_a_share_and_the_wide_one_four_of_them() -> None:
    limiter = CapacityLimiter("streams", limit=100, player_limit=100, network_limit=2)
    near = [replace(ANN, network=Network(f"{number:016x}", "f" * 16)) for number in range(9)]
    with ExitStack() as slots:
        for caller in near[:4]:
            for _ in range(2):
                slots.enter_context(limiter.slot(caller))
            assert refused(limiter, caller).message == "too many streams: expected at most 2 for one network"
        assert refused(limiter, near[4]).message == "too many streams: expected at most 8 for one network"
        # Others are not affected, nor is a caller whose network is not known.
        for caller in (replace(BEN, network=Network("e" * 16)), ANN):
            slots.enter_context(limiter.slot(caller))
        assert len(limiter) == 10
    assert len(limiter) == 0
    with limiter.slot(near[4]), limiter.slot(near[0]):
        assert len(limiter) == 2
