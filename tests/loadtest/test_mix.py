"""What is played under load."""

from collections import Counter
from random import Random

import pytest

from croupier.games.catalogue import GAMES
from loadtest.mix import ALL_GAMES, KINDS, drawn, matchable, read_mix


def test_all_games_of_the_house_are_played_with_seats_and_bounds_that_they_know() -> None:
    assert set(KINDS) == set(GAMES)
    for kind in read_mix(ALL_GAMES):
        game = GAMES[kind.game]
        for seats in kind.seats:
            assert seats in game.seats
            assert set(kind.bounds) <= {option.name for option in game.options(seats)}


def test_a_mix_is_games_with_weights() -> None:
    assert [(kind.game, kind.weight) for kind in read_mix("thulla=2, solo")] == [("thulla", 2), ("solo", 1)]


@pytest.mark.parametrize("text", ["", "whist", "solo=", "solo=0", "solo=101", "solo=1.5", "solo,solo", "solo;thulla"])
def test_what_is_no_mix_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"there is no|is no weight|is named twice"):
        read_mix(text)


def test_games_are_drawn_by_their_weights() -> None:
    random = Random(1)
    times = Counter(drawn(read_mix("thulla=3,solo"), random).game for _ in range(400))
    assert set(times) == {"thulla", "solo"}
    assert 250 < times["thulla"] < 350


def test_wishes_are_for_games_that_end_by_their_usual_options() -> None:
    assert {kind.game for kind in matchable(read_mix(ALL_GAMES))} == {"thulla", "jossing", "solo"}
    assert [kind.game for kind in matchable(read_mix("one_ten"))] == ["one_ten"]
