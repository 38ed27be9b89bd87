"""Options and numbers of seats of every game: what is not allowed is refused, and what is can be played.

What is refused is refused with its name, and with what would be right.
"""

import itertools
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from croupier.conformance.comparison import ComparedTable
from croupier.conformance.coverage import with_values
from croupier.conformance.walks import walk
from croupier.games.interface import Game, InvalidOption, Option, OptionValue, resolve_options
from croupier.games.registry import OWN_GAMES
from croupier_loadtest.judge.rules.registry import OWN_JUDGES
from tests.games.laws import every_judged_table


def wrong_values(option: Option) -> Iterator[Any]:
    """Return invalid values of an option: values beyond the allowed ones, and allowed ones of another type."""
    yield from (None, "nonsense", -1, [option.default])
    if option.type_name == "boolean":
        yield from (0, 1, "true", str(option.default))
    elif option.type_name == "integer":
        yield from (True, False, str(option.default), float(option.default), int(max(option.allowed)) + 1)
    else:
        yield from (0, 5, True, f"{option.default} ", "")


@pytest.mark.parametrize(
    ("name", "seats"),
    [
        pytest.param("thulla", range(2, 7), id="THU-PLAYERS-1 THU-OPT-1 THU-D19"),
        pytest.param("one_ten", range(2, 9), id="110-OPT-1"),
        pytest.param("jossing", range(2, 9), id="JOS-PLAYERS-1 JOS-OPT-1 JOS-D6"),
        pytest.param("one_oh_one", range(2, 5), id="101-OPT-1"),
        pytest.param("solo", range(4, 5), id="SOLO-DECK-2 SOLO-OPT-1"),
    ],
)
def test_other_seats_names_values_and_types_are_refused_and_the_defaults_are_not(name: str, seats: range) -> None:
    game = OWN_GAMES[name]
    assert game.seats == seats
    wrong: list[Any] = [-1, 0, 1, seats[0] - 1, seats[-1] + 1, float(seats[0]), str(seats[0]), True]
    for number in wrong:
        with pytest.raises(InvalidOption, match="invalid number of seats") as refused:
            resolve_options(game, number, {})
        assert refused.value.option == "seats"
    options = game.options(seats[-1])
    assert resolve_options(game, seats[-1], {}) == {option.name: option.default for option in options}
    for option in options:
        for value in wrong_values(option):
            with pytest.raises(InvalidOption) as refused:
                resolve_options(game, seats[-1], {option.name: value})
            assert refused.value.option == option.name
            assert str(refused.value) == f"invalid {option.name} {value!r}: expected {option.allowed_text()}"
    with pytest.raises(InvalidOption) as refused:
        resolve_options(game, seats[-1], {"nonsense": 1})
    assert refused.value.option == "nonsense"


def pairs_together(game: Game, seats: int, random: Random) -> Iterator[dict[str, OptionValue]]:
    """Yield options that contain every valid pair of listed values at least once; other values are random."""
    listed = [option for option in game.options(seats) if not isinstance(option.allowed, range)]
    together = set[tuple[tuple[str, OptionValue], ...]]()
    for one, other in itertools.combinations(listed, 2):
        for values in itertools.product(one.allowed, other.allowed):
            pair = tuple(zip((one.name, other.name), values, strict=True))
            if pair not in together and (options := with_values(game, seats, dict(pair), random)):
                together.update(itertools.combinations([(option.name, options[option.name]) for option in listed], 2))
                yield options


@pytest.mark.slow
@every_judged_table
def test_every_pair_of_values_is_played_to_the_end_as_by_the_judge(game: Game, seats: int, seed: int) -> None:
    random = Random(seed)
    for options in pairs_together(game, seats, random):
        print(f"{game.id}, {seats} seats: {options}")
        compared = ComparedTable.new(game, OWN_JUDGES[game.id], seats, options)
        for _, event, *_ in walk(game, compared.state, random):
            compared, _ = compared.apply(event)
        assert compared.table.ranking is not None
