"""The archive of finished tables, one row for each log; and the deletion of tables that were never opened."""

from typing import Any

from sqlalchemy import Row, delete, insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from croupier.engine.core.log_codec import encode_log
from croupier.engine.storage.schema import ARCHIVE, ENTRIES, TABLES

_KEPT = ("table_id", "game", "rules_version", "config", "seed", "finished_at")


async def archive_finished(connection: AsyncConnection, finished_before: int, limit: int) -> int:
    """Archive tables that ended before a moment and whose reports are all delivered; return their number."""
    over = (
        select(TABLES)
        .where(TABLES.c.finished_at < finished_before, TABLES.c.reports_done >= TABLES.c.reports_due)
        .order_by(TABLES.c.finished_at)
        .limit(limit)
        # An engine that still appends to one waits for this transaction, and then finds the table archived.
        .with_for_update(skip_locked=True)
    )
    tables = (await connection.execute(over)).all()
    for table in tables:
        await _archive(connection, table)
    return len(tables)


async def _archive(connection: AsyncConnection, table: Row[Any]) -> None:
    mine = ENTRIES.c.table_id == table.table_id
    columns = (ENTRIES.c.sequence, ENTRIES.c.at, ENTRIES.c.deadline, ENTRIES.c.body)
    log = encode_log(await connection.execute(select(*columns).where(mine).order_by(ENTRIES.c.sequence)))
    values = {name: getattr(table, name) for name in _KEPT}
    await connection.execute(insert(ARCHIVE).values(**values, log=log))
    await connection.execute(delete(ENTRIES).where(mine))
    await connection.execute(delete(TABLES).where(TABLES.c.table_id == table.table_id))


async def delete_archived(connection: AsyncConnection, finished_before: int, limit: int) -> int:
    """Delete archived tables that ended before a moment; return their number."""
    old = select(ARCHIVE.c.table_id).where(ARCHIVE.c.finished_at < finished_before).limit(limit)
    table_ids = list((await connection.execute(old)).scalars())
    if table_ids:
        await connection.execute(delete(ARCHIVE).where(ARCHIVE.c.table_id.in_(table_ids)))
    return len(table_ids)


async def delete_prepared(connection: AsyncConnection, prepared_before: int, limit: int) -> int:
    """Delete tables that were prepared before a moment and never opened; return their number."""
    never_opened = TABLES.c.status == "prepared"
    old = select(TABLES.c.table_id).where(never_opened, TABLES.c.created_at < prepared_before).limit(limit)
    # Skips a table that is being opened.
    table_ids = list((await connection.execute(old.with_for_update(skip_locked=True))).scalars())
    if table_ids:
        await connection.execute(delete(TABLES).where(TABLES.c.table_id.in_(table_ids), never_opened))
    return len(table_ids)
