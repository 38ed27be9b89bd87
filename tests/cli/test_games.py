"""What can be played, as people read it."""

from io import StringIO

import pytest
from rich.console import Console

from croupier.cli.games import show_game, show_games
from croupier.games.catalogue import GAMES


def test_the_list_has_every_game_with_its_seats() -> None:
    console = Console(file=StringIO(), width=100)
    show_games(console)
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    for game in GAMES.values():
        assert f"{game.id} - {game.name}, {game.seats.start} to {game.seats.stop - 1} seats" in shown
    assert all(len(line) <= 80 for line in shown.splitlines())


@pytest.mark.parametrize("game_id", GAMES)
def test_a_game_is_shown_with_every_option(game_id: str) -> None:
    console = Console(file=StringIO(), width=100)
    show_game(console, game_id)
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    assert all(len(line) <= 80 for line in shown.splitlines())
    told = " ".join(shown.split())
    for option in GAMES[game_id].options(GAMES[game_id].seats.stop - 1):
        default = str(option.default).lower() if isinstance(option.default, bool) else option.default
        assert f"{option.name} - {option.meaning} type {option.type_name} default {default} allowed" in told
