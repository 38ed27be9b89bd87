"""Appends to PostgreSQL."""

import asyncio
from collections.abc import Iterator, Sequence

from croupier.engine.core.log import TableConfig
from croupier.engine.storage.claims import claim_overdue, postpone
from croupier.engine.storage.writer import (
    Append,
    EntryWriter,
    change_rows,
    deadline_rows,
    lost_races,
    open_with_deadline,
)
from croupier.runtime.database.database import Database
from croupier.runtime.database.drivers import ConstraintViolated, PreparedStatement
from croupier.runtime.outcomes import Callback, call_back

COMMIT_SECONDS = 4.0
"""An engine gives up a commit that takes longer."""

# One statement that is a transaction by itself: an engine that dies, or is cut off, never holds keys for which others
# would have to wait, and no part costs a round trip. Values are arrays, since a parameter for each of them costs as
# much as its storage. A taken sequence fails the whole statement.
# PostgreSQL executes the parts in no defined order, and two engines that changed other rows first could deadlock. So
# all other parts read `appended`, which makes the keys of entries come first.
_WRITE = """
WITH appended AS (
    INSERT INTO entries (table_id, sequence, at, deadline, body, to_act, away)
    SELECT * FROM unnest($1::text[], $2::int[], $3::bigint[], $4::bigint[], $5::text[], $6::smallint[], $7::smallint[])
    RETURNING 1
), scheduled AS (
    INSERT INTO deadlines (table_id, at)
    SELECT * FROM unnest($8::text[], $9::bigint[])
    WHERE (SELECT count(*) FROM appended) > 0
    ON CONFLICT (table_id) DO UPDATE SET at = excluded.at
), changed AS (
    UPDATE tables
    SET status = change.status, reports_due = change.due, reports_at = change.at, finished_at = change.ended,
        network = CASE WHEN change.ended IS NULL THEN tables.network END
    FROM unnest($10::text[], $11::text[], $12::int[], $13::bigint[], $14::bigint[])
        AS change (table_id, status, due, at, ended)
    WHERE tables.table_id = change.table_id AND (SELECT count(*) FROM appended) > 0
)
DELETE FROM deadlines WHERE table_id = ANY($15::text[]) AND (SELECT count(*) FROM appended) > 0
"""


class PostgresWriter(EntryWriter):
    """Stores appends. Engines that append to the same log wait for each other at its key.

    It has a single connection. With a pool, commits would find out one by one that its connections are dead.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._statement = PreparedStatement(database.url, _WRITE, COMMIT_SECONDS)
        self._writing: asyncio.Task[Sequence[int]] | None = None

    async def open(self, append: Append, config: TableConfig) -> bool:
        return await self._database.write(open_with_deadline, append, config)

    def write(self, appends: Sequence[Append], done: Callback[Sequence[int]]) -> None:
        self._writing = call_back(self._write(appends), done)

    async def _write(self, appends: Sequence[Append]) -> Sequence[int]:
        try:
            with self._database.available():
                await self._statement.execute(*_values(appends))
        except ConstraintViolated as conflict:
            return await self._database.read(lost_races, appends, conflict)
        return ()

    async def claim_overdue(self, before: int, until: int, limit: int) -> list[str]:
        return await self._database.write(claim_overdue, before, until, limit)

    async def postpone(self, table_ids: Sequence[str], until: int) -> None:
        await self._database.write(postpone, table_ids, until)

    def close(self) -> None:
        """Give up the write under way, and close the connection."""
        if self._writing is not None:
            self._writing.cancel()
        self._statement.close()


def _values(appends: Sequence[Append]) -> tuple[object, ...]:
    # Always in the order of tables, so that two engines cannot deadlock.
    ordered = sorted(appends, key=lambda append: append.table_id)
    rows = [row for append in ordered for row in append.rows]
    ended = [append.table_id for append in ordered if append.ends_game]
    return (*_columns(rows, 7), *_columns(deadline_rows(ordered), 2), *_columns(change_rows(ordered), 5), ended)


def _columns(rows: Sequence[tuple[object, ...]], width: int) -> Iterator[list[object]]:
    return ([row[column] for row in rows] for column in range(width))
