"""The plans with which SQLite executes the statements of a call."""

from collections.abc import Awaitable, Callable, Collection, Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, Engine, event

from croupier.runtime.database.database import Database


@contextmanager
def before_each_statement(listener: Callable[..., None]) -> Iterator[None]:
    """Call a listener with connection, cursor, statement and parameters before each statement of this process."""
    event.listen(Engine, "before_cursor_execute", listener)
    try:
        yield
    finally:
        event.remove(Engine, "before_cursor_execute", listener)


async def plan_of(database: Database, call: Callable[[], Awaitable[object]]) -> list[str]:
    """Return the steps of all statements of a call."""
    statements: list[tuple[str, Any]] = []

    def note(_: Any, __: Any, statement: str, parameters: Any, *___: Any) -> None:
        statements.append((statement, parameters))

    with before_each_statement(note):
        await call()

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
