"""Compares leaderboards and statistics with the outcomes of all tables of a run."""

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from google.protobuf.message import Message

from croupier_api.v1 import scoring_pb2
from croupier_client import Client
from loadtest.judge.standings import Occupant, TableOutcome, check_standings
from loadtest.judge.verdict import Verdict
from loadtest.judge.violations import Violation
from loadtest.record import TableRecord

PAGE_SIZE = 100
PAUSES_SECONDS = (0.0, 2.0, 4.0)
"""Standings are read again until they agree: those that others see have the result of a table only after its watch
delay, and tables of strangers may end between two pages."""
READERS = 8
"""The number of players who read statistics: the budget of one would take minutes for thousands."""


def judged_table(record: TableRecord, verdict: Verdict) -> dict[str, object]:
    """Return a table as a dictionary for JSON; its outcome is None where the end of the game is not known."""
    players = sorted({viewer.player_id for viewer in record.viewers if viewer.seat is not None})
    outcome = None
    if (known := verdict.outcome) is not None:
        outcome = {
            **known._asdict(),
            "counts": [[*seat_and_name, sum_] for seat_and_name, sum_ in known.counts.items()],
        }
    return {"table_id": record.table_id, "game": record.game, "players": players, "outcome": outcome}


async def compare_standings(
    clients: Sequence[Client], tables: Sequence[Mapping[str, Any]], *, has_strangers: bool
) -> list[Violation]:
    """Read the standings of these tables' games and players, and compare them; raises CroupierError.

    `has_strangers` says that players of no table here may be on the leaderboards.
    """
    outcomes = [_outcome(table["outcome"]) for table in tables if table["outcome"] is not None]
    undecided = {player for table in tables if table["outcome"] is None for player in table["players"]}
    players = {player for table in tables for player in table["players"]} - undecided
    check = partial(check_standings, outcomes, undecided=undecided, has_strangers=has_strangers)
    violations: list[Violation] = []
    for seconds in PAUSES_SECONDS:
        await asyncio.sleep(seconds)
        games = sorted({table["game"] for table in tables})
        boards = {game: [*map(_encoded, await read_leaderboard(clients[0], game))] for game in games}
        statistics = await _statistics(clients, sorted(players))
        violations = await asyncio.to_thread(lambda *read: list(check(*read)), boards, statistics)
        if not violations:
            break
    return violations


async def read_leaderboard(client: Client, game: str) -> Sequence[scoring_pb2.LeaderboardEntry]:
    """Return all lines of a game's leaderboard, page by page; raises CroupierError."""
    lines: list[scoring_pb2.LeaderboardEntry] = []
    token = ""
    while True:
        page = await client.get_leaderboard(game=game, page_size=PAGE_SIZE, page_token=token)
        lines += page.entries
        token = page.next_page_token
        if not token:
            return lines


async def _statistics(clients: Sequence[Client], players: Sequence[str]) -> Mapping[str, bytes]:
    found: dict[str, bytes] = {}

    async def read(client: Client, mine: Sequence[str]) -> None:
        for player_id in mine:
            found[player_id] = _encoded(await client.get_player_statistics(player_id=player_id))

    count = len(clients)
    await asyncio.gather(*(read(client, players[place::count]) for place, client in enumerate(clients)))
    return found


def _encoded(message: Message) -> bytes:
    return message.SerializeToString()


def _outcome(table: Mapping[str, Any]) -> TableOutcome:
    seats, by_engine = tuple(Occupant(*seat) for seat in table["seats"]), tuple(table["finished_by_engine"])
    ranking = tuple(map(tuple, table["ranking"]))
    counts = {(seat, name): sum_ for seat, name, sum_ in table["counts"]}
    decoded = {"seats": seats, "ranking": ranking, "counts": counts, "finished_by_engine": by_engine}
    return TableOutcome(**{**table, **decoded})
