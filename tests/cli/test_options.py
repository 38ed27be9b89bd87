"""Games, seats and options of command lines."""

import pytest

from croupier.cli.faults import MISUSED, CommandFault
from croupier.cli.options import described_options, game_named, option_text, read_options, seats_of, split_options
from croupier.engine.api.table_codec import encode_game
from croupier.games.interface import Game
from croupier.games.registry import OWN_GAMES

THULLA = OWN_GAMES["thulla"]


def test_options_get_their_type_of_the_game() -> None:
    texts = split_options(["best_of=3", "scoring=points"])
    assert read_options(THULLA, 4, texts) == {"best_of": 3, "scoring": "points"}


@pytest.mark.parametrize("game", OWN_GAMES.values(), ids=OWN_GAMES.keys())
def test_every_default_of_every_game_can_be_written_and_read(game: Game) -> None:
    for seats in game.seats:
        defaults = {option.name: option.default for option in game.options(seats)}
        texts = split_options(f"{name}={option_text(value)}" for name, value in defaults.items())
        assert read_options(game, seats, texts) == described_options(encode_game(game), texts) == defaults


def test_options_that_a_service_does_not_describe_are_left_to_it() -> None:
    texts = {"best_off": "3", "best_of": "three"}
    assert described_options(encode_game(THULLA), texts) == texts


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        (["best_off=3"], "invalid option 'best_off': expected one of first_dealer, .*best_of"),
        (["best_of=2"], "invalid best_of 2: expected an integer out of 1, 3, 5"),
        (["best_of=three"], "invalid best_of 'three': expected an integer out of 1, 3, 5"),
        (["stall_limit=1001"], "invalid stall_limit 1001: expected an integer from 0 to 1000"),
        (["best_of"], "write --option NAME=VALUE"),
        (["=3"], "write --option NAME=VALUE"),
        (["best_of=1", "best_of=3"], "best_of was given twice"),
    ],
)
def test_invalid_options_are_reported_with_the_allowed_values(pairs: list[str], message: str) -> None:
    with pytest.raises(CommandFault, match=message) as fault:
        read_options(THULLA, 4, split_options(pairs))
    assert fault.value.exit_code == MISUSED
    assert "\n" not in fault.value.message


def test_unknown_games_are_reported_with_the_known_ones() -> None:
    with pytest.raises(CommandFault, match=r"no game 'poker': choose one of .*thulla"):
        game_named("poker")


def test_the_default_number_of_seats_fits_the_game() -> None:
    assert seats_of(THULLA, None, usual=4) == 4
    assert seats_of(THULLA, None, usual=1) == 2
    assert seats_of(THULLA, None, usual=9) == 6
    assert seats_of(THULLA, 3, usual=4) == 3
    with pytest.raises(CommandFault, match="Thulla has 2 to 6 seats, not 7"):
        seats_of(THULLA, 7, usual=4)


@pytest.mark.parametrize("game", OWN_GAMES.values(), ids=OWN_GAMES.keys())
def test_a_game_is_found_by_id_and_display_name_in_any_case(game: Game) -> None:
    for text in (game.id, game.id.upper(), game.name, game.name.upper(), game.name.lower()):
        assert game_named(text) is game
