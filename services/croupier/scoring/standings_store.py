"""Statistics, leaderboards and lists of results: each page is a range of an index, however many results there are."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from typing import Any, TypeAlias

from sqlalchemy import ColumnElement, Row, Select, literal, select, tuple_, union_all
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from croupier.runtime.database import transaction
from croupier.runtime.steps import in_steps
from croupier.scoring.ledger import Result, Sheet, decode_result, decode_sheet
from croupier.scoring.schema import PLAYER_NAMES, RESULT_PLAYERS, RESULTS, SHEETS, STANDING_COUNTS, STANDINGS
from croupier.scoring.standings import Scope, Statistics

DECODING_STEP = 25
"""Results that are decoded in one step of the event loop."""
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

    async def statistics(self, player_id: str, scope: Scope) -> tuple[Statistics, ...]:
        """Return a player's statistics of each game with results in a scope, ordered by the game's id."""
        query = select(STANDINGS).filter_by(player_id=player_id, scope=scope.value).order_by(STANDINGS.c.game)
        of_player = (STANDING_COUNTS.c.player_id == player_id, STANDING_COUNTS.c.scope == scope.value)
        async with transaction(self.database) as connection:
            rows = (await connection.execute(query)).all()
            counts = await _counts(connection, of_player)
        return tuple(_statistics(row, counts) for row in rows)

    async def leaderboard(self, game: str, after: LeaderboardEntry | None, limit: int) -> tuple[LeaderboardEntry, ...]:
        """Return at most `limit` entries after one: more wins, better average place, more games, smaller id first.

        They count ranked results only.
        """
        async with transaction(self.database) as connection:
            rows = (await connection.execute(_leaderboard(game, after, limit))).all()
            # The order does not depend on counts, so those of the page suffice.
            shown = STANDING_COUNTS.c.player_id.in_([row.player_id for row in rows])
            ranked = (STANDING_COUNTS.c.scope == Scope.RANKED.value, STANDING_COUNTS.c.game == game)
            counts = await _counts(connection, (shown, *ranked))
        return tuple(LeaderboardEntry(row.player_id, row.name, _statistics(row, counts)) for row in rows)

    async def results(
        self, game: str, player_id: str, after: tuple[int, str] | None, limit: int, *, caller_id: str
    ) -> tuple[tuple[Sheet, Result], ...]:
        """Return at most `limit` results, newest first, after (end, table_id); empty filters match all.

        They are those of public tables; all those of a player if that is the caller.
        """
        scopes = (True, False) if player_id and player_id == caller_id else (True,)
        async with transaction(self.database) as connection:
            rows = (await connection.execute(_results(game, player_id, scopes, after, limit))).all()
        return tuple([(decode_sheet(row), decode_result(row)) async for row in in_steps(rows, DECODING_STEP)])


async def _counts(connection: AsyncConnection, conditions: Iterable[ColumnElement[bool]]) -> _Counts:
    columns = STANDING_COUNTS.c
    query = select(STANDING_COUNTS).where(*conditions).order_by(columns.player_id, columns.game, columns.name)
    rows = (await connection.execute(query)).all()
    return {
        group: tuple((row.name, row.amount) for row in sums)
        for group, sums in groupby(rows, lambda row: (row.player_id, row.game))
    }


def _statistics(row: Row[Any], counts: _Counts) -> Statistics:
    sums = counts.get((row.player_id, row.game), ())
    return Statistics(row.game, -row.minus_games, -row.minus_wins, row.place_sum, sums)


def _leaderboard(game: str, after: LeaderboardEntry | None, limit: int) -> Select[Any]:
    query = select(STANDINGS).filter_by(scope=Scope.RANKED.value, game=game)
    if after is not None:
        query = query.where(tuple_(*_order(STANDINGS.c)) > _position(after))
    page = query.order_by(*_order(STANDINGS.c)).limit(limit).subquery()
    named = select(page, PLAYER_NAMES.c.name).join(PLAYER_NAMES, PLAYER_NAMES.c.player_id == page.c.player_id)
    return named.order_by(*_order(page.c))


def _order(columns: Any) -> tuple[ColumnElement[Any], ...]:
    return columns.minus_wins, columns.average_place, columns.minus_games, columns.player_id


def _position(entry: LeaderboardEntry) -> tuple[int, float, int, str]:
    statistics = entry.statistics
    average = statistics.average_place or 0.0
    return -statistics.games_won, average, -statistics.games_finished, entry.player_id


def _results(
    game: str, player_id: str, scopes: Iterable[bool], after: tuple[int, str] | None, limit: int
) -> Select[Any]:
    pages = [_keys(game, player_id, is_public, after, limit).subquery() for is_public in scopes]
    keys = union_all(*(select(page) for page in pages)).subquery()
    query = select(RESULTS, SHEETS).join(keys, keys.c.table_id == RESULTS.c.table_id)
    query = query.join(SHEETS, SHEETS.c.table_id == RESULTS.c.table_id)
    return query.order_by(keys.c.end_milliseconds.desc(), keys.c.table_id.desc()).limit(limit)


def _keys(
    game: str, player_id: str, is_public: bool, after: tuple[int, str] | None, limit: int
) -> Select[tuple[int, str]]:
    """Return a page of ends and tables: one range of an index, whose columns all others have one value."""
    table = RESULT_PLAYERS if player_id else RESULTS
    end, table_id = table.c.end_milliseconds, table.c.table_id
    query = select(end, table_id).where(table.c.is_public == literal(is_public))
    if player_id:
        query = query.where(RESULT_PLAYERS.c.player_id == player_id)
    if game:
        query = query.where(table.c.game == game)
    if after is not None:
        query = query.where(tuple_(end, table_id) < after)
    return query.order_by(end.desc(), table_id.desc()).limit(limit)
