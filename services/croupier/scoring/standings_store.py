"""Statistics, leaderboards and lists of results, computed from the ledger by each query."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from typing import Any, TypeAlias

from sqlalchemy import ColumnElement, Double, Row, ScalarSelect, Select, case, cast, func, select, tuple_
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from croupier.runtime.database import transaction
from croupier.scoring.ledger import Result, Sheet, decode_result, decode_sheet
from croupier.scoring.schema import RESULT_PLAYERS, RESULTS, SEAT_COUNTS, SHEETS
from croupier.scoring.standings import Statistics

_PLAYERS = RESULT_PLAYERS.c
_WINS = func.sum(case((_PLAYERS.won, 1), else_=0))
_PLACE_SUM = func.sum(_PLAYERS.place)
_GAMES = func.count()
_OF_SEAT = (SEAT_COUNTS.c.table_id == _PLAYERS.table_id) & (SEAT_COUNTS.c.seat == _PLAYERS.seat)
_Counts: TypeAlias = dict[tuple[str, str], tuple[tuple[str, int], ...]]
"""Sums of counts, in pairs of name and sum, by player and game."""


@dataclass(frozen=True, slots=True)
class LeaderboardEntry:
    """A player on a leaderboard, with the name that they had at their last table."""

    player_id: str
    name: str
    statistics: Statistics


@dataclass(frozen=True, slots=True)
class StandingsStore:
    """Queries over a ledger's database."""

    database: AsyncEngine

    async def statistics(self, player_id: str) -> tuple[Statistics, ...]:
        """Return a player's statistics of each game that they have finished, ordered by the game's id."""
        query = (
            select(_PLAYERS.game, _GAMES.label("games"), _WINS.label("wins"), _PLACE_SUM.label("place_sum"))
            .where(_PLAYERS.player_id == player_id)
            .group_by(_PLAYERS.game)
            .order_by(_PLAYERS.game)
        )
        async with transaction(self.database) as connection:
            rows = (await connection.execute(query)).all()
            counts = await _counts(connection, (_PLAYERS.player_id == player_id,))
        return tuple(_statistics(row, player_id, row.game, counts) for row in rows)

    async def leaderboard(self, game: str, after: LeaderboardEntry | None, limit: int) -> tuple[LeaderboardEntry, ...]:
        """Return at most `limit` entries after one: more wins, better average place, more games, smaller id first."""
        async with transaction(self.database) as connection:
            rows = (await connection.execute(_leaderboard(game, after, limit))).all()
            # The order does not depend on counts, so those of the page suffice.
            shown = _PLAYERS.player_id.in_([row.player_id for row in rows])
            counts = await _counts(connection, (_PLAYERS.game == game, shown))
        return tuple(
            LeaderboardEntry(row.player_id, row.name, _statistics(row, row.player_id, game, counts)) for row in rows
        )

    async def results(
        self, game: str, player_id: str, after: tuple[int, str] | None, limit: int
    ) -> tuple[tuple[Sheet, Result], ...]:
        """Return at most `limit` results, newest first, after (end, table_id); empty filters match all."""
        async with transaction(self.database) as connection:
            rows = (await connection.execute(_results(game, player_id, after, limit))).all()
        return tuple((decode_sheet(row), decode_result(row)) for row in rows)


async def _counts(connection: AsyncConnection, conditions: Iterable[ColumnElement[bool]]) -> _Counts:
    """Return sums over the finished tables of some players."""
    key = (_PLAYERS.player_id, _PLAYERS.game, SEAT_COUNTS.c.name)
    query = select(*key, func.sum(SEAT_COUNTS.c.amount)).join(SEAT_COUNTS, _OF_SEAT).where(*conditions)
    rows = (await connection.execute(query.group_by(*key).order_by(*key))).all()
    return {
        group: tuple((name, int(amount)) for _, _, name, amount in sums)
        for group, sums in groupby(rows, lambda row: (row.player_id, row.game))
    }


def _statistics(row: Row[Any], player_id: str, game: str, counts: _Counts) -> Statistics:
    return Statistics(game, row.games, row.wins, row.place_sum, counts.get((player_id, game), ()))


def _leaderboard(game: str, after: LeaderboardEntry | None, limit: int) -> Select[Any]:
    average = cast(_PLACE_SUM, Double) / _GAMES
    totals = (
        select(
            _PLAYERS.player_id,
            _GAMES.label("games"),
            _WINS.label("wins"),
            _PLACE_SUM.label("place_sum"),
            average.label("average"),
        )
        .where(_PLAYERS.game == game)
        .group_by(_PLAYERS.player_id)
        .subquery()
    )
    query = select(totals).order_by(*_order(totals.c)).limit(limit)
    if after is not None:
        query = query.where(tuple_(*_order(totals.c)) > _position(after))
    page = query.subquery()
    return select(page, _latest_name(page.c.player_id).label("name")).order_by(*_order(page.c))


def _order(totals: Any) -> tuple[ColumnElement[Any], ...]:
    # In ascending order: more wins and more games come first, so they are negative.
    return -totals.wins, totals.average, -totals.games, totals.player_id


def _position(entry: LeaderboardEntry) -> tuple[int, float, int, str]:
    statistics = entry.statistics
    average = statistics.average_place or 0.0
    return -statistics.games_won, average, -statistics.games_finished, entry.player_id


def _latest_name(player_id: ColumnElement[str]) -> ScalarSelect[str]:
    return (
        select(_PLAYERS.name)
        .where(_PLAYERS.player_id == player_id)
        .order_by(_PLAYERS.end_milliseconds.desc(), _PLAYERS.table_id.desc())
        .limit(1)
        .scalar_subquery()
    )


def _results(game: str, player_id: str, after: tuple[int, str] | None, limit: int) -> Select[Any]:
    query = select(RESULTS, SHEETS.c.game, SHEETS.c.seats).join(SHEETS, SHEETS.c.table_id == RESULTS.c.table_id)
    query = query.order_by(RESULTS.c.end_milliseconds.desc(), RESULTS.c.table_id.desc()).limit(limit)
    if game:
        query = query.where(SHEETS.c.game == game)
    if player_id:
        is_player = (_PLAYERS.table_id == RESULTS.c.table_id) & (_PLAYERS.player_id == player_id)
        query = query.join(RESULT_PLAYERS, is_player)
    if after is not None:
        query = query.where(tuple_(RESULTS.c.end_milliseconds, RESULTS.c.table_id) < after)
    return query
