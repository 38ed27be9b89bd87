"""Statistics, leaderboards and lists of results: each page is a range of an index, however many results there are."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import groupby
from typing import Any, TypeAlias

import sqlalchemy as sa

from croupier.runtime.database.database import Database
from croupier.runtime.steps import in_steps
from croupier.scoring.game_standings import decode_standing, find_standing
from croupier.scoring.ledger import Result, Sheet, decode_result, decode_sheet
from croupier.scoring.schema import (
    GAME_STANDINGS,
    PLAYER_NAMES,
    RESULT_PLAYERS,
    RESULTS,
    SHEETS,
    STANDING_COUNTS,
    STANDINGS,
)
from croupier.scoring.standings import Scope, Standing, Statistics

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

    database: Database

    async def statistics(self, player_id: str, scope: Scope) -> tuple[Statistics, ...]:
        """Return a player's statistics of each game with results in a scope, ordered by the game's id."""
        wanted = {"player_id": player_id, "scope": scope.value}
        rows, counts = await self.database.read(
            lambda connection: (
                connection.execute(_OF_PLAYER, wanted).all(),
                _counts(connection.execute(_COUNTS_OF_PLAYER, wanted).all()),
            )
        )
        return tuple(_statistics(row, counts, decode_standing(row.standing)) for row in rows)

    async def leaderboard(self, game: str, after: LeaderboardEntry | None, limit: int) -> tuple[LeaderboardEntry, ...]:
        """Return at most `limit` entries after one, in the order of the leaderboard, and then of ids.

        They count ranked results only.
        """

        def page(connection: sa.Connection) -> tuple[LeaderboardEntry, ...]:
            standing = find_standing(connection, game)
            if standing is None:
                return ()
            wanted = {"game": game, "max_rows": limit} | (_position(after, standing) if after else {})
            rows = connection.execute(_leaderboard(is_first=after is None), wanted).all()
            # The order does not depend on counts, so those of the page suffice.
            shown = {"game": game, "player_ids": [row.player_id for row in rows]}
            counts = _counts(connection.execute(_COUNTS_OF_PAGE, shown).all()) if rows else {}
            return tuple(LeaderboardEntry(row.player_id, row.name, _statistics(row, counts, standing)) for row in rows)

        return await self.database.read(page)

    async def results(
        self, game: str, player_id: str, after: tuple[int, str] | None, limit: int, *, caller_id: str
    ) -> tuple[tuple[Sheet, Result], ...]:
        """Return at most `limit` results, newest first, after (end, table_id); empty filters match all.

        They are those of public tables; all those of a player if that is the caller.
        """
        scopes = (True, False) if player_id and player_id == caller_id else (True,)
        query = _results(is_of_game=bool(game), is_of_player=bool(player_id), scopes=scopes, is_first=after is None)
        end, table_id = after or (0, "")
        wanted = {"game": game, "player_id": player_id, "end": end, "table_id": table_id, "max_rows": limit}
        rows = await self.database.read(lambda connection: connection.execute(query, wanted).all())
        return tuple([(decode_sheet(row), decode_result(row)) async for row in in_steps(rows, DECODING_STEP)])


def _counts(rows: Sequence[sa.Row[Any]]) -> _Counts:
    return {
        group: tuple((row.name, row.amount) for row in sums)
        for group, sums in groupby(rows, lambda row: (row.player_id, row.game))
    }


def _statistics(row: sa.Row[Any], counts: _Counts, standing: Standing) -> Statistics:
    sums = counts.get((row.player_id, row.game), ())
    games = -row.minus_games, row.games_counted
    return Statistics(row.game, *games, row.place_sum, sums, row.games_left, standing)


# The queries have their values as parameters: building one takes longer than its execution.
_OF_PLAYER = (
    sa.select(STANDINGS, GAME_STANDINGS.c.standing)
    .join(GAME_STANDINGS, GAME_STANDINGS.c.game == STANDINGS.c.game)
    .where(STANDINGS.c.player_id == sa.bindparam("player_id"), STANDINGS.c.scope == sa.bindparam("scope"))
    .order_by(STANDINGS.c.game)
)
_SUMS = STANDING_COUNTS.c
_COUNTS = sa.select(STANDING_COUNTS).order_by(_SUMS.player_id, _SUMS.game, _SUMS.name)
_COUNTS_OF_PLAYER = _COUNTS.where(_SUMS.player_id == sa.bindparam("player_id"), _SUMS.scope == sa.bindparam("scope"))
_COUNTS_OF_PAGE = _COUNTS.where(
    _SUMS.player_id.in_(sa.bindparam("player_ids", expanding=True)),
    _SUMS.scope == Scope.RANKED.value,
    _SUMS.game == sa.bindparam("game"),
)


@cache
def _leaderboard(*, is_first: bool) -> sa.Select[Any]:
    limit = sa.bindparam("max_rows", type_=sa.Integer)
    query = sa.select(STANDINGS).where(
        STANDINGS.c.scope == Scope.RANKED.value, STANDINGS.c.game == sa.bindparam("game")
    )
    if not is_first:
        position = (
            sa.bindparam("minus_figure", type_=sa.Double),
            sa.bindparam("average_place", type_=sa.Double),
            sa.bindparam("minus_games", type_=sa.Integer),
            sa.bindparam("player_id", type_=sa.String),
        )
        query = query.where(sa.tuple_(*_order(STANDINGS.c)) > sa.tuple_(*position))
    page = query.order_by(*_order(STANDINGS.c)).limit(limit).subquery()
    named = sa.select(page, PLAYER_NAMES.c.name).join(PLAYER_NAMES, PLAYER_NAMES.c.player_id == page.c.player_id)
    return named.order_by(*_order(page.c))


def _order(columns: Any) -> tuple[sa.ColumnElement[Any], ...]:
    return columns.minus_figure, columns.average_place, columns.minus_games, columns.player_id


def _position(entry: LeaderboardEntry, standing: Standing) -> dict[str, Any]:
    statistics = replace(entry.statistics, standing=standing)
    return {
        "minus_figure": -(statistics.figure or 0.0),
        "average_place": (statistics.average_place or 0.0) if standing.places_decide else 0.0,
        "minus_games": -statistics.games_finished,
        "player_id": entry.player_id,
    }


@cache
def _results(*, is_of_game: bool, is_of_player: bool, scopes: tuple[bool, ...], is_first: bool) -> sa.Select[Any]:
    pages = [_keys(is_of_game, is_of_player, is_public, is_first).subquery() for is_public in scopes]
    keys = sa.union_all(*(sa.select(page) for page in pages)).subquery()
    query = sa.select(RESULTS, SHEETS).join(keys, keys.c.table_id == RESULTS.c.table_id)
    query = query.join(SHEETS, SHEETS.c.table_id == RESULTS.c.table_id)
    limit = sa.bindparam("max_rows", type_=sa.Integer)
    return query.order_by(keys.c.end_milliseconds.desc(), keys.c.table_id.desc()).limit(limit)


def _keys(is_of_game: bool, is_of_player: bool, is_public: bool, is_first: bool) -> sa.Select[tuple[int, str]]:
    """Return a page of ends and tables: one range of an index, whose columns all others have one value."""
    table = RESULT_PLAYERS if is_of_player else RESULTS
    end, table_id = table.c.end_milliseconds, table.c.table_id
    query = sa.select(end, table_id).where(table.c.is_public == sa.literal(is_public))
    if is_of_player:
        query = query.where(RESULT_PLAYERS.c.player_id == sa.bindparam("player_id"))
    if is_of_game:
        query = query.where(table.c.game == sa.bindparam("game"))
    if not is_first:
        after = sa.tuple_(sa.bindparam("end", type_=sa.BigInteger), sa.bindparam("table_id", type_=sa.String))
        query = query.where(sa.tuple_(end, table_id) < after)
    return query.order_by(end.desc(), table_id.desc()).limit(sa.bindparam("max_rows", type_=sa.Integer))
