"""Games, seats and options as a command line names them."""

import pytest

from croupier.cli.faults import MISUSED, CommandFault
from croupier.cli.options import game_named, option_text, read_options, seats_of, split_options
from croupier.games.catalogue import GAMES
from croupier.games.interface import Game

THULLA = GAMES["thulla"]


def test_options_get_the_type_that_the_game_has_for_them() -> None:
    texts = split_options(["best_of=3", "scoring=points"])
    assert read_options(THULLA, 4, texts) == {"best_of": 3, "scoring": "points"}


@pytest.mark.parametrize("game", GAMES.values(), ids=GAMES.keys())
def test_every_default_of_every_game_can_be_written_and_read(game: Game) -> None:
    for seats in game.seats:
        defaults = {option.name: option.default for option in game.options(seats)}
        texts = split_options(f"{name}={option_text(value)}" for name, value in defaults.items())
        assert read_options(game, seats, texts) == defaults


@pytest.mark.parametrize(
    ("pairs", "said"),
    [
        (["best_off=3"], "no option 'best_off': it has start, .*best_of"),
        (["best_of=2"], "best_of cannot be 2: an integer out of 1, 3, 5 is allowed"),
        (["best_of=three"], "best_of cannot be 'three': an integer out of 1, 3, 5"),
        (["stall_limit=0"], "stall_limit cannot be 0: an integer from 1 to 1000"),
        (["best_of"], "write --option NAME=VALUE"),
        (["=3"], "write --option NAME=VALUE"),
        (["best_of=1", "best_of=3"], "best_of was given twice"),
    ],
)
def test_options_that_cannot_be_are_told_with_what_can(pairs: list[str], said: str) -> None:
    with pytest.raises(CommandFault, match=said) as fault:
        read_options(THULLA, 4, split_options(pairs))
    assert fault.value.exit_code == MISUSED
    assert "\n" not in fault.value.message


def test_unknown_games_are_told_with_the_known() -> None:
    with pytest.raises(CommandFault, match=r"no game 'poker': choose one of .*thulla"):
        game_named("poker")


def test_the_usual_number_of_seats_gives_way_to_the_game() -> None:
    assert seats_of(THULLA, None, usual=4) == 4
    assert seats_of(THULLA, None, usual=1) == 2
    assert seats_of(THULLA, None, usual=9) == 6
    assert seats_of(THULLA, 3, usual=4) == 3
    with pytest.raises(CommandFault, match="Thulla has 2 to 6 seats, not 7"):
        seats_of(THULLA, 7, usual=4)
