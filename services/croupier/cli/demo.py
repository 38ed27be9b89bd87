"""`croupier demo`: whole games by bots over the reference client, and whether every record of them agrees."""

import asyncio
import tempfile
import time
from collections.abc import Iterable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from croupier.cli.demo_evidence import Evidence, disagreements, gather_evidence, leaderboard, leaderboard_differences
from croupier.cli.demo_plan import DemoPlan
from croupier.cli.demo_players import Pace, Party, PlayedTable, Show, at_once, play_table, sign_in
from croupier.cli.demo_shows import chosen_show
from croupier.cli.faults import CommandFault
from croupier.cli.reach import endpoints_of
from croupier.cli.sheets import sheet_lines
from croupier.cli.supervisor import Manner, running_services, silent
from croupier.cli.words import Words, can_write_symbols
from croupier.games.catalogue import GAMES
from croupier_api.v1 import scoring_pb2
from croupier_client.endpoints import Endpoints

MOST_TOLD_DISAGREEMENTS = 20
LEADERBOARD_LINES = 5


@dataclass(frozen=True, slots=True)
class Played:
    """A demonstration that is over: each table with what is on record, the leaderboard, and what does not agree."""

    tables: tuple[PlayedTable, ...]
    evidence: tuple[Evidence, ...]
    leaderboard: tuple[scoring_pb2.LeaderboardLine, ...]
    disagreements: tuple[str, ...]


async def play_all(plan: DemoPlan, endpoints: Endpoints, show: Show, pace: Pace = at_once) -> Played:
    """Play every table of the plan at once and hold what the players saw against the services' records."""
    async with AsyncExitStack() as stack:
        parties = await sign_in(plan, endpoints, stack)
        tables = await asyncio.gather(*(play_table(plan, party, show, pace) for party in parties))
        evidence = await asyncio.gather(*map(_evidence, parties, tables))
        board = await leaderboard(parties[0].clients[0], plan.game)
    faults = [
        f"table {table.table_id}: {fault}"
        for table, found in zip(tables, evidence, strict=True)
        for fault in disagreements(table, found)
    ]
    faults += leaderboard_differences(board, tables)
    return Played(tuple(tables), tuple(evidence), tuple(board), tuple(faults))


async def _evidence(party: Party, table: PlayedTable) -> Evidence:
    return await gather_evidence(party.clients[0], table.table_id)


async def demo(
    plans: Sequence[DemoPlan], shuffle_seed: str | None, replays: Path | None, quiet: bool, console: Console
) -> None:
    """Play and show the plans one after the other, several in short; raises CommandFault saying what does not agree."""
    began = time.monotonic()
    note = silent if quiet else console.print
    manner = Manner(shuffle_seed=shuffle_seed, note=note, grace_seconds=0)
    faults: list[str] = []
    actions = 0
    with tempfile.TemporaryDirectory(prefix="croupier-demo-") as folder:
        async with running_services(Path(folder), manner=manner) as services:
            for plan in plans:
                played = await _played_and_shown(
                    plan, endpoints_of(services.addresses), console, quiet, in_short=len(plans) > 1
                )
                if replays is not None:
                    _write_replays(replays, played)
                faults += played.disagreements if len(plans) == 1 else _of_game(plan.game, played.disagreements)
                actions += sum(len(table.acknowledged) for table in played.tables)
    if faults:
        raise CommandFault(_told(faults))
    console.print(_last_line(plans, actions, time.monotonic() - began), highlight=False)


async def _played_and_shown(
    plan: DemoPlan, endpoints: Endpoints, console: Console, quiet: bool, in_short: bool
) -> Played:
    game = GAMES[plan.game]
    names = tuple(plan.player_name(1, seat) for seat in range(plan.seats))
    words = Words(names, can_write_symbols(console.encoding), game.names)
    if in_short and not quiet:
        console.print(f"\n{game.name} ({game.id}), {plan.seats} seats", style="bold", highlight=False)
    with chosen_show(console, words, game.name, plan.tables, quiet, in_short) as show:
        played = await play_all(plan, endpoints, show)
    if not quiet:
        _show_result(console, words, played)
        if not in_short:
            _show_leaderboard(console, played)
    return played


def _of_game(game: str, faults: Iterable[str]) -> list[str]:
    return [f"{game}, {fault}" for fault in faults]


def _write_replays(folder: Path, played: Played) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for table, found in zip(played.tables, played.evidence, strict=True):
            (folder / f"{table.table_id}.jsonl").write_text(found.replay, encoding="utf-8")
    except OSError as fault:
        raise CommandFault(f"the replays cannot be written to {folder}: {fault.strerror}") from None


def _show_result(console: Console, words: Words, played: Played) -> None:
    if len(played.tables) == 1:
        sheet = played.evidence[0].sheet
        console.print("\nScore sheet", *sheet_lines(words, sheet.rounds), sep="\n")
        console.print("\nRanking", *words.ranking(sheet.result.ranking), sep="\n", highlight=False, markup=False)


def _show_leaderboard(console: Console, played: Played) -> None:
    console.print("\nLeaderboard")
    for line in played.leaderboard[:LEADERBOARD_LINES]:
        counts = line.statistics
        text = f"{line.position:3}. {line.name:20} won {counts.games_won} of {counts.games_finished}"
        console.print(f"{text}, average place {counts.average_place:.1f}", highlight=False, markup=False)
    console.print()


def _told(faults: Sequence[str]) -> str:
    more = [f"and {len(faults) - MOST_TOLD_DISAGREEMENTS} more"] if len(faults) > MOST_TOLD_DISAGREEMENTS else []
    return "\n".join(["the records do not agree:", *faults[:MOST_TOLD_DISAGREEMENTS], *more])


def _last_line(plans: Sequence[DemoPlan], actions: int, seconds: float) -> str:
    (plan, *others) = plans
    tables = f"{plan.tables} table{'s' * (plan.tables != 1)}"
    what = f"{tables} of each of {len(plans)} games" if others else f"{tables} of {plan.game} with {plan.seats} seats"
    return f"{what}, {actions} actions, {seconds:.1f} s: all records agree"
