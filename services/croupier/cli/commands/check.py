"""`croupier games GAME --check`: whether a game obeys the laws of all games, and what its walks have reached."""

import typer
from rich.console import Console

from croupier.cli.faults import FAILED
from croupier.conformance import check_game
from croupier.games.interface import Game
from croupier_loadtest.judge.rules.registry import table_of


def show_check(console: Console, game: Game, seed: int | None) -> None:
    """Check a game, against its second implementation if there is one, and print the report; exits 1 if a law fails."""
    report = check_game(game, table_of(game.id, game.rules_version), seed)
    for line in report.lines():
        console.print(line, soft_wrap=True)
    if not report.holds:
        raise typer.Exit(FAILED)
