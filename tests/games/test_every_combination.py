"""One table of every combination of options that lists its values, at every number of seats; ranges are drawn.

Games with very many combinations play a part of them, drawn anew each time; CROUPIER_TEST_COMBINATIONS=all plays all.
"""

import itertools
import json
import os
from collections.abc import Iterable, Iterator
from random import Random

from croupier.games.actions import action_to_json
from croupier.games.catalogue import GAMES
from croupier.games.facts import SPECTATOR
from croupier.games.interface import Game, GameOver, InvalidOption, OptionValue, SeatActed, resolve_options
from tests.games.fold import fold, heard
from tests.games.laws import every_table
from tests.games.peculiar import PECULIAR
from tests.games.walk import drawn_values, walk

LONG_RANGE = 10
"""Of a range beyond this many values only the default and the lowest are drawn: the highest make endless tables."""

DRAWN = {} if os.environ.get("CROUPIER_TEST_COMBINATIONS") == "all" else {"one_oh_one": 80, "one_ten": 60, "solo": 100}
"""How many combinations are drawn from those of a game: enough to see nearly every three values together."""


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


@every_table
def test_every_combination_is_played_to_its_end_and_recounted(game: Game, seats: int, seed: int) -> None:
    random = Random(seed)
    played = 0
    for options in drawn_combinations(game, seats, random):
        print(f"{game.id}, {seats} seats: {options}")
        play_and_recount(game, seats, options, random)
        played += 1
    assert played > 0


def play_and_recount(game: Game, seats: int, options: dict[str, OptionValue], random: Random) -> None:
    """Play a table; a viewer's fold, the naive recount and the end have to be right."""
    state = game.new(seats, options)
    oracle = PECULIAR[game.id].oracle(seats, options)
    viewer = random.choice((*range(seats), SPECTATOR))
    folded = state.view(viewer)
    for before, event, after, facts in walk(game, state, random):
        if isinstance(event, SeatActed):
            oracle.action(event.seat, action_to_json(event.action))
        else:
            oracle.table_event(json.loads(json.dumps(before.event_record(event))))
        assert list(after.scores) == oracle.totals
        folded = fold(folded, heard(facts, viewer), viewer)
        assert folded == after.view(viewer), (viewer, event, facts)
        state = after
    assert isinstance(state.awaiting, GameOver)
    assert [list(group) for group in state.awaiting.ranking] == oracle.ranking
