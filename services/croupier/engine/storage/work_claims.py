"""Work claims: all engines look for due work, and each piece is done by the engine that claims it first."""

from sqlalchemy import Column, ColumnElement, and_, func, select, update

from croupier.runtime.database import Database


async def claim(
    database: Database, key: Column[str], at: Column[int], is_due: ColumnElement[bool], until: int, limit: int
) -> list[str]:
    """Claim due rows until `until`, and return their keys, oldest first; raises Unavailable.

    Column `at` has the time at which a row is due, which becomes `until`.
    """
    oldest = select(key).where(is_due).order_by(at).limit(limit).with_for_update(skip_locked=True)
    async with database.writing() as connection:
        found = list((await connection.execute(oldest)).scalars())
        if not found:
            return []
        # SQLite has no row locks, so a row may have changed since: its new time must not be overwritten.
        still_due = update(at.table).where(key.in_(found), is_due).values({at: until}).returning(key)
        claimed = set((await connection.execute(still_due)).scalars())
    return [each for each in found if each in claimed]


class DueRows:
    """Rows that become due at the time in one of their columns, as long as a condition holds."""

    def __init__(self, database: Database, key: Column[str], at: Column[int], condition: ColumnElement[bool]) -> None:
        self._database = database
        self._key = key
        self._at = at
        self._condition = condition
        self._version: int | None = None
        """The version of the database at which the first row is due at `_first`."""
        self._first: int | None = None

    async def claim(self, before: int, until: int, limit: int) -> list[str]:
        """Claim rows that were due before `before`, oldest first, until `until`; raises Unavailable."""
        if await self._is_none_due(before):
            return []
        is_due = and_(self._condition, self._at < before)
        return await claim(self._database, self._key, self._at, is_due, until, limit)

    async def _is_none_due(self, before: int) -> bool:
        """Return whether it is known that no row is due, by one query for each version of the database."""
        version = self._database.version
        if version is None:
            return False
        if version != self._version:
            async with self._database.reading() as connection:
                query = select(func.min(self._at)).where(self._condition)
                self._first = (await connection.execute(query)).scalar()
            self._version = version
        return self._first is None or self._first >= before
