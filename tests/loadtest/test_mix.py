"""The mix of games of a load test."""

from collections import Counter
from random import Random

import pytest

from croupier.games.registry import GAMES
from loadtest.mix import ALL_GAMES, DEFAULT_MIX, draw_entry, matchable, read_mix


def test_the_default_mix_has_all_games_with_valid_seats_and_options() -> None:
    assert set(DEFAULT_MIX) == set(GAMES)
    for entry in read_mix(ALL_GAMES):
        game = GAMES[entry.game]
        for seats in entry.seats:
            assert seats in game.seats
            assert set(entry.bounds) <= {option.name for option in game.options(seats)}


def test_a_mix_is_games_with_weights() -> None:
    assert [(entry.game, entry.weight) for entry in read_mix("thulla=2, solo")] == [("thulla", 2), ("solo", 1)]


@pytest.mark.parametrize("text", ["", "whist", "solo=", "solo=0", "solo=101", "solo=1.5", "solo,solo", "solo;thulla"])
def test_an_invalid_mix_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"unknown name|invalid weight|duplicate name"):
        read_mix(text)


def test_games_are_drawn_by_their_weights() -> None:
    random = Random(1)
    times = Counter(draw_entry(read_mix("thulla=3,solo"), random).game for _ in range(400))
    assert set(times) == {"thulla", "solo"}
    assert 250 < times["thulla"] < 350


def test_quick_match_has_the_games_that_are_short_by_default() -> None:
    assert {entry.game for entry in matchable(read_mix(ALL_GAMES))} == {"thulla", "jossing", "solo"}
    assert [entry.game for entry in matchable(read_mix("one_ten"))] == ["one_ten"]
