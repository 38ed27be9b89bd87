"""Matches between bots at many tables, without any service: `python -m benchmarks.league --help`."""

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing import get_context
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from benchmarks.matches import EndlessTable, League, Outcome, Standing, comparisons, seatings, standings
from croupier.cli.arguments import Options
from croupier.cli.faults import CommandFault, misused
from croupier.cli.options import game_named, read_options, seats_of, split_options
from croupier.cli.terminal.safe_console import SafeConsole
from croupier.games.interface import Bot, Game, resolve_options
from croupier.games.registry import bots_of, installed_games
from croupier.games.search import SearchBot
from croupier.runtime.server.child_process import end_with_parent

EVERY_GAME = "all"
USUAL_SEATS = 4


@dataclass(frozen=True, slots=True)
class LeaguePlan:
    """The league to play, as plain values for other processes.

    `tables` are rounded up to whole deals. Searching bots think for `thinking_milliseconds`, or so many
    `iterations` if they are given, which makes them repeatable.
    """

    game: str
    seats: int
    options: Mapping[str, str]
    bots: tuple[str, ...]
    tables: int
    seed: str
    thinking_milliseconds: int
    iterations: int | None


def plans(asked: LeaguePlan, seats: int | None) -> list[LeaguePlan]:
    """Return one plan for a game, or one for each game with the options that it has; raises CommandFault."""
    if asked.game != EVERY_GAME:
        return [_checked(replace(asked, seats=seats_of(game_named(asked.game), seats, USUAL_SEATS)))]
    fitted = [_fitted(asked, game, seats or USUAL_SEATS) for game in installed_games().values()]
    for name in asked.options:
        if not any(name in plan.options for plan in fitted):
            raise misused(f"no game has an option {name!r}: croupier games GAME shows those of a game")
    return [_checked(plan) for plan in fitted]


def _fitted(asked: LeaguePlan, game: Game, usual: int) -> LeaguePlan:
    seats = seats_of(game, None, usual)
    known = {option.name for option in game.options(seats)}
    options = {name: text for name, text in asked.options.items() if name in known}
    return replace(asked, game=game.id, seats=seats, options=options)


def _checked(plan: LeaguePlan) -> LeaguePlan:
    known = bots_of(game_named(plan.game))
    for name in plan.bots:
        if name not in known:
            raise misused(f"{plan.game} has no bot {name!r}: choose out of {', '.join(known)}")
    if not 1 <= len(plan.bots) <= plan.seats:
        raise misused(f"{len(plan.bots)} bots do not fit {plan.seats} seats: name 1 to {plan.seats}")
    league_of(plan)
    return plan


def league_of(plan: LeaguePlan) -> League:
    """Return the league of a plan; raises CommandFault for invalid options."""
    game = game_named(plan.game)
    options = resolve_options(game, plan.seats, read_options(game, plan.seats, plan.options))
    bots = {name: _ready(bots_of(game)[name], plan) for name in plan.bots}
    return League(game, options, bots, seatings(plan.bots, plan.seats), plan.seed)


def _ready(bot: Bot, plan: LeaguePlan) -> Bot:
    if not isinstance(bot, SearchBot):
        return bot
    if plan.iterations is not None:
        return replace(bot, max_iterations=plan.iterations)
    return replace(bot, thinking_milliseconds=plan.thinking_milliseconds).timed(cpu_milliseconds)


def cpu_milliseconds() -> int:
    """Return the CPU time of this thread: a busy machine takes no thinking time away."""
    return time.thread_time_ns() // 1_000_000


def run_league(asked: Sequence[LeaguePlan], processes: int | None, console: Console) -> None:
    """Play and print one league after the other; raises CommandFault for a table without end."""
    for plan in asked:
        league = league_of(plan)
        deals = -(-plan.tables // len(league.seatings))
        try:
            outcomes = list(_played(plan, deals, processes or os.cpu_count() or 1))
        except EndlessTable as fault:
            raise CommandFault(f"{fault}: bound it with an option of the game, such as max_rounds") from None
        _show(plan, league, outcomes, console)


def _played(plan: LeaguePlan, deals: int, processes: int) -> Iterator[tuple[Outcome, ...]]:
    """Yield the outcomes deal by deal, in the same order for any number of processes."""
    if processes == 1:
        yield from map(league_of(plan).deal, range(deals))
        return
    # Not forked: the children of a process in which gRPC runs may not work.
    with ProcessPoolExecutor(processes, get_context("spawn"), end_with_parent) as pool:
        yield from pool.map(partial(_play_deal, plan), range(deals))


def _play_deal(plan: LeaguePlan, number: int) -> tuple[Outcome, ...]:
    return league_of(plan).deal(number)


def _show(plan: LeaguePlan, league: League, outcomes: Sequence[Sequence[Outcome]], console: Console) -> None:
    count, orders = len(outcomes), len(league.seatings)
    console.print(
        f"{league.game.name}, {plan.seats} seats: {count} deals, each in {orders} seatings, "
        f"{count * orders} tables; seed {plan.seed}",
        soft_wrap=True,
    )
    ranked = standings(outcomes)
    console.print(_lines(ranked))
    for sentence in comparisons(ranked):
        console.print(sentence, soft_wrap=True)


def _lines(ranked: Sequence[Standing]) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column("bot")
    for title in ("games", "average place", "first places", "average points"):
        table.add_column(title, justify="right")
    for bot, games, place, margin, first, points in ranked:
        interval = "" if margin is None else f" ± {margin:.3f}"
        table.add_row(bot, str(games), f"{place:.3f}{interval}", f"{first:.1%}", f"{points:.2f}")
    return table


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
    names, options = tuple(bots.split(",")), split_options(option or ())
    asked = LeaguePlan(game, seats or USUAL_SEATS, options, names, tables, seed, thinking, iterations)
    run_league(plans(asked, seats), processes, SafeConsole())


def main() -> None:
    """Play the leagues that the command line asks for."""
    try:
        typer.run(league)
    except CommandFault as fault:
        fault.end("league")


if __name__ == "__main__":
    main()
