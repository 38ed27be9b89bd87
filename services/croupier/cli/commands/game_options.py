"""Commands that show the games and let bots play them; each imports its work when it is called."""

import asyncio
import secrets
from pathlib import Path
from typing import Annotated

import typer

from croupier.cli.arguments import Options
from croupier.cli.commands.games import show_game, show_games
from croupier.cli.faults import misused
from croupier.cli.options import game_named, read_options, seats_of, split_options
from croupier.cli.terminal.safe_console import SafeConsole
from croupier.games.registry import GAMES

MAX_TABLES = 500
USUAL_SEATS = 4
ALL_GAMES = "all"


def games(
    game: Annotated[str | None, typer.Argument(metavar="[GAME]", help="One game, with all its options.")] = None,
    rules: Annotated[bool, typer.Option("--rules", help="Show the rules of GAME instead.")] = False,
) -> None:
    """Show the games, with seats and options, or the rules of one."""
    console = SafeConsole()
    if rules:
        from croupier.cli.commands.rules import show_rules

        if game is None:
            raise misused("--rules needs the name of a game: croupier games GAME --rules")
        show_rules(console, game_named(game))
    elif game is None:
        show_games(console)
    else:
        show_game(console, game)


def demo(
    game: Annotated[str, typer.Option(help="Which game, or all; croupier games lists them.")] = "thulla",
    seats: Annotated[int | None, typer.Option(help="Players at each table; 4, or as near as the game allows.")] = None,
    tables: Annotated[int, typer.Option(min=1, max=MAX_TABLES, help="Tables, all played at once.")] = 1,
    option: Options = None,
    seed: Annotated[str | None, typer.Option(help="Fixes every decision and every shuffle.")] = None,
    replays: Annotated[Path | None, typer.Option(metavar="DIR", help="Folder to write <table_id>.jsonl to.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Only the last line.")] = False,
) -> None:
    """Play whole games by bots on services of their own, and let the judge of the load test check them."""
    from croupier.cli.commands.demo import demo as run_demo
    from croupier.cli.commands.demo_plan import DemoPlan

    if game == ALL_GAMES and (seats is not None or option):
        raise misused("--seats and --option are for one game: name it with --game, or leave them out")
    fixed = seed if seed is not None else secrets.token_hex()
    plans = []
    for chosen in GAMES.values() if game == ALL_GAMES else [game_named(game)]:
        count = seats_of(chosen, seats, usual=USUAL_SEATS)
        plans.append(
            DemoPlan(chosen.id, count, tables, read_options(chosen, count, split_options(option or ())), fixed)
        )
    asyncio.run(run_demo(plans, seed, replays, quiet, SafeConsole()))


def league(
    game: Annotated[str, typer.Option(help="Which game; croupier games lists them, all plays each.")] = "thulla",
    tables: Annotated[int, typer.Option(min=1, help="Tables to play, rounded up to whole deals.")] = 200,
    seed: Annotated[str, typer.Option(help="Fixes all cards and all decisions by chance.")] = "1",
    seats: Annotated[int | None, typer.Option(help="Seats at each table; 4, or as near as the game allows.")] = None,
    bots: Annotated[str, typer.Option(metavar="NAME,...", help="The bots, in turn until each seat is taken.")] = (
        "sensible,random"
    ),
    option: Options = None,
    thinking: Annotated[int, typer.Option(min=1, help="Milliseconds that a searching bot thinks.")] = 200,
    iterations: Annotated[
        int | None, typer.Option(min=1, help="Think for so many iterations instead, repeatably.")
    ] = None,
    processes: Annotated[int | None, typer.Option(min=1, help="Worker processes; one for each core.")] = None,
) -> None:
    """Let bots play against each other: each deal is played in every order of their seats."""
    from croupier.cli.commands.league import LeaguePlan, plans, run_league

    names, options = tuple(bots.split(",")), split_options(option or ())
    asked = LeaguePlan(game, seats or USUAL_SEATS, options, names, tables, seed, thinking, iterations)
    run_league(plans(asked, seats), processes, SafeConsole())
