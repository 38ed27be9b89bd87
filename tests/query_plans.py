"""The plans with which databases execute the statements of a call."""

from collections.abc import Awaitable, Callable, Collection, Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, Engine, event, text

from croupier.runtime.database.database import Database


@contextmanager
def before_each_statement(listener: Callable[..., None]) -> Iterator[None]:
    """Call a listener with connection, cursor, statement and parameters before each statement of this process."""
    event.listen(Engine, "before_cursor_execute", listener)
    try:
        yield
    finally:
        event.remove(Engine, "before_cursor_execute", listener)


async def statements_of(call: Callable[[], Awaitable[object]]) -> list[tuple[str, Any]]:
    """Return all statements of a call, with their parameters."""
    statements: list[tuple[str, Any]] = []

    def note(_: Any, __: Any, statement: str, parameters: Any, *___: Any) -> None:
        statements.append((statement, parameters))

    with before_each_statement(note):
        await call()
    return statements


async def rows_read(database: Database, table: str, call: Callable[[], Awaitable[object]]) -> int:
    """Return how many rows of a table PostgreSQL reads for the statements of a call, whatever its plans are."""
    statements = await statements_of(call)

    def read_so_far(connection: Connection) -> int:
        # Also by earlier transactions of the session, which were not reported yet.
        read = "SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_xact_user_tables WHERE relname = :table"
        return int(connection.execute(text(read), {"table": table}).scalar_one())

    def repeated(connection: Connection) -> int:
        before = read_so_far(connection)
        for statement, parameters in statements:
            connection.exec_driver_sql(statement, parameters)
        return read_so_far(connection) - before

    return await database.read(repeated)


async def plan_of(database: Database, call: Callable[[], Awaitable[object]]) -> list[str]:
    """Return the steps of SQLite for all statements of a call."""
    statements = await statements_of(call)

    def explained(connection: Connection) -> list[str]:
        return [
            row.detail
            for statement, parameters in statements
            for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters)
        ]

    return await database.read(explained)


def scanned(steps: Collection[str], tables: Collection[str]) -> set[str]:
    """Return those of the tables of which every row is read."""
    return {step.split()[1] for step in steps if step.startswith("SCAN ")} & set(tables)
