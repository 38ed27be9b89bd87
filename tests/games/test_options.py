"""Options and numbers of seats of every game: what is not allowed is refused with its name, and what would be right."""

from collections.abc import Iterator
from typing import Any

import pytest

from croupier.games.catalogue import GAMES
from croupier.games.interface import InvalidOption, Option, resolve_options

SEATS = [
    pytest.param("thulla", range(2, 7), id="THU-PLAYERS-1"),
    pytest.param("one_ten", range(2, 9), id="110"),
    pytest.param("jossing", range(2, 9), id="JOS-PLAYERS-1 JOS-D6"),
    pytest.param("one_oh_one", range(2, 5), id="101"),
    pytest.param("solo", range(4, 5), id="SOLO-DECK-2"),
]
OPTIONS = [
    pytest.param("thulla", id="THU-OPT-1 THU-D19"),
    pytest.param("one_ten", id="110-OPT-1"),
    pytest.param("jossing", id="JOS-OPT-1"),
    pytest.param("one_oh_one", id="101-OPT-1"),
    pytest.param("solo", id="SOLO-OPT-1"),
]


@pytest.mark.parametrize(("name", "seats"), SEATS)
def test_other_numbers_of_seats_are_refused(name: str, seats: range) -> None:
    game = GAMES[name]
    assert game.seats == seats
    wrong: list[Any] = [-1, 0, 1, seats[0] - 1, seats[-1] + 1, float(seats[0]), str(seats[0]), True]
    for number in wrong:
        with pytest.raises(InvalidOption, match="seats, not") as refused:
            resolve_options(game, number, {})
        assert refused.value.option == "seats"


def wrong_values(option: Option) -> Iterator[Any]:
    """What an option cannot be: values beyond those allowed, and allowed ones of another type."""
    yield from (None, "nonsense", -1, [option.default])
    if option.type_name == "boolean":
        yield from (0, 1, "true", str(option.default))
    elif option.type_name == "integer":
        yield from (True, False, str(option.default), float(option.default), int(max(option.allowed)) + 1)
    else:
        yield from (0, 5, True, f"{option.default} ", "")


@pytest.mark.parametrize("name", OPTIONS)
def test_unknown_names_values_and_types_are_refused_and_the_defaults_are_not(name: str) -> None:
    game = GAMES[name]
    seats = game.seats[-1]
    options = game.options(seats)
    assert resolve_options(game, seats, {}) == {option.name: option.default for option in options}
    for option in options:
        for value in wrong_values(option):
            with pytest.raises(InvalidOption) as refused:
                resolve_options(game, seats, {option.name: value})
            assert refused.value.option == option.name
            assert str(refused.value) == f"{option.name} cannot be {value!r}: {option.allowed_text()}"
    with pytest.raises(InvalidOption) as refused:
        resolve_options(game, seats, {"nonsense": 1})
    assert refused.value.option == "nonsense"
