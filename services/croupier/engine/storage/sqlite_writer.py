"""Appends to SQLite, on their own thread."""

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from sqlalchemy import Connection, bindparam, case, delete, insert, update
from sqlalchemy.dialects import sqlite
from sqlalchemy.exc import IntegrityError

from croupier.engine.storage.schema import DEADLINES, ENTRIES, TABLES
from croupier.engine.storage.writer import Append, ChangeRow, change_rows, lost_races
from croupier.runtime.database import Database, blocking_engine

_UPSERT = sqlite.insert(DEADLINES)
# Text for the driver, since a parameter of SQLAlchemy for each value costs as much as its storage.
_INSERT_TEXT = str(insert(ENTRIES).compile(dialect=sqlite.dialect()))
_DEADLINE_TEXT = str(
    _UPSERT.on_conflict_do_update(index_elements=["table_id"], set_={"at": _UPSERT.excluded.at}).compile(
        dialect=sqlite.dialect()
    )
)


_CHANGE = (
    update(TABLES)
    .where(TABLES.c.table_id == bindparam("changed_table"))
    .values({name: bindparam(name) for name in ChangeRow._fields if name != "changed_table"})
    .values(network=case((bindparam("finished_at").is_(None), TABLES.c.network)))
)


class SqliteWriter:
    """Stores appends in one transaction, as a single job of a thread.

    The asynchronous driver of SQLite sends each statement to its thread, and on a busy event loop each of these waits
    for the interpreter lock: a commit takes two to three times the CPU and the time.
    """

    def __init__(self, database: Database) -> None:
        self._turn = database.turn
        self._engine = blocking_engine(database.engine)
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="entry-writer")

    async def write(self, appends: Sequence[Append]) -> Sequence[int]:
        """Store all appends durably, or none; then return the indexes of those that lost a race."""
        async with self._turn:
            return await asyncio.get_running_loop().run_in_executor(self._thread, self._transaction, appends)

    def _transaction(self, appends: Sequence[Append]) -> Sequence[int]:
        try:
            with self._engine.begin() as connection:
                _write(connection, appends)
        except IntegrityError as conflict:
            with self._engine.connect() as connection:
                return lost_races(connection, appends, conflict)
        return ()

    async def close(self) -> None:
        """Close the connection and end the thread."""
        await asyncio.get_running_loop().run_in_executor(self._thread, self._engine.dispose)
        self._thread.shutdown()


def _write(connection: Connection, appends: Sequence[Append]) -> None:
    connection.exec_driver_sql(_INSERT_TEXT, [row for append in appends for row in append.rows])
    if deadlines := [(append.table_id, append.deadline) for append in appends if not append.ends_game]:
        connection.exec_driver_sql(_DEADLINE_TEXT, deadlines)
    if changes := change_rows(appends):
        connection.execute(_CHANGE, [change._asdict() for change in changes])
    if ended := [append.table_id for append in appends if append.ends_game]:
        connection.execute(delete(DEADLINES).where(DEADLINES.c.table_id.in_(ended)))
