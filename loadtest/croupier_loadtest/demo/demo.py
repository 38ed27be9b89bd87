"""`croupier demo`: whole games by bots over the reference client, each table judged by what its players received."""

import asyncio
import tempfile
import time
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path

from rich.console import Console
from rich.console import Group as Lines
from rich.live import Live
from rich.text import Text

from croupier.cli.faults import CommandFault
from croupier.cli.launcher.supervisor import SupervisorSettings, running_services, silent
from croupier.cli.services import endpoints_of
from croupier.cli.terminal.facts import fact_lines
from croupier.cli.terminal.screen import DisplayedTable, table_lines
from croupier.cli.terminal.sheets import sheet_lines
from croupier.cli.terminal.words import Words, can_write_symbols, words_of
from croupier.engine.api.table_codec import encode_game
from croupier.games.registry import installed_games
from croupier_api.v1 import engine_pb2, scoring_pb2
from croupier_client.aio_table import AsyncTable
from croupier_client.endpoints import Endpoints
from croupier_loadtest.demo.players import DemoPlan, Group, Show, play_table, signed_in
from croupier_loadtest.judge.standings import check_standings
from croupier_loadtest.judge.verdict import judge
from croupier_loadtest.judge.violations import Invariant, Violation
from croupier_loadtest.measures import RULES_NOT_JUDGED
from croupier_loadtest.players.described_games import read_game
from croupier_loadtest.process.standings import read_leaderboard
from croupier_loadtest.record import TableRecord

STORY_LINES = 5
FRAMES_PER_SECOND = 10
REPORTS = 10
MAX_REPORTED = 5
"""Violations of each invariant that are reported one by one."""
LEADERBOARD_LINES = 5


@contextmanager
def chosen_show(console: Console, words: Words, title: str, tables: int, quiet: bool, in_short: bool) -> Iterator[Show]:
    """Open the show that fits: live on a terminal, plain lines elsewhere, but without the story if `in_short`."""
    is_plain = not console.is_terminal or console.is_dumb_terminal
    if quiet or (in_short and is_plain):
        yield lambda _tables, _update: None
    elif is_plain:
        yield partial(_tell, console, words) if tables == 1 else _count(console, tables, None)
    else:
        with Live(console=console, refresh_per_second=FRAMES_PER_SECOND) as live:
            yield _picture(live, words, title) if tables == 1 else _count(console, tables, live)


def _tell(console: Console, words: Words, _tables: Sequence[AsyncTable], update: engine_pb2.TableUpdate) -> None:
    for line in fact_lines(words, update.facts):
        console.print(f"{update.sequence:4} {line}")


def _picture(live: Live, words: Words, title: str) -> Show:
    story: deque[str] = deque(maxlen=STORY_LINES)

    def show(tables: Sequence[AsyncTable], update: engine_pb2.TableUpdate) -> None:
        story.extend(fact_lines(words, update.facts))
        hands = {seat: tuple(table.view.seats[seat].cards) for seat, table in enumerate(tables)}
        first = tables[0]
        picture = DisplayedTable(
            title, first.view, first.clock, first.seconds_left, None, teams=first.table.teams, hands=hands
        )
        lines = table_lines(words, picture)
        live.update(Lines(*lines, Text(""), *(Text(line, style="dim") for line in story)))

    return show


def _count(console: Console, tables: int, live: Live | None) -> Show:
    """Return a show of one changing line on a terminal, of a few lines elsewhere."""
    finished = entries = 0

    def show(_tables: Sequence[AsyncTable], update: engine_pb2.TableUpdate) -> None:
        nonlocal finished, entries
        ends = any(fact.HasField("game_ended") for fact in update.facts)
        entries += 1
        finished += ends
        line = f"{finished} of {tables} tables finished, {entries} entries"
        if live is not None:
            live.update(Text(line))
        elif ends and finished % max(1, tables // REPORTS) == 0:
            console.print(line)

    return show


@dataclass(frozen=True, slots=True)
class Standings:
    """The sums of scoring over all tables: the leaderboard of a game, and the statistics of its players."""

    leaderboard: tuple[scoring_pb2.LeaderboardEntry, ...]
    statistics: tuple[scoring_pb2.GetPlayerStatisticsResponse, ...]


@dataclass(frozen=True, slots=True)
class Played:
    """A finished demonstration: the record of each table, the standings, and the verdict of the judge."""

    records: tuple[TableRecord, ...]
    standings: Standings
    checks_made: Counter[str]
    """Number of checks per name: the names of `Verdict.checks_made`, "verified games",
    "statistics" and "leaderboard entries"."""
    violations: tuple[Violation, ...]
    unjudged: tuple[str, ...]
    """The game, if no judge knows its rules."""


async def play_all(plan: DemoPlan, endpoints: Endpoints, show: Show) -> Played:
    """Play every table of the plan at once, and judge them; raises CroupierError or CommandFault."""
    async with signed_in(plan, endpoints) as groups:
        described = await read_game(groups[0][0], plan.game)
        records = await asyncio.gather(
            *(play_table(plan, described, number, group, show) for number, group in enumerate(groups, 1))
        )
        standings = await read_standings(groups, plan.game)
    return judged(records, standings)


async def read_standings(groups: Sequence[Group], game: str) -> Standings:
    """Return the leaderboard of a game, and the statistics of all players; raises CroupierError."""
    players = [client for group in groups for client in group]
    statistics = [await client.get_player_statistics() for client in players]
    return Standings(tuple(await read_leaderboard(players[0], game)), tuple(statistics))


def judged(records: Sequence[TableRecord], standings: Standings) -> Played:
    """Return the verdict of the judge on these tables, the only ones that their players have played."""
    verdicts = [judge(record) for record in records]
    checks = sum((Counter(verdict.checks_made) for verdict in verdicts), Counter[str]())
    checks["verified games"] = sum(verdict.is_verified for verdict in verdicts)
    checks.update({"statistics": len(standings.statistics), "leaderboard entries": len(standings.leaderboard)})
    violations = chain.from_iterable(verdict.violations for verdict in verdicts)
    board = {records[0].game: [entry.SerializeToString() for entry in standings.leaderboard]}
    statistics = {one.player_id: one.SerializeToString() for one in standings.statistics}
    outcomes = [verdict.outcome for verdict in verdicts if verdict.outcome is not None]
    described = {record.game: record.described for record in records}
    undecided = {
        viewer.player_id
        for record, verdict in zip(records, verdicts, strict=True)
        if verdict.outcome is None
        for viewer in record.viewers
    }
    broken = check_standings(outcomes, board, statistics, described, undecided=undecided, own_statistics=True)
    unjudged = (records[0].game,) if any(verdict.has_unknown_rules for verdict in verdicts) else ()
    return Played(tuple(records), standings, checks, (*violations, *broken), unjudged)


async def demo(
    plans: Sequence[DemoPlan], shuffle_seed: str | None, replays: Path | None, quiet: bool, console: Console
) -> None:
    """Play and show the plans one after the other, several of them briefly; raises CommandFault with the violations."""
    began = time.monotonic()
    note = silent if quiet else console.print
    # Whatever the environment offers to others.
    flags = [f"--games={','.join(plan.game for plan in plans)}"]
    flags += [f"--shuffle-seed={shuffle_seed}"] if shuffle_seed else []
    settings = SupervisorSettings(extra_flags={"engine": flags}, note=note, grace_seconds=0, is_paced=False)
    played: list[Played] = []
    with tempfile.TemporaryDirectory(prefix="croupier-demo-") as folder:
        async with running_services(Path(folder), settings=settings) as services:
            for plan in plans:
                endpoints = endpoints_of(services.addresses)
                played.append(await _played_and_shown(plan, endpoints, console, quiet, in_short=len(plans) > 1))
                if replays is not None:
                    _write_replays(replays, played[-1])
    console.print(conclusion(plans, played, time.monotonic() - began), soft_wrap=True)


async def _played_and_shown(
    plan: DemoPlan, endpoints: Endpoints, console: Console, quiet: bool, in_short: bool
) -> Played:
    game = installed_games()[plan.game]
    names = [plan.player_name(1, seat) for seat in range(plan.seats)]
    words = words_of(encode_game(game), names, can_write_symbols(console.encoding))
    if in_short and not quiet:
        console.print(f"\n{game.name} ({game.id}), {plan.seats} seats", style="bold")
    with chosen_show(console, words, game.name, plan.tables, quiet, in_short) as show:
        played = await play_all(plan, endpoints, show)
    if not quiet:
        _show_result(console, words, played, in_short)
    return played


def _write_replays(folder: Path, played: Played) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for record in played.records:
            (folder / f"{record.table_id}.jsonl").write_text("".join(record.replays), encoding="utf-8")
    except OSError as fault:
        raise CommandFault(f"the replays cannot be written to {folder}: {fault.strerror}") from None


def _show_result(console: Console, words: Words, played: Played, in_short: bool) -> None:
    if len(played.records) == 1 and played.records[0].sheet is not None:
        sheet = scoring_pb2.GetScoreSheetResponse.FromString(played.records[0].sheet)
        console.print("\nScore sheet", *sheet_lines(words, sheet.rounds), sep="\n")
        console.print("\nRanking", *words.ranking(sheet.result.ranking), sep="\n")
    if in_short:
        return
    console.print("\nLeaderboard")
    for entry in played.standings.leaderboard[:LEADERBOARD_LINES]:
        games = ", ".join(words.games(entry.statistics))
        console.print(f"{entry.position:3}. {entry.name:20} {games}")
    console.print()


def conclusion(plans: Sequence[DemoPlan], played: Sequence[Played], seconds: float) -> str:
    """Return the number of checks in one line; raises CommandFault with the violations, if there are any."""
    violations = [violation for one in played for violation in one.violations]
    if violations:
        raise CommandFault("the judge found violations:", details=list(_lines(violations)))
    (plan, *others) = plans
    tables = f"{plan.tables} table{'s' * (plan.tables != 1)}"
    what = f"{tables} of each of {len(plans)} games" if others else f"{tables} of {plan.game} with {plan.seats} seats"
    checks = sum((one.checks_made for one in played), Counter[str]())
    judged = ", ".join(f"{times} {name}" for name, times in checks.items() if times)
    unjudged = [game for one in played for game in one.unjudged]
    but = f", {RULES_NOT_JUDGED}{', '.join(unjudged)}" if unjudged else ""
    return f"{what}, {seconds:.1f} s: judged {judged}: no violation{but}"


def _lines(violations: Sequence[Violation]) -> Iterator[str]:
    reported = Counter[Invariant]()
    for one in violations:
        reported[one.invariant] += 1
        if reported[one.invariant] <= MAX_REPORTED:
            yield str(one)
    for invariant, times in reported.items():
        if times > MAX_REPORTED:
            yield f"{invariant}: {times - MAX_REPORTED} more"
