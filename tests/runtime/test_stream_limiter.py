"""Streams are limited in all and by player."""

import pytest

from croupier.runtime.errors import LimitReached
from croupier.runtime.stream_limiter import StreamLimiter


def test_slots_are_limited_and_released() -> None:
    limiter = StreamLimiter(limit=3, player_limit=2)
    with limiter.slot("a"):
        with limiter.slot("a"):
            with pytest.raises(LimitReached, match="at most 2 for one player") as refusal, limiter.slot("a"):
                pass
            assert (refusal.value.reason_name, refusal.value.retry_after_seconds) == ("TOO_MANY_STREAMS", 5)
            full = pytest.raises(LimitReached, match="at most 3 on this server")
            with limiter.slot("b"), full as refusal, limiter.slot("c"):
                pass
            assert (refusal.value.reason_name, refusal.value.retry_after_seconds) == ("TOO_MANY_STREAMS", 5)
        with limiter.slot("a"), limiter.slot("b"):
            assert len(limiter) == 3
    assert len(limiter) == 0
