"""`croupier demo` as a command line; its work is imported when it is called."""

import asyncio
import secrets
from pathlib import Path
from typing import Annotated

import typer

from croupier.cli.arguments import Options
from croupier.cli.faults import CommandFault, misused
from croupier.cli.options import game_named, read_options, seats_of, split_options
from croupier.cli.terminal.safe_console import SafeConsole
from croupier.games.registry import installed_games

MAX_TABLES = 500
USUAL_SEATS = 4
ALL_GAMES = "all"


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
    from croupier_loadtest.demo.demo import demo as run_demo
    from croupier_loadtest.demo.players import DemoPlan
    from croupier_loadtest.judge.rules.registry import InvalidJudges, judges

    try:
        judges()
    except InvalidJudges as fault:
        raise CommandFault(str(fault)) from None
    if game == ALL_GAMES and (seats is not None or option):
        raise misused("--seats and --option are for one game: name it with --game, or leave them out")
    fixed = seed if seed is not None else secrets.token_hex()
    plans = []
    for chosen in installed_games().values() if game == ALL_GAMES else [game_named(game)]:
        count = seats_of(chosen, seats, usual=USUAL_SEATS)
        plans.append(
            DemoPlan(chosen.id, count, tables, read_options(chosen, count, split_options(option or ())), fixed)
        )
    asyncio.run(run_demo(plans, seed, replays, quiet, SafeConsole()))
