"""Leaderboards and statistics, held against the outcomes of all tables of a run."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from croupier_client import Client
from loadtest.judge.standings import Occupant, Outcome, standings_broken
from loadtest.judge.verdict import Verdict
from loadtest.judge.violations import Violation
from loadtest.record import TableRecord

PAGE_SIZE = 100
CALLS_AT_A_TIME = 16


def judged_table(record: TableRecord, verdict: Verdict) -> dict[str, object]:
    """A table as JSON holds it; its outcome is None where the end of the game is not known."""
    players = sorted({viewer.player_id for viewer in record.viewers if viewer.seat is not None})
    outcome = _as_json(verdict.outcome) if verdict.outcome is not None else None
    return {"table_id": record.table_id, "game": record.game, "players": players, "outcome": outcome}


async def standings_of(client: Client, tables: Sequence[Mapping[str, Any]]) -> list[Violation]:
    """Read what scoring shows of the games and players of these tables, and compare; raises CroupierError."""
    outcomes = [_outcome(table["outcome"]) for table in tables if table["outcome"] is not None]
    undecided = {player for table in tables if table["outcome"] is None for player in table["players"]}
    boards = {game: await _board(client, game) for game in sorted({table["game"] for table in tables})}
    players = {player for table in tables for player in table["players"]} - undecided
    statistics = await _statistics(client, sorted(players))
    return await asyncio.to_thread(lambda: list(standings_broken(outcomes, boards, statistics, undecided=undecided)))


async def _board(client: Client, game: str) -> Sequence[bytes]:
    lines, token = [], ""
    while True:
        page = await client.get_leaderboard(game=game, page_size=PAGE_SIZE, page_token=token)
        lines += [line.SerializeToString() for line in page.lines]
        token = page.next_page_token
        if not token:
            return lines


async def _statistics(client: Client, players: Sequence[str]) -> Mapping[str, bytes]:
    places = asyncio.Semaphore(CALLS_AT_A_TIME)

    async def read(player_id: str) -> bytes:
        async with places:
            return (await client.get_player_statistics(player_id=player_id)).SerializeToString()

    return dict(zip(players, await asyncio.gather(*map(read, players)), strict=True))


def _as_json(outcome: Outcome) -> dict[str, object]:
    return {**outcome._asdict(), "counts": [[seat, name, sum_] for (seat, name), sum_ in outcome.counts.items()]}


def _outcome(told: Mapping[str, Any]) -> Outcome:
    seats = tuple(Occupant(*seat) for seat in told["seats"])
    ranking = tuple(map(tuple, told["ranking"]))
    counts = {(seat, name): sum_ for seat, name, sum_ in told["counts"]}
    return Outcome(**{**told, "seats": seats, "ranking": ranking, "counts": counts})
