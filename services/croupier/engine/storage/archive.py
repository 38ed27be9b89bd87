"""The archive of finished tables, one row for each log; and the deletion of tables that were never opened."""

from collections.abc import Sequence

from sqlalchemy import Connection, Select, delete, insert, select

from croupier.engine.core.history import PackedLog
from croupier.engine.storage.schema import ARCHIVE, ENTRIES, TABLES

KEPT = ("table_id", "game", "rules_version", "config", "seed", "finished_at")
"""The columns of a table that its archive has too."""


def archive(connection: Connection, table_id: str, packed: PackedLog) -> None:
    """Move a table with its log to the archive, unless it is there; raises ValueError if its log is another."""
    # An engine that still appends to it waits for this transaction, and then finds the table archived.
    locked = select(TABLES).where(TABLES.c.table_id == table_id).with_for_update()
    table = connection.execute(locked).one_or_none()
    if table is None:
        return
    values = {name: getattr(table, name) for name in KEPT}
    connection.execute(insert(ARCHIVE).values(**values, log=packed.log))
    deleted = connection.execute(delete(ENTRIES).where(ENTRIES.c.table_id == table_id))
    if deleted.rowcount != packed.entries:
        raise ValueError(f"the log has {deleted.rowcount} entries: expected {packed.entries}")
    connection.execute(delete(TABLES).where(TABLES.c.table_id == table_id))


def delete_archived(connection: Connection, finished_before: int, limit: int) -> int:
    """Delete archived tables that ended before a moment; return their number."""
    old = select(ARCHIVE.c.table_id).where(ARCHIVE.c.finished_at < finished_before).limit(limit)
    table_ids = connection.scalars(old).all()
    if table_ids:
        connection.execute(delete(ARCHIVE).where(ARCHIVE.c.table_id.in_(table_ids)))
    return len(table_ids)


def delete_prepared(connection: Connection, prepared_before: int, limit: int) -> int:
    """Delete tables that were prepared before a moment and never opened; return their number."""
    is_old = TABLES.c.created_at < prepared_before
    return _delete_prepared(connection, select(TABLES.c.table_id).where(is_old).limit(limit))


def discard_prepared(connection: Connection, table_ids: Sequence[str]) -> int:
    """Delete those of some tables that were never opened; return their number."""
    return _delete_prepared(connection, select(TABLES.c.table_id).where(TABLES.c.table_id.in_(table_ids)))


def _delete_prepared(connection: Connection, chosen: Select[tuple[str]]) -> int:
    never_opened = TABLES.c.status == "prepared"
    # Skips a table that is being opened.
    unlocked = chosen.where(never_opened).with_for_update(skip_locked=True)
    table_ids = connection.scalars(unlocked).all()
    if table_ids:
        connection.execute(delete(TABLES).where(TABLES.c.table_id.in_(table_ids), never_opened))
    return len(table_ids)
