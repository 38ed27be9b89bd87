"""Standings, which are updated in the transaction that records a round or a result, or publishes a result.

The transaction has locked the table's sheet, so a round and the result of one table do not miss each other. Rows of
players are changed table by table and in the order of their keys, so that two transactions cannot deadlock.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import sqlalchemy as sa

from croupier.runtime.database.upsert import Upsert, insert_into
from croupier.scoring.game_standings import decode_standing
from croupier.scoring.schema import (
    GAME_STANDINGS,
    PLAYER_NAMES,
    RESULT_PLAYERS,
    RESULTS,
    SEAT_COUNTS,
    STANDING_COUNTS,
    STANDINGS,
)
from croupier.scoring.standings import MAX_RANKED_GAMES_OF_A_PAIR, PAIR_MILLISECONDS, Scope, Standing

SeatCounts = Mapping[tuple[int, str], int]
"""Sums by seat and name."""
Line = tuple[sa.Row[Any], Scope]
"""A player of a result, and a scope that counts it for them."""
PUBLISHED = (Scope.PUBLIC, Scope.RANKED)
"""The scopes that all players see."""


def add_result(connection: sa.Connection, table_id: str, scopes: Collection[Scope] = tuple(Scope)) -> None:
    """Add the result of a table, recorded or published just now, to the standings of its players in some scopes."""
    lines = _lines(connection, table_id, scopes)
    if not lines:
        return
    _add_games(connection, lines)
    counts = connection.execute(sa.select(SEAT_COUNTS).where(SEAT_COUNTS.c.table_id == table_id))
    _add_counts(connection, lines, {(row.seat, row.name): row.amount for row in counts})


def add_round(connection: sa.Connection, table_id: str, counts: SeatCounts) -> None:
    """Add the counts of a round to the standings, if the table's result is there; otherwise the result adds them."""
    _add_counts(connection, _lines(connection, table_id, tuple(Scope)), counts)


def is_pair_at_limit(connection: sa.Connection, player_ids: Sequence[str], end_milliseconds: int) -> bool:
    """Return whether two of these players have the maximum of ranked results within a day of a time.

    The transaction has set the names of these players: so it has their locks, and no other one adds such a result.
    """
    wanted = {
        "player_ids": player_ids,
        "other_ids": player_ids,
        "after": end_milliseconds - PAIR_MILLISECONDS,
        # Reports may arrive in any order: a later result counts as well.
        "before": end_milliseconds + PAIR_MILLISECONDS,
    }
    return connection.execute(_PAIRS_AT_LIMIT, wanted).first() is not None


def set_names(connection: sa.Connection, players: Iterable[Mapping[str, Any]]) -> None:
    """Set the names of a result's players, except those who were at a later table, and lock all these players."""
    rows = [{name: player[name] for name in PLAYER_NAMES.c.keys()} for player in players]  # noqa: SIM118 - no mapping
    statement = _set_names(connection.dialect.name)
    connection.execute(statement, sorted(rows, key=lambda row: str(row["player_id"])))


def _lines(connection: sa.Connection, table_id: str, scopes: Collection[Scope]) -> list[Line]:
    """Return the players of a result by id, each with those scopes that count it; none if it counts nowhere."""
    lines: list[Line] = []
    players = connection.execute(_COUNTED_PLAYERS, {"table_id": table_id})
    for player in sorted(players, key=lambda row: str(row.player_id)):
        is_published = player.publish_milliseconds is None
        is_in = {Scope.ALL: True, Scope.PUBLIC: player.is_public, Scope.RANKED: player.is_ranked and is_published}
        lines += ((player, scope) for scope in scopes if is_in[scope])
    return lines


def _add_games(connection: sa.Connection, lines: Sequence[Line]) -> None:
    standing = decode_standing(lines[0][0].standing)
    rows = [_games_row(player, scope, standing) for player, scope in lines]
    statement = _add_to_standings(
        connection.dialect.name, is_share=standing.is_share, places_decide=standing.places_decide
    )
    connection.execute(statement, rows)


def _games_row(player: sa.Row[Any], scope: Scope, standing: Standing) -> dict[str, Any]:
    """Return the row of a player with one game."""
    is_counted = player.outcome == standing.outcomes[0]
    return {
        "player_id": player.player_id,
        "scope": scope.value,
        "game": player.game,
        "games_counted": int(is_counted),
        "minus_figure": -float(is_counted),
        "average_place": float(player.place) if standing.places_decide else 0.0,
        "minus_games": -1,
        "place_sum": player.place,
        "games_left": int(player.has_left),
    }


def _add_counts(connection: sa.Connection, lines: Iterable[Line], counts: SeatCounts) -> None:
    by_seat: dict[int, dict[str, int]] = defaultdict(dict)
    for (seat, name), amount in counts.items():
        by_seat[seat][name] = amount
    rows = [
        {"player_id": player.player_id, "scope": scope.value, "game": player.game, "name": name, "amount": amount}
        for player, scope in lines
        for name, amount in sorted(by_seat[player.seat].items())
    ]
    if rows:
        connection.execute(add_amounts(connection.dialect.name, STANDING_COUNTS), rows)


_SUMS = ("games_counted", "minus_games", "place_sum", "games_left")
# The statements have their values as parameters: building one takes longer than its execution.
_COUNTED_PLAYERS = (
    sa.select(RESULT_PLAYERS, RESULTS.c.publish_milliseconds, GAME_STANDINGS.c.standing)
    .join(RESULTS, RESULTS.c.table_id == RESULT_PLAYERS.c.table_id)
    .join(GAME_STANDINGS, GAME_STANDINGS.c.game == RESULT_PLAYERS.c.game)
    .where(RESULT_PLAYERS.c.table_id == sa.bindparam("table_id"), RESULT_PLAYERS.c.outcome != "")
)
_ONE, _OTHER = RESULT_PLAYERS.alias(), RESULT_PLAYERS.alias()
_PAIRS_AT_LIMIT = (
    sa.select(_ONE.c.player_id)
    .join(_OTHER, (_OTHER.c.table_id == _ONE.c.table_id) & (_OTHER.c.player_id > _ONE.c.player_id))
    .where(
        _ONE.c.player_id.in_(sa.bindparam("player_ids", expanding=True)),
        _OTHER.c.player_id.in_(sa.bindparam("other_ids", expanding=True)),
        _ONE.c.is_ranked == sa.literal(True),
        _ONE.c.end_milliseconds > sa.bindparam("after", type_=sa.BigInteger),
        _ONE.c.end_milliseconds < sa.bindparam("before", type_=sa.BigInteger),
    )
    .group_by(_ONE.c.player_id, _OTHER.c.player_id)
    .having(sa.func.count() >= MAX_RANKED_GAMES_OF_A_PAIR)
    .limit(1)
)


@cache
def _set_names(dialect: str) -> Upsert:
    insert = insert_into(dialect, PLAYER_NAMES)
    new, old = insert.excluded, PLAYER_NAMES.c
    is_later = sa.tuple_(new.end_milliseconds, new.table_id) > sa.tuple_(old.end_milliseconds, old.table_id)
    changes = {name: new[name] for name in ("name", "end_milliseconds", "table_id")}
    return insert.on_conflict_do_update(index_elements=[old.player_id], set_=changes, where=is_later)


@cache
def _add_to_standings(dialect: str, *, is_share: bool, places_decide: bool) -> Upsert:
    insert = insert_into(dialect, STANDINGS)
    new, old = insert.excluded, STANDINGS.c
    sums = {name: old[name] + new[name] for name in _SUMS}
    counted = sa.cast(sums["games_counted"], sa.Double)
    changes = sums | {"minus_figure": counted / sums["minus_games"] if is_share else -counted}
    if places_decide:
        changes["average_place"] = sa.cast(sums["place_sum"], sa.Double) / -sums["minus_games"]
    return insert.on_conflict_do_update(index_elements=STANDINGS.primary_key, set_=changes)


@cache
def add_amounts(dialect: str, table: sa.Table) -> Upsert:
    """Return a statement that inserts rows, or adds the amounts of those that exist."""
    insert = insert_into(dialect, table)
    increased = {"amount": table.c.amount + insert.excluded.amount}
    return insert.on_conflict_do_update(index_elements=table.primary_key, set_=increased)
