"""Appends to PostgreSQL, which tells all engines of them."""

from collections.abc import Iterator, Mapping, Sequence

from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from croupier.engine.entry_writer import Append, late, write_marks
from croupier.engine.postgres_news import LOG_CHANNEL, LONGEST_PAYLOAD_BYTES, write_heads
from croupier.runtime.database import open_database

# One statement for everything that each append changes: a round trip for each would be most of the time. Values come
# as arrays, since naming each of them costs as much as storing it.
_WRITE = """
WITH appended AS (
    INSERT INTO entries (table_id, sequence, at, deadline, body)
    SELECT * FROM unnest($1::text[], $2::int[], $3::bigint[], $4::bigint[], $5::text[])
    ON CONFLICT DO NOTHING RETURNING 1
), noted AS (
    INSERT INTO deadlines (table_id, at) SELECT * FROM unnest($6::text[], $7::bigint[])
    ON CONFLICT (table_id) DO UPDATE SET at = excluded.at
), told AS (
    SELECT pg_notify($9, payload) FROM unnest($8::text[]) AS payload
)
SELECT (SELECT count(*) FROM appended), (SELECT count(*) FROM told)
"""


COMMIT_SECONDS = 4.0
"""A commit that takes longer has failed, as far as its engine knows."""


class PostgresWriter:
    """Stores appends in one transaction. Engines that append to the same log wait for each other at its key.

    It has one connection, its own: where connections are open at one end only, the next commit gets a new one, and does
    not wait for each of those in a pool to be found out.
    """

    def __init__(self, engine: AsyncEngine, engine_id: str) -> None:
        self._engine = open_database(
            engine.url.render_as_string(hide_password=False), pool_size=1, command_seconds=COMMIT_SECONDS
        )
        self._engine_id = engine_id

    async def write(self, appends: Sequence[Append]) -> Sequence[int]:
        """Store all of it durably, or nothing, and then give the places of those that came too late."""
        try:
            async with self._engine.connect() as connection:
                if await self._write(connection, appends):
                    await connection.commit()
                    return ()
            conflict = None
        except IntegrityError as error:
            conflict = error
        async with self._engine.connect() as connection:
            return await connection.run_sync(late, appends, conflict)

    async def _write(self, connection: AsyncConnection, appends: Sequence[Append]) -> bool:
        # In the order of tables always, so that two engines cannot wait for each other.
        ordered = sorted(appends, key=lambda append: append.table_id)
        rows = [row for append in ordered for row in append.rows]
        due = [(append.table_id, append.deadline) for append in ordered if not append.is_last]
        heads = {append.table_id: append.head for append in ordered}
        arrays = (*_columns(rows, 5), *_columns(due, 2), list(self._payloads(heads)), LOG_CHANNEL)
        written = (await connection.exec_driver_sql(_WRITE, arrays)).one()
        if written[0] != len(rows):
            return False
        if any(append.mark for append in ordered):
            await connection.run_sync(_marks, ordered)
        return True

    def _payloads(self, heads: Mapping[str, int]) -> Iterator[str]:
        """What is told of a commit: one text, unless it is too long for one."""
        return write_heads(self._engine_id, heads, LONGEST_PAYLOAD_BYTES)

    async def close(self) -> None:
        """Give back the connection."""
        await self._engine.dispose()


def _marks(connection: Connection, appends: Sequence[Append]) -> None:
    write_marks(connection, appends)


def _columns(rows: Sequence[tuple[object, ...]], width: int) -> Iterator[list[object]]:
    return ([row[place] for row in rows] for place in range(width))
