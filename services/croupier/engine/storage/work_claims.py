"""Work claims: all engines look for due work, and each piece is done by the engine that claims it first."""

from sqlalchemy import Column, ColumnElement, Connection, select, update


def claim(
    connection: Connection, key: Column[str], at: Column[int], is_due: ColumnElement[bool], until: int, limit: int
) -> list[str]:
    """Claim due rows until `until`, and return their keys, oldest first.

    Column `at` has the time at which a row is due, which becomes `until`.
    """
    oldest = select(key).where(is_due).order_by(at).limit(limit).with_for_update(skip_locked=True)
    found = connection.scalars(oldest).all()
    if not found:
        return []
    # SQLite has no row locks, so a row may have changed since: its new time must not be overwritten.
    still_due = update(at.table).where(key.in_(found), is_due).values({at: until}).returning(key)
    claimed = set(connection.scalars(still_due))
    return [each for each in found if each in claimed]
