"""Claims of due work: all engines look for it, and each piece is done by the engine that claims it first."""

from collections.abc import Sequence

import sqlalchemy as sa

from croupier.engine.storage.schema import DEADLINES


def claim_overdue(connection: sa.Connection, before: int, until: int, limit: int) -> list[str]:
    """Claim open tables as TableStore.claim_overdue does, by their rows of deadlines."""
    return claim(connection, DEADLINES.c.at, DEADLINES.c.at < before, until, limit)


def postpone(connection: sa.Connection, table_ids: Sequence[str], until: int) -> None:
    """Postpone claims as TableStore.postpone does, by their rows of deadlines."""
    is_earlier = sa.and_(DEADLINES.c.table_id.in_(table_ids), DEADLINES.c.at < until)
    claim(connection, DEADLINES.c.at, is_earlier, until, len(table_ids))


def claim(
    connection: sa.Connection, at: sa.Column[int], is_due: sa.ColumnElement[bool], until: int, limit: int
) -> list[str]:
    """Claim due rows until `until`, and return their tables, oldest first.

    Column `at` has the time at which a row is due, which becomes `until`.
    """
    key: sa.Column[str] = at.table.c.table_id
    oldest = sa.select(key).where(is_due).order_by(at).limit(limit).with_for_update(skip_locked=True)
    found = connection.scalars(oldest).all()
    if not found:
        return []
    # SQLite has no row locks, so a row may have changed since: its new time must not be overwritten.
    still_due = sa.update(at.table).where(key.in_(found), is_due).values({at: until}).returning(key)
    claimed = set(connection.scalars(still_due))
    return [each for each in found if each in claimed]
