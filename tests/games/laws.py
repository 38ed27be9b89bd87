"""What the laws share: random tables of every game, and every way in which a seat can try its luck."""

import itertools
import os
from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import NamedTuple

import pytest

from croupier.games.actions import PLAYS, Action, Bid, Call, Keep, NameTrump, Play, Swap
from croupier.games.catalogue import GAMES
from croupier.games.interface import CardChoice, Game, Legal, OptionValue, State
from tests.games.peculiar import PECULIAR
from tests.games.positions import WORDS
from tests.games.walk import Step, sample_options, walk

TABLES = int(os.environ.get("CROUPIER_TEST_TABLES") or 2)
"""How many random tables each law looks at for each number of seats, three times as many where there is but one."""
STEPS = 200
"""How many steps of a table the costly laws look at."""

every_table = pytest.mark.parametrize(
    ("game", "seats"),
    [pytest.param(game, seats, id=f"{game.id}-{seats}") for game in GAMES.values() for seats in game.seats],
)


class Fresh(NamedTuple):
    """A table before its first event; half of them are steered to what play by chance hardly ever reaches."""

    game: Game
    state: State
    options: dict[str, OptionValue]
    random: Random
    steered: bool

    def walk(self) -> Iterator[Step]:
        """The table's game by chance, to its end."""
        return walk(self.game, self.state, self.random, steered=self.steered)


def tables(game: Game, seats: int, seed: int) -> Iterator[Fresh]:
    """New tables with random options, which are printed: the last line is the table that failed."""
    for number in range(TABLES if len(game.seats) > 1 else TABLES * 3):
        random, steered = Random(f"{seed}/{number}"), number % 2 == 1
        options = sample_options(game, seats, random)
        if steered:
            options |= PECULIAR[game.id].steered_options(seats)
        print(f"table {number} of {game.id}, {seats} seats{', steered' * steered}: {options}")
        yield Fresh(game, game.new(seats, options), options, random, steered)


def steps(game: Game, seats: int, seed: int, most: int = STEPS) -> Iterator[tuple[Step, Random]]:
    """The first steps of random tables."""
    for table in tables(game, seats, seed):
        for step in itertools.islice(table.walk(), most):
            yield step, table.random


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
    """All that is listed, every card, cards close to a choice, and every verb with something or other."""
    some = tuple(random.sample(range(52), random.randrange(1, 6)))
    suit, value = random.randrange(4), random.randrange(53)
    odd: list[Action] = [*WORDS.values(), Play(value, suit), Keep(some, suit), Swap(some), Call(None), Call(value)]
    odd += [NameTrump(suit, do=True), NameTrump(suit, do=False), Play(-1), Play(53)]
    odd += [Bid(random.randrange(-5, 200)), Bid("nonsense")]
    return [*legal.actions, *PLAYS, *odd, *(near(choice, random) for choice in legal.choices for _ in range(6))]


def near(choice: CardChoice, random: Random) -> Action:
    """Cards of a choice, perhaps with one too many, one too few, one twice or one that is not among them."""
    count = random.randint(max(choice.fewest - 1, 0), min(choice.most + 1, len(choice.cards)))
    cards = random.sample(choice.cards, count)
    if cards and random.random() < 0.4:
        cards[random.randrange(count)] = random.choice([random.randrange(53), cards[0]])
    suit = random.choice([*choice.suits, None])
    return Keep(tuple(cards), suit) if choice.verb is Keep else Swap(tuple(cards))
