"""One table of every combination of options that lists its values, at every number of seats; ranges are drawn.

Games with very many combinations play a part of them, drawn anew each time; CROUPIER_TEST_COMBINATIONS=all plays all.
"""

import itertools
import os
from collections.abc import Iterable, Iterator
from random import Random

import pytest

from croupier.games.catalogue import GAMES
from croupier.games.interface import Game, InvalidOption, OptionValue, resolve_options
from tests.games.comparison import Both
from tests.games.fold import fold, heard
from tests.games.laws import every_table
from tests.games.walk import drawn_values, viewers, walk

LONG_RANGE = 10
"""Of a range beyond this many values only the default and the lowest are drawn: the highest make endless tables."""

PLAYS_ALL = os.environ.get("CROUPIER_TEST_COMBINATIONS") == "all"
DRAWN = {} if PLAYS_ALL else {"thulla": 50, "one_ten": 50, "jossing": 40, "one_oh_one": 70, "solo": 80}
"""How many combinations are drawn from those of a game: enough to see every two values together."""


def combinations(game: Game, seats: int, random: Random) -> Iterator[dict[str, OptionValue]]:
    """Every valid combination of the listed values, each with values of the ranges drawn anew."""
    options = game.options(seats)
    listed = [option for option in options if not isinstance(option.allowed, range)]
    for values in itertools.product(*(option.allowed for option in listed)):
        chosen = dict(zip((option.name for option in listed), values, strict=True))
        for option in options:
            if isinstance(allowed := drawn_values(game, option), range):
                few = allowed if len(allowed) <= LONG_RANGE else (option.default, allowed[0])
                chosen[option.name] = random.choice(few)
        try:
            yield resolve_options(game, seats, chosen)
        except InvalidOption:
            continue


def drawn_combinations(game: Game, seats: int, random: Random) -> list[dict[str, OptionValue]]:
    """All combinations, or as many of them as are drawn."""
    found = list(combinations(game, seats, random))
    return random.sample(found, min(len(found), DRAWN.get(game.id, len(found))))


def test_what_is_drawn_sees_every_two_values_together() -> None:
    for game in (GAMES[name] for name in DRAWN):
        seats, random = game.seats.start, Random(1)
        listed = {option.name for option in game.options(seats) if not isinstance(option.allowed, range)}
        everything = pairs(combinations(game, seats, random), listed)
        assert pairs(drawn_combinations(game, seats, random), listed) == everything


def pairs(
    chosen: Iterable[dict[str, OptionValue]], listed: set[str]
) -> set[tuple[tuple[str, OptionValue], tuple[str, OptionValue]]]:
    """Every two values of different options that are chosen together, but for the ranges."""
    found = ([item for item in options.items() if item[0] in listed] for options in chosen)
    return {pair for items in found for pair in itertools.combinations(items, 2)}


@pytest.mark.slow
@every_table
def test_every_combination_is_played_to_its_end_as_the_judge_plays_it(game: Game, seats: int, seed: int) -> None:
    random = Random(seed)
    chosen = drawn_combinations(game, seats, random)
    assert chosen
    for options in chosen:
        print(f"{game.id}, {seats} seats: {options}")
        play(Both.new(game, seats, options), game, random)


def play(both: Both, game: Game, random: Random) -> None:
    """Play a table; it has to be the judge's after each event, and a viewer's fold his view."""
    viewer = random.choice(viewers(len(both.state.scores)))
    folded = both.state.view(viewer)
    for _, event, *_ in walk(game, both.state, random):
        both, facts = both.apply(event)
        folded = fold(folded, heard(facts, viewer), viewer)
        assert folded == both.state.view(viewer), (viewer, event, facts)
    assert both.table.ranking is not None
