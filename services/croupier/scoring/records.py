"""What the ledger adds up to: statistics, leaderboards and lists of results, read out of it for each call."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from typing import Any, TypeAlias

from sqlalchemy import ColumnElement, Double, Row, ScalarSelect, Select, case, cast, func, select, tuple_
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from croupier.runtime.database import transaction
from croupier.scoring.ledger import Result, Sheet, read_result, read_sheet
from croupier.scoring.schema import RESULT_PLAYERS, RESULTS, SEAT_COUNTS, SHEETS
from croupier.scoring.standings import Statistics

_LINES = RESULT_PLAYERS.c
_WINS = func.sum(case((_LINES.won, 1), else_=0))
_PLACES = func.sum(_LINES.place)
_GAMES = func.count()
_OF_SEAT = (SEAT_COUNTS.c.table_id == _LINES.table_id) & (SEAT_COUNTS.c.seat == _LINES.seat)
_Counts: TypeAlias = dict[tuple[str, str], tuple[tuple[str, int], ...]]
"""Sums of counts, in pairs of name and sum, by player and game."""


@dataclass(frozen=True, slots=True)
class LeaderboardLine:
    """A player on a leaderboard, with the name of his last table."""

    player_id: str
    name: str
    statistics: Statistics


@dataclass(frozen=True, slots=True)
class Records:
    """Reads a ledger's database."""

    database: AsyncEngine

    async def statistics(self, player_id: str) -> tuple[Statistics, ...]:
        """What a player has done, one for each game that he has finished, by the game's id."""
        query = (
            select(_LINES.game, _GAMES.label("games"), _WINS.label("wins"), _PLACES.label("places"))
            .where(_LINES.player_id == player_id)
            .group_by(_LINES.game)
            .order_by(_LINES.game)
        )
        async with transaction(self.database) as connection:
            rows = (await connection.execute(query)).all()
            counts = await _counts(connection, (_LINES.player_id == player_id,))
        return tuple(
            Statistics(row.game, row.games, row.wins, row.places, counts.get((player_id, row.game), ())) for row in rows
        )

    async def leaderboard(self, game: str, after: LeaderboardLine | None, limit: int) -> tuple[LeaderboardLine, ...]:
        """At most `limit` lines after a line: most wins, then best average place, then most games, then the id."""
        async with transaction(self.database) as connection:
            rows = (await connection.execute(_leaderboard(game, after, limit))).all()
            # For the players of the page only: the order of the leaderboard does not depend on counts.
            shown = _LINES.player_id.in_([row.player_id for row in rows])
            counts = await _counts(connection, (_LINES.game == game, shown))
        return tuple(_line(row, game, counts) for row in rows)

    async def results(
        self, game: str, player_id: str, after: tuple[int, str] | None, limit: int
    ) -> tuple[tuple[Sheet, Result], ...]:
        """At most `limit` results, newest first, after (finished, table_id); empty filters take all."""
        async with transaction(self.database) as connection:
            rows = (await connection.execute(_results(game, player_id, after, limit))).all()
        return tuple((read_sheet(row), read_result(row)) for row in rows)


async def _counts(connection: AsyncConnection, wanted: Iterable[ColumnElement[bool]]) -> _Counts:
    """Sums over the tables that these players have finished."""
    key = (_LINES.player_id, _LINES.game, SEAT_COUNTS.c.name)
    query = select(*key, func.sum(SEAT_COUNTS.c.amount)).join(SEAT_COUNTS, _OF_SEAT).where(*wanted)
    rows = (await connection.execute(query.group_by(*key).order_by(*key))).all()
    return {
        found: tuple((name, int(amount)) for _, _, name, amount in sums)
        for found, sums in groupby(rows, lambda row: (row.player_id, row.game))
    }


def _line(row: Row[Any], game: str, counts: _Counts) -> LeaderboardLine:
    done = Statistics(game, row.games, row.wins, row.places, counts.get((row.player_id, game), ()))
    return LeaderboardLine(row.player_id, row.name, done)


def _leaderboard(game: str, after: LeaderboardLine | None, limit: int) -> Select[Any]:
    average = cast(_PLACES, Double) / _GAMES
    lines = (
        select(
            _LINES.player_id,
            _GAMES.label("games"),
            _WINS.label("wins"),
            _PLACES.label("places"),
            average.label("average"),
        )
        .where(_LINES.game == game)
        .group_by(_LINES.player_id)
        .subquery()
    )
    query = select(lines).order_by(*_order(lines.c)).limit(limit)
    if after is not None:
        query = query.where(tuple_(*_order(lines.c)) > _position(after))
    page = query.subquery()
    return select(page, _latest_name(page.c.player_id).label("name")).order_by(*_order(page.c))


def _order(lines: Any) -> tuple[ColumnElement[Any], ...]:
    # The first line is the least: more wins and games come first, but fewer places and smaller ids.
    return -lines.wins, lines.average, -lines.games, lines.player_id


def _position(line: LeaderboardLine) -> tuple[int, float, int, str]:
    done = line.statistics
    return -done.games_won, done.average_place, -done.games_finished, line.player_id


def _latest_name(player_id: ColumnElement[str]) -> ScalarSelect[str]:
    return (
        select(_LINES.name)
        .where(_LINES.player_id == player_id)
        .order_by(_LINES.finished.desc(), _LINES.table_id.desc())
        .limit(1)
        .scalar_subquery()
    )


def _results(game: str, player_id: str, after: tuple[int, str] | None, limit: int) -> Select[Any]:
    query = select(RESULTS, SHEETS.c.game, SHEETS.c.seats).join(SHEETS, SHEETS.c.table_id == RESULTS.c.table_id)
    query = query.order_by(RESULTS.c.finished.desc(), RESULTS.c.table_id.desc()).limit(limit)
    if game:
        query = query.where(SHEETS.c.game == game)
    if player_id:
        took_part = (_LINES.table_id == RESULTS.c.table_id) & (_LINES.player_id == player_id)
        query = query.join(RESULT_PLAYERS, took_part)
    if after is not None:
        query = query.where(tuple_(RESULTS.c.finished, RESULTS.c.table_id) < after)
    return query
