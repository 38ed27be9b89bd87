"""What the laws share: random tables of every game, and every way in which a seat can try its luck."""

import os
from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import NamedTuple

import pytest

from croupier.games.actions import (
    PLAYS,
    Action,
    Bid,
    Call,
    Draw,
    Keep,
    Match,
    NameTrump,
    Pass,
    Play,
    Swap,
    ThrowDown,
    Yield,
)
from croupier.games.catalogue import GAMES
from croupier.games.interface import Game, Legal, OptionValue, State
from tests.games.walk import Step, sample_options, walk

TABLES = int(os.environ.get("CROUPIER_TEST_TABLES") or 3)
"""How many random tables each law looks at, for each game and number of seats."""
STEPS = 200
"""How many steps of a table the costly laws look at."""

every_table = pytest.mark.parametrize(
    ("game", "seats"),
    [pytest.param(game, seats, id=f"{game.id}-{seats}") for game in GAMES.values() for seats in game.seats],
)


class Fresh(NamedTuple):
    """A table before its first event."""

    state: State
    options: dict[str, OptionValue]
    random: Random


def tables(game: Game, seats: int, seed: int) -> Iterator[Fresh]:
    """New tables with random options, which are printed: the last line is the table that failed."""
    for number in range(TABLES):
        random = Random(f"{seed}/{number}")
        options = sample_options(game, seats, random)
        print(f"table {number} of {game.id}, {seats} seats: {options}")
        yield Fresh(game.new(seats, options), options, random)


def steps(game: Game, seats: int, seed: int, most: int = STEPS) -> Iterator[tuple[Step, Random]]:
    """The first steps of random tables."""
    for state, _, random in tables(game, seats, seed):
        for number, step in enumerate(walk(game, state, random)):
            if number == most:
                break
            yield step, random


def fits(legal: Legal, action: Action) -> bool:
    """Whether an action is listed, or fits a choice."""
    if action in legal.actions:
        return True
    if not isinstance(action, Keep | Swap):
        return False
    suit = action.trump if isinstance(action, Keep) else None
    for verb, cards, fewest, most, suits in legal.choices:
        named = suit in suits if suits else suit is None
        counted = fewest <= len(action.cards) <= most and not Counter(action.cards) - Counter(cards)
        if isinstance(action, verb) and named and counted:
            return True
    return False


def attempts(legal: Legal, random: Random) -> list[Action]:
    """All that is listed, every card, and every verb with something or other."""
    some = tuple(random.sample(range(52), random.randrange(1, 6)))
    suit, value = random.randrange(4), random.randrange(53)
    odd: list[Action] = [Play(value, suit), Pass(), Match(), Yield(), Draw(), ThrowDown(), Keep(), Keep(some, suit)]
    odd += [Swap(()), Swap(some), Call(None), Call(value), NameTrump(suit, do=True), NameTrump(suit, do=False)]
    odd += [Bid(random.randrange(-5, 200)), Bid("nonsense"), Play(-1), Play(53)]
    return [*legal.actions, *PLAYS, *odd]
