"""The seats of players: they list their tables by them, and have, as networks do, a share of those that have not ended.

A transaction adds its seats first, and then counts: so two at once never exceed a limit together.
"""

from collections.abc import Collection, Mapping
from functools import cache
from typing import NamedTuple

from sqlalchemy import (
    BigInteger,
    Connection,
    Integer,
    Select,
    String,
    bindparam,
    delete,
    func,
    select,
    tuple_,
    update,
)

from croupier.lobby.storage.schema import SEATS, TABLES
from croupier.lobby.tables.forming_table import Table, TableState, players_of
from croupier.runtime.database.upsert import insert_into
from croupier.runtime.errors import LimitReached
from croupier_api.v1 import errors_pb2

MAX_NETWORK_GUESTS = 100
"""The maximum number of seats of one network at forming tables that players of other networks created."""
RETRY_SECONDS = 30


class TableLimits(NamedTuple):
    """The maximum numbers of tables that have not ended: those of one player, and those with players of one network."""

    of_player: int
    of_network: int


def add_seats(connection: Connection, table_id: str, networks: Mapping[str, str]) -> None:
    """Add the seats of some players at a table, each with a network, empty if it is not known."""
    rows = [
        {"table_id": table_id, "player_id": player_id, "network": network or None}
        for player_id, network in networks.items()
    ]
    connection.execute(insert_into(connection.dialect.name, SEATS).on_conflict_do_nothing(), rows)


def check_limits(
    connection: Connection, limits: TableLimits, player_id: str, network: str, host_network: str, more: int = 0
) -> None:
    """Raise LimitReached if a player or a network has too many seats, or would have with `more` tables.

    Seats at forming tables have a limit of their own only if `host_network` is another network.
    """
    values = {"of_player": player_id, "of_network": network}
    tables_of_player, tables_of_network, guests = connection.execute(_COUNTS, values).one()
    if tables_of_player + more > limits.of_player:
        raise _too_many("tables", limits.of_player, "player")
    if tables_of_network + more > limits.of_network:
        raise _too_many("tables", limits.of_network, "network")
    if host_network != network and guests + more > MAX_NETWORK_GUESTS:
        raise _too_many("seats at forming tables of other networks", MAX_NETWORK_GUESTS, "network")


def tables_by_network(connection: Connection, networks: Collection[str]) -> dict[str, int]:
    """Return the numbers of tables with players of some networks, without those that have none."""
    query = (
        select(SEATS.c.network, func.count(SEATS.c.table_id.distinct()).label("tables"))
        .where(SEATS.c.network.in_(networks))
        .group_by(SEATS.c.network)
    )
    return {row.network: row.tables for row in connection.execute(query)}


def free_seats(connection: Connection, table: Table) -> None:
    """Delete the seats of players who have none any more; those of an ended table count for no limit from now on."""
    is_here, is_free = SEATS.c.table_id == table.table_id, SEATS.c.player_id.not_in(players_of(table))
    connection.execute(delete(SEATS).where(is_here, is_free))
    if not table.is_running:
        ended = update(SEATS).where(is_here).values(network=None, created_milliseconds=table.created_milliseconds)
        connection.execute(ended)


def delete_seats(connection: Connection, table_ids: Collection[str]) -> None:
    """Delete the seats of deleted tables."""
    connection.execute(delete(SEATS).where(SEATS.c.table_id.in_(table_ids)))


@cache
def own_tables(*, has_ended: bool, is_first: bool) -> Select[tuple[int, str]]:
    """Return the query of a page of a player's tables that have ended, or that have not, newest first.

    Its parameters are `player_id`, `max_rows`, and those of the row before: `created` and `table_id`.
    """
    ended = SEATS.c.created_milliseconds.is_not(None)
    # A player has few tables that have not ended; those that have are one range of an index.
    created = (SEATS if has_ended else TABLES).c.created_milliseconds
    page = (
        select(TABLES)
        .join(SEATS, SEATS.c.table_id == TABLES.c.table_id)
        .where(SEATS.c.player_id == bindparam("player_id"), ended if has_ended else ~ended)
    )
    if not is_first:
        before = tuple_(bindparam("created", type_=BigInteger), bindparam("table_id", type_=String))
        page = page.where(tuple_(created, SEATS.c.table_id) < before)
    return page.order_by(created.desc(), SEATS.c.table_id.desc()).limit(bindparam("max_rows", type_=Integer))


def _too_many(what: str, limit: int, whose: str) -> LimitReached:
    return LimitReached(
        errors_pb2.ERROR_REASON_TOO_MANY_TABLES,
        f"too many {what}: expected at most {limit} of one {whose}",
        retry_after_seconds=RETRY_SECONDS,
        metadata={"limit": "tables"},
    )


_OF_NETWORK = SEATS.c.network == bindparam("of_network")
_COUNTS = select(
    select(func.count())
    .where(SEATS.c.player_id == bindparam("of_player"), SEATS.c.created_milliseconds.is_(None))
    .scalar_subquery(),
    select(func.count(SEATS.c.table_id.distinct())).where(_OF_NETWORK).scalar_subquery(),
    select(func.count())
    .select_from(SEATS.join(TABLES, TABLES.c.table_id == SEATS.c.table_id))
    .where(
        _OF_NETWORK,
        TABLES.c.state == TableState.FORMING,
        TABLES.c.network.is_distinct_from(bindparam("of_network", type_=String)),
    )
    .scalar_subquery(),
)
"""The statement has its values as parameters: building one takes longer than its execution."""
