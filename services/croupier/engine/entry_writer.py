"""One transaction that appends entries, on a thread of its own."""

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Any, TypeAlias

from sqlalchemy import Connection, Dialect, bindparam, insert, update
from sqlalchemy.ext.asyncio import AsyncEngine

from croupier.engine.schema import ENTRIES, TABLES
from croupier.runtime.database import blocking_twin

Row: TypeAlias = tuple[str, int, int, int, str]
"""The columns of an entry, in their order."""
Mark: TypeAlias = dict[str, Any]

_MARK = (
    update(TABLES)
    .where(TABLES.c.table_id == bindparam("marked_table"))
    .values(status=bindparam("new_status"), reports_due=bindparam("new_due"))
)


def insert_entries(connection: Connection, entries: list[Row]) -> None:
    """Insert rows; as text for the driver, since naming each value of each row costs as much as storing it."""
    connection.exec_driver_sql(_insert_text(connection.dialect), entries)


@lru_cache
def _insert_text(dialect: Dialect) -> str:
    return str(insert(ENTRIES).compile(dialect=dialect))


class EntryWriter:
    """Stores rows of entries and marks of tables in one transaction, for which it goes to a thread once.

    The asynchronous driver of SQLite goes to its thread for every step of one, and on a busy event loop each of these
    waits for the interpreter lock: a commit takes two to three times the processor and the time.
    """

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = blocking_twin(engine)
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="entry-writer")

    async def write(self, entries: list[Row], marks: Sequence[Mark]) -> None:
        """Return when all of it is durable; raises what the database raises."""
        await asyncio.get_running_loop().run_in_executor(self._thread, self._transaction, entries, marks)

    def _transaction(self, entries: list[Row], marks: Sequence[Mark]) -> None:
        with self._engine.begin() as connection:
            insert_entries(connection, entries)
            if marks:
                connection.execute(_MARK, marks)

    async def close(self) -> None:
        """Give back what the writer holds."""
        await asyncio.get_running_loop().run_in_executor(self._thread, self._engine.dispose)
        self._thread.shutdown()
