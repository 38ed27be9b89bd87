"""`croupier games`: the games with their seats, options and proposals, or the rules or the check of one."""

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
from croupier.cli.terminal.texts import language_of_environment
from croupier.engine.api.game_texts import OPTION_MEANING, PROPOSAL_MEANING, SUMMARY, texts_of
from croupier.games.interface import Game, seats_text
from croupier.games.registry import bots_of, installed_games
from croupier.runtime.translations import ENGLISH, language_of

WIDTH = 80


def games(
    game: Annotated[str | None, typer.Argument(metavar="[GAME]", help="One game, with all its options.")] = None,
    rules: Annotated[bool, typer.Option("--rules", help="Show the rules of GAME instead.")] = False,
    check: Annotated[bool, typer.Option("--check", help="Check whether GAME obeys the laws of all games.")] = False,
    seed: Annotated[int | None, typer.Option(metavar="N", help="Repeat a check with the tables of this seed.")] = None,
    language: arguments.Language = "",
) -> None:
    """Show the games, with seats and options, or the rules or the check of one."""
    console, tag = SafeConsole(), language or language_of_environment(os.environ)
    if seed is not None and not check:
        raise misused("--seed needs --check: croupier games GAME --check --seed N")
    if check:
        from croupier.cli.commands.check import show_check

        show_check(console, _game_for("--check", game), seed)
    elif rules:
        from croupier.cli.commands.rules import show_rules

        show_rules(console, _game_for("--rules", game), tag)
    elif game is None:
        show_games(console, language_of(tag))
    else:
        show_game(console, game, language_of(tag))


def _game_for(option: str, game: str | None) -> Game:
    if game is None:
        raise misused(f"{option} needs the name of a game: croupier games GAME {option}")
    return game_named(game)


def show_games(console: Console, language: str = ENGLISH) -> None:
    """Print every game in two lines, described in one of LANGUAGES."""
    for game in installed_games().values():
        summary = texts_of(game, language).text(SUMMARY, game.summary)
        console.print(_heading(game), Padding(Text(summary), (0, 0, 1, 2)), width=WIDTH)
    console.print("croupier games GAME shows the options of one, and with --rules its rules.", width=WIDTH)


def show_game(console: Console, game_id: str, language: str = ENGLISH) -> None:
    """Print a game with its options and proposals in one of LANGUAGES; raises CommandFault for an unknown one."""
    game = game_named(game_id)
    seats, texts = game.seats.stop - 1, texts_of(game, language)
    facts = [
        Text(texts.text(SUMMARY, game.summary)),
        Text(f"Bots: {', '.join(bots_of(game))}"),
        Text(f"Options with {seats} seats:"),
    ]
    console.print(_heading(game), Padding(Group(*facts), (0, 0, 0, 2)), width=WIDTH)
    for option in game.options(seats):
        allowed = f"{option.allowed.start} to {option.allowed.stop - 1}" if isinstance(option.allowed, range) else ""
        allowed = allowed or ", ".join(map(option_text, option.allowed))
        about = {"  type": option.type_name, "  default": option_text(option.default), "  allowed": allowed}
        text = Group(
            Text.assemble((option.name, "bold"), f" - {texts.text(OPTION_MEANING, option.meaning)}"),
            _two_columns(about),
        )
        console.print(Padding(text, (1, 0, 0, 4)), width=WIDTH)
    proposals = {name: texts.text(PROPOSAL_MEANING, meaning) for name, meaning in game.proposals.items()}
    _show_words(console, "Proposals that all seats can agree on (croupier play: propose NAME):", proposals)


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
