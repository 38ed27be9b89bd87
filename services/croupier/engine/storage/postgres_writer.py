"""Appends to PostgreSQL, which tells all engines of them."""

from collections.abc import Iterator, Sequence

from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncEngine

from croupier.engine.storage.log_notifications import LOG_CHANNEL, MAX_PAYLOAD_BYTES, write_heads
from croupier.engine.storage.writer import Append, late, marks_of
from croupier.runtime.database import open_database

COMMIT_SECONDS = 4.0
"""A commit that takes longer has failed, as far as its engine knows."""

# One statement that is a transaction by itself: there is no moment in which an engine that dies, or is cut off, holds
# keys for which others would have to wait; and a round trip for each part would be most of the time. Values come as
# arrays, since naming each of them costs as much as storing it. A sequence that is taken fails all of it.
# The keys of entries come first, which those who read them from here on make sure of: PostgreSQL does not say in which
# order it does the parts, and two engines that changed other rows before, in any order, could wait for each other.
_WRITE = """
WITH appended AS (
    INSERT INTO entries (table_id, sequence, at, deadline, body)
    SELECT * FROM unnest($1::text[], $2::int[], $3::bigint[], $4::bigint[], $5::text[])
    RETURNING 1
), noted AS (
    INSERT INTO deadlines (table_id, at) SELECT * FROM unnest($6::text[], $7::bigint[])
    WHERE (SELECT count(*) FROM appended) > 0
    ON CONFLICT (table_id) DO UPDATE SET at = excluded.at
), marked AS (
    UPDATE tables SET status = mark.status, reports_due = mark.due, reports_at = mark.at, finished_at = mark.ended
    FROM unnest($8::text[], $9::text[], $10::int[], $11::bigint[], $12::bigint[])
        AS mark (table_id, status, due, at, ended)
    WHERE tables.table_id = mark.table_id AND (SELECT count(*) FROM appended) > 0
), ended AS (
    DELETE FROM deadlines WHERE table_id = ANY($13::text[]) AND (SELECT count(*) FROM appended) > 0
)
SELECT pg_notify($14, payload) FROM unnest($15::text[]) AS payload
"""


class PostgresWriter:
    """Stores appends. Engines that append to the same log wait for each other at its key.

    It has one connection, its own, which is used no more once it failed: where connections are open at one end only,
    the next commit gets a new one, and does not wait for each of those in a pool to be found out.
    """

    def __init__(self, engine: AsyncEngine, engine_id: str) -> None:
        url = engine.url.render_as_string(hide_password=False)
        opened = open_database(url, pool_size=1, command_seconds=COMMIT_SECONDS, pre_ping=False)
        self._engine = opened.execution_options(isolation_level="AUTOCOMMIT")
        self._engine_id = engine_id

    async def write(self, appends: Sequence[Append]) -> Sequence[int]:
        """Store all of it durably, or nothing, and then give the places of those that came too late."""
        async with self._engine.connect() as connection:
            try:
                await connection.exec_driver_sql(_WRITE, self._values(appends))
            except IntegrityError as conflict:
                return await connection.run_sync(late, appends, conflict)
            except BaseException as fault:
                await connection.invalidate(fault)
                raise
        return ()

    def _values(self, appends: Sequence[Append]) -> tuple[object, ...]:
        # In the order of tables always, so that two engines cannot wait for each other.
        ordered = sorted(appends, key=lambda append: append.table_id)
        rows = [row for append in ordered for row in append.rows]
        due = [(append.table_id, append.deadline) for append in ordered if not append.is_last]
        ended = [append.table_id for append in ordered if append.is_last]
        heads = {append.table_id: append.head for append in ordered}
        payloads = list(write_heads(self._engine_id, heads, MAX_PAYLOAD_BYTES))
        return (*_columns(rows, 5), *_columns(due, 2), *_columns(marks_of(ordered), 5), ended, LOG_CHANNEL, payloads)

    async def close(self) -> None:
        """Give back the connection."""
        await self._engine.dispose()


def _columns(rows: Sequence[tuple[object, ...]], width: int) -> Iterator[list[object]]:
    return ([row[place] for row in rows] for place in range(width))
