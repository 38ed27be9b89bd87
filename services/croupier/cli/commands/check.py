"""`croupier games GAME --check`: whether a game obeys the laws of all games, and what its walks have reached."""

import time
from collections.abc import Iterable

import typer
from rich.console import Console

from croupier.cli.faults import FAILED
from croupier.conformance import Checked, check_game
from croupier.games.interface import Game
from croupier_loadtest.judge.rules.registry import table_of


def show_check(console: Console, game: Game, seed: int | None) -> None:
    """Check a game, against its second implementation if there is one; exits 1 if a law fails.

    Each law is printed with its time as soon as it was checked, and then the rest of the report.
    """
    began = time.monotonic()

    def on_checked(checked: Checked) -> None:
        nonlocal began
        ended = time.monotonic()
        _print(console, checked.lines(ended - began))
        began = ended

    report = check_game(game, table_of(game.id, game.rules_version), seed, on_checked=on_checked)
    _print(console, report.last_lines())
    if not report.holds:
        raise typer.Exit(FAILED)


def _print(console: Console, lines: Iterable[str]) -> None:
    for line in lines:
        console.print(line, soft_wrap=True)
