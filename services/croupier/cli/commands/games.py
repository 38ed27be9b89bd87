"""`croupier games`: the games with their seats, options and proposals, or the rules of one."""

import os
from collections.abc import Mapping
from typing import Annotated

import typer
from rich.console import Console, Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from croupier.cli import arguments
from croupier.cli.faults import misused
from croupier.cli.options import game_named, option_text
from croupier.cli.terminal.safe_console import SafeConsole
from croupier.games.interface import Game, seats_text
from croupier.games.registry import GAMES, bots_of

WIDTH = 80


def games(
    game: Annotated[str | None, typer.Argument(metavar="[GAME]", help="One game, with all its options.")] = None,
    rules: Annotated[bool, typer.Option("--rules", help="Show the rules of GAME instead, in --language.")] = False,
    language: arguments.Language = "",
) -> None:
    """Show the games, with seats and options, or the rules of one."""
    console = SafeConsole()
    if rules:
        from croupier.cli.commands.rules import show_rules
        from croupier.cli.terminal.texts import language_of_environment

        if game is None:
            raise misused("--rules needs the name of a game: croupier games GAME --rules")
        show_rules(console, game_named(game), language or language_of_environment(os.environ))
    elif game is None:
        show_games(console)
    else:
        show_game(console, game)


def show_games(console: Console) -> None:
    """Print every game in two lines."""
    for game in GAMES.values():
        console.print(_heading(game), Padding(Text(game.summary), (0, 0, 1, 2)), width=WIDTH)
    console.print("croupier games GAME shows the options of one, and with --rules its rules.", width=WIDTH)


def show_game(console: Console, game_id: str) -> None:
    """Print a game with its options and proposals; raises CommandFault for an unknown one."""
    game = game_named(game_id)
    seats = game.seats.stop - 1
    facts = [
        Text(game.summary),
        Text(f"Bots: {', '.join(bots_of(game))}"),
        Text(f"Options with {seats} seats:"),
    ]
    console.print(_heading(game), Padding(Group(*facts), (0, 0, 0, 2)), width=WIDTH)
    for option in game.options(seats):
        allowed = f"{option.allowed.start} to {option.allowed.stop - 1}" if isinstance(option.allowed, range) else ""
        allowed = allowed or ", ".join(map(option_text, option.allowed))
        about = {"  type": option.type_name, "  default": option_text(option.default), "  allowed": allowed}
        text = Group(Text.assemble((option.name, "bold"), f" - {option.meaning}"), _two_columns(about))
        console.print(Padding(text, (1, 0, 0, 4)), width=WIDTH)
    _show_words(console, "Proposals that all seats can agree on (croupier play: propose NAME):", game.proposals)


def _show_words(console: Console, title: str, words: Mapping[str, str]) -> None:
    if words:
        console.print(Padding(Text(title), (1, 0, 0, 2)), width=WIDTH)
        console.print(Padding(_two_columns(words), (0, 0, 0, 4)), width=WIDTH)


def _two_columns(rows: Mapping[str, str]) -> Table:
    grid = Table.grid(padding=(0, 1))
    grid.add_column(no_wrap=True, style="dim")
    grid.add_column()
    for name, meaning in rows.items():
        grid.add_row(name, meaning)
    return grid


def _heading(game: Game) -> Text:
    heading = Text.assemble((game.id, "bold"), f" - {game.name}, " if game.name != game.id else ", ")
    return heading + Text(seats_text(game))
