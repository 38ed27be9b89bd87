"""What nobody looks after is found by all engines, and done by the one that claims it first."""

from sqlalchemy import Column, ColumnElement, select, update
from sqlalchemy.ext.asyncio import AsyncEngine

from croupier.runtime.database import transaction


async def claim(
    engine: AsyncEngine, key: Column[str], at: Column[int], is_due: ColumnElement[bool], until: int, limit: int
) -> list[str]:
    """The keys of rows that are due, longest first, which are nobody else's until `until`; raises Unavailable.

    `at` says since when a row is due, and is set to `until`.
    """
    oldest = select(key).where(is_due).order_by(at).limit(limit).with_for_update(skip_locked=True)
    async with transaction(engine) as connection:
        found = list((await connection.execute(oldest)).scalars())
        if not found:
            return []
        # SQLite leaves the lock out, so a row may have changed since: what it says now must not be overwritten.
        still_due = update(at.table).where(key.in_(found), is_due).values({at: until}).returning(key)
        claimed = set((await connection.execute(still_due)).scalars())
    return [each for each in found if each in claimed]
