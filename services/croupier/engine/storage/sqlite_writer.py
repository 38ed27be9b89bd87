"""Appends to SQLite, on a thread of its own."""

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from sqlalchemy import Connection, bindparam, delete, insert, update
from sqlalchemy.dialects import sqlite
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncEngine

from croupier.engine.storage.schema import DEADLINES, ENTRIES, TABLES
from croupier.engine.storage.writer import Append, Mark, late, marks_of
from croupier.runtime.database import blocking_twin

_UPSERT = sqlite.insert(DEADLINES)
# As text for the driver, since naming each value of each row costs as much as storing it.
_INSERT_TEXT = str(insert(ENTRIES).compile(dialect=sqlite.dialect()))
_DEADLINE_TEXT = str(
    _UPSERT.on_conflict_do_update(index_elements=["table_id"], set_={"at": _UPSERT.excluded.at}).compile(
        dialect=sqlite.dialect()
    )
)


_MARK = (
    update(TABLES)
    .where(TABLES.c.table_id == bindparam("marked_table"))
    .values({name: bindparam(name) for name in Mark._fields if name != "marked_table"})
)


class SqliteWriter:
    """Stores appends in one transaction, for which it goes to a thread once.

    The asynchronous driver of SQLite goes to its thread for every step of one, and on a busy event loop each of these
    waits for the interpreter lock: a commit takes two to three times the processor and the time.
    """

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = blocking_twin(engine)
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="entry-writer")

    async def write(self, appends: Sequence[Append]) -> Sequence[int]:
        """Store all of it durably, or nothing, and then give the places of those that came too late."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._transaction, appends)

    def _transaction(self, appends: Sequence[Append]) -> Sequence[int]:
        try:
            with self._engine.begin() as connection:
                _write(connection, appends)
        except IntegrityError as conflict:
            with self._engine.connect() as connection:
                return late(connection, appends, conflict)
        return ()

    async def close(self) -> None:
        """Give back what the writer holds."""
        await asyncio.get_running_loop().run_in_executor(self._thread, self._engine.dispose)
        self._thread.shutdown()


def _write(connection: Connection, appends: Sequence[Append]) -> None:
    connection.exec_driver_sql(_INSERT_TEXT, [row for append in appends for row in append.rows])
    if deadlines := [(append.table_id, append.deadline) for append in appends if not append.is_last]:
        connection.exec_driver_sql(_DEADLINE_TEXT, deadlines)
    if marks := marks_of(appends):
        connection.execute(_MARK, [mark._asdict() for mark in marks])
    if ended := [append.table_id for append in appends if append.is_last]:
        connection.execute(delete(DEADLINES).where(DEADLINES.c.table_id.in_(ended)))
