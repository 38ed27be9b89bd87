"""The seats of players at tables that have not ended, by which players and networks have a share of tables.

A transaction adds its seats first, and then counts: so two at once never exceed a limit together.
"""

from collections.abc import Collection, Mapping
from typing import NamedTuple

from sqlalchemy import Connection, String, bindparam, delete, func, select

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
    """Delete the seats of players who have none any more; an ended table has none."""
    players = players_of(table) if table.is_running else ()
    is_free = SEATS.c.player_id.not_in(players)
    connection.execute(delete(SEATS).where(SEATS.c.table_id == table.table_id, is_free))


def _too_many(what: str, limit: int, whose: str) -> LimitReached:
    return LimitReached(
        errors_pb2.ERROR_REASON_TOO_MANY_TABLES,
        f"too many {what}: expected at most {limit} of one {whose}",
        retry_after_seconds=RETRY_SECONDS,
        metadata={"limit": "tables"},
    )


_OF_NETWORK = SEATS.c.network == bindparam("of_network")
_COUNTS = select(
    select(func.count()).where(SEATS.c.player_id == bindparam("of_player")).scalar_subquery(),
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
