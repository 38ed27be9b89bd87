"""Places for streams, in all and for one player."""

import pytest

from croupier.runtime.errors import LimitReached
from croupier.runtime.stream_places import StreamPlaces


def test_places_are_bounded_and_given_back() -> None:
    places = StreamPlaces(limit=3, player_limit=2)
    with places.occupied_by("a"):
        with places.occupied_by("a"):
            with pytest.raises(LimitReached) as refusal, places.occupied_by("a"):
                pass
            assert refusal.value.reason == "PLAYER_STREAMS"
            with places.occupied_by("b"), pytest.raises(LimitReached) as refusal, places.occupied_by("c"):
                pass
            assert refusal.value.reason == "STREAMS"
        with places.occupied_by("a"), places.occupied_by("b"):
            assert len(places) == 3
    assert len(places) == 0
