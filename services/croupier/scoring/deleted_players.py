"""Deleted players: their results stay, without their names.

The row of PLAYER_NAMES of a deleted player has no name, and an end after that of every table: so no later table names
them again. Reports that come after the deletion still have the name, and are recorded without it.
"""

import json
from collections.abc import Collection, Sequence

from sqlalchemy import BigInteger, Connection, bindparam, literal, select, update

from croupier.runtime.database.database import Database
from croupier.runtime.database.upsert import insert_into
from croupier.scoring.schema import PLAYER_NAMES, RESULT_PLAYERS, SHEETS

BATCH_SIZE = 25
END_OF_TIME = 2**63 - 1


async def remove_name(database: Database, player_id: str, playing: Collection[str], after: str) -> Sequence[str]:
    """Remove the name of a deleted player from tables that are played, and from the next ones with their results.

    Returns the ids of these, which are greater than `after`, in their order; none after the last. Each table is a
    transaction of its own, so that reports of others do not wait.
    """
    if not after:
        await database.write(_forget, player_id, is_playing=bool(playing))
        for table_id in sorted(playing):
            await database.write(_remove_at, table_id, player_id)
    wanted = {"player_id": player_id, "after": after, "max_rows": BATCH_SIZE}
    table_ids = await database.read(lambda connection: connection.scalars(_NEXT_TABLES, wanted).all())
    for table_id in table_ids:
        await database.write(_remove_at, table_id, player_id)
    return table_ids


def deleted_of(connection: Connection, player_ids: Sequence[str]) -> frozenset[str]:
    """Return those of some players who are deleted."""
    return frozenset(connection.scalars(_DELETED, {"player_ids": player_ids}))


def _forget(connection: Connection, player_id: str, *, is_playing: bool) -> None:
    """Remove the name from leaderboards; of a player without results it is kept out only if one will come."""
    nameless = {"name": "", "end_milliseconds": END_OF_TIME, "table_id": ""}
    if is_playing:
        insert = insert_into(connection.dialect.name, PLAYER_NAMES).values(player_id=player_id, **nameless)
        connection.execute(insert.on_conflict_do_update(index_elements=[PLAYER_NAMES.c.player_id], set_=nameless))
    else:
        connection.execute(update(PLAYER_NAMES).where(PLAYER_NAMES.c.player_id == player_id).values(nameless))


def _remove_at(connection: Connection, table_id: str, player_id: str) -> None:
    """Remove the name from the sheet and the result of a table; the transaction has the table's lock, as reports do."""
    seats = connection.execute(_SEATS, {"locked_id": table_id}).scalar_one_or_none()
    if seats is None:
        return
    nameless = [[seated, "" if seated == player_id else name, bot] for seated, name, bot in json.loads(seats)]
    at_table = SHEETS.c.table_id == table_id
    connection.execute(update(SHEETS).where(at_table).values(seats=json.dumps(nameless)))
    of_player = RESULT_PLAYERS.c.table_id == table_id, RESULT_PLAYERS.c.player_id == player_id
    connection.execute(update(RESULT_PLAYERS).where(*of_player).values(name=""))


# The statements have their values as parameters: building one takes longer than its execution.
_DELETED = select(PLAYER_NAMES.c.player_id).where(
    PLAYER_NAMES.c.player_id.in_(bindparam("player_ids", expanding=True)),
    PLAYER_NAMES.c.end_milliseconds == literal(END_OF_TIME, BigInteger),
)
_NEXT_TABLES = (
    select(RESULT_PLAYERS.c.table_id)
    .where(RESULT_PLAYERS.c.player_id == bindparam("player_id"), RESULT_PLAYERS.c.table_id > bindparam("after"))
    .order_by(RESULT_PLAYERS.c.table_id)
    .limit(bindparam("max_rows"))
)
_SEATS = (
    update(SHEETS)
    .where(SHEETS.c.table_id == bindparam("locked_id"))
    .values(reported_milliseconds=SHEETS.c.reported_milliseconds)
    .returning(SHEETS.c.seats)
)
