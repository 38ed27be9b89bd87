"""The plans with which SQLite executes the statements of a call."""

from collections.abc import Awaitable, Callable, Collection
from typing import Any

from sqlalchemy import event
from sqlalchemy.ext.asyncio import AsyncEngine


async def plan_of(database: AsyncEngine, call: Callable[[], Awaitable[object]]) -> list[str]:
    """Return the steps of all statements of a call."""
    statements: list[tuple[str, Any]] = []

    def note(_: Any, __: Any, statement: str, parameters: Any, *___: Any) -> None:
        statements.append((statement, parameters))

    event.listen(database.sync_engine, "before_cursor_execute", note)
    await call()
    event.remove(database.sync_engine, "before_cursor_execute", note)
    steps: list[str] = []
    async with database.connect() as connection:
        for statement, parameters in statements:
            rows = await connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters)
            steps += [row.detail for row in rows]
    return steps


def scanned(steps: Collection[str], tables: Collection[str]) -> set[str]:
    """Return those of the tables of which every row is read."""
    return {step.split()[1] for step in steps if step.startswith("SCAN ")} & set(tables)
