"""Standings, which are updated in the transaction that records a round or a result.

The transaction has locked the table's sheet, so a round and the result of one table do not miss each other. Rows of
players are changed table by table and in the order of their keys, so that two transactions cannot deadlock.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from sqlalchemy import Double, Row, String, Table, bindparam, cast, select, tuple_
from sqlalchemy.ext.asyncio import AsyncConnection

from croupier.runtime.upsert import Upsert, insert_into
from croupier.scoring.schema import PLAYER_NAMES, RESULT_PLAYERS, RESULTS, SEAT_COUNTS, STANDING_COUNTS, STANDINGS
from croupier.scoring.standings import Scope

SeatCounts = Mapping[tuple[int, str], int]
"""Sums by seat and name."""


async def add_result(connection: AsyncConnection, table_id: str) -> None:
    """Add the result of a table, which was recorded just now, to the standings of its players."""
    players = await _counted_players(connection, table_id)
    if not players:
        return
    await _add_games(connection, players)
    counts = await connection.execute(select(SEAT_COUNTS).where(SEAT_COUNTS.c.table_id == table_id))
    await _add_counts(connection, players, {(row.seat, row.name): row.amount for row in counts})


async def add_round(connection: AsyncConnection, table_id: str, counts: SeatCounts) -> None:
    """Add the counts of a round to the standings, if the table's result is there; otherwise the result adds them."""
    await _add_counts(connection, await _counted_players(connection, table_id), counts)


async def set_names(connection: AsyncConnection, players: Iterable[Mapping[str, Any]]) -> None:
    """Set the names of a result's players, except those who were at a later table."""
    rows = [{name: player[name] for name in PLAYER_NAMES.c.keys()} for player in players]  # noqa: SIM118 - no mapping
    statement = _set_names(connection.dialect.name)
    await connection.execute(statement, sorted(rows, key=lambda row: str(row["player_id"])))


async def _counted_players(connection: AsyncConnection, table_id: str) -> list[Row[Any]]:
    """Return the rows of a result's players, by id; none without a result, or for a void one."""
    players = await connection.execute(_COUNTED_PLAYERS, {"table_id": table_id})
    return sorted(players, key=lambda row: str(row.player_id))


def _scopes(player: Row[Any]) -> list[Scope]:
    scopes = {Scope.ALL: True, Scope.PUBLIC: player.is_public, Scope.RANKED: player.is_ranked}
    return [scope for scope, is_in in scopes.items() if is_in]


async def _add_games(connection: AsyncConnection, players: Iterable[Row[Any]]) -> None:
    rows = [
        {
            "player_id": player.player_id,
            "scope": scope.value,
            "game": player.game,
            "minus_wins": -int(player.won),
            "average_place": float(player.place),
            "minus_games": -1,
            "place_sum": player.place,
        }
        for player in players
        for scope in _scopes(player)
    ]
    await connection.execute(_add_to_standings(connection.dialect.name), rows)


async def _add_counts(connection: AsyncConnection, players: Iterable[Row[Any]], counts: SeatCounts) -> None:
    by_seat: dict[int, dict[str, int]] = defaultdict(dict)
    for (seat, name), amount in counts.items():
        by_seat[seat][name] = amount
    rows = [
        {"player_id": player.player_id, "scope": scope.value, "game": player.game, "name": name, "amount": amount}
        for player in players
        for scope in _scopes(player)
        for name, amount in sorted(by_seat[player.seat].items())
    ]
    if rows:
        await connection.execute(add_amounts(connection.dialect.name, STANDING_COUNTS), rows)


# The statements have their values as parameters: building one takes longer than its execution.
_COUNTED_PLAYERS = (
    select(RESULT_PLAYERS)
    .join(RESULTS, RESULTS.c.table_id == RESULT_PLAYERS.c.table_id)
    .where(RESULT_PLAYERS.c.table_id == bindparam("table_id", type_=String), RESULTS.c.is_void.is_(False))
)


@cache
def _set_names(dialect: str) -> Upsert:
    insert = insert_into(dialect, PLAYER_NAMES)
    new, old = insert.excluded, PLAYER_NAMES.c
    is_later = tuple_(new.end_milliseconds, new.table_id) > tuple_(old.end_milliseconds, old.table_id)
    changes = {name: new[name] for name in ("name", "end_milliseconds", "table_id")}
    return insert.on_conflict_do_update(index_elements=[old.player_id], set_=changes, where=is_later)


@cache
def _add_to_standings(dialect: str) -> Upsert:
    insert = insert_into(dialect, STANDINGS)
    new, old = insert.excluded, STANDINGS.c
    sums = {name: old[name] + new[name] for name in ("minus_wins", "minus_games", "place_sum")}
    average = cast(sums["place_sum"], Double) / -sums["minus_games"]
    changes = sums | {"average_place": average}
    return insert.on_conflict_do_update(index_elements=STANDINGS.primary_key, set_=changes)


@cache
def add_amounts(dialect: str, table: Table) -> Upsert:
    """Return a statement that inserts rows, or adds the amounts of those that exist."""
    insert = insert_into(dialect, table)
    increased = {"amount": table.c.amount + insert.excluded.amount}
    return insert.on_conflict_do_update(index_elements=table.primary_key, set_=increased)
