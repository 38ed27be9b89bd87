"""Housekeeping: deletes the entries of tables that ended, or got no report, long ago; standings keep their sums."""

from sqlalchemy import Connection, Select, delete, exists, literal, select

from croupier.runtime.database.database import Database
from croupier.runtime.identity.tokens import Clock
from croupier.scoring.schema import RESULT_PLAYERS, RESULTS, ROUNDS, SEAT_COUNTS, SHEETS

BATCH_SIZE = 50
DAY_MILLISECONDS = 86_400_000


async def delete_expired(database: Database, result_days: int, clock: Clock) -> None:
    """Delete results, with score sheets and rounds, `result_days` after their end, in batches.

    Sheets without result are deleted so long after the last report of their table. Engines repeat a report within
    seconds. One that came only after the deletion would count a second time.
    """
    before = clock() - result_days * DAY_MILLISECONDS
    # Results come first: of the sheets that were reported so long ago, those without one are then left.
    for old in (_ended(True, before), _ended(False, before), _abandoned(before)):
        deleted = BATCH_SIZE
        while deleted == BATCH_SIZE:
            deleted = await database.write(_delete_batch, old)


def _ended(is_public: bool, before: int) -> Select[tuple[str]]:
    """Return the ids of tables that ended before a time."""
    ended = RESULTS.c.end_milliseconds
    old = select(SHEETS.c.table_id).join(RESULTS, RESULTS.c.table_id == SHEETS.c.table_id)
    is_published = RESULTS.c.publish_milliseconds.is_(None)
    old = old.where(RESULTS.c.is_public == literal(is_public), ended < before, is_published)
    return old.order_by(ended, RESULTS.c.table_id)


def _abandoned(before: int) -> Select[tuple[str]]:
    """Return the ids of tables without result that were last reported before a time."""
    reported = SHEETS.c.reported_milliseconds
    has_result = exists().where(RESULTS.c.table_id == SHEETS.c.table_id)
    return select(SHEETS.c.table_id).where(reported < before, ~has_result).order_by(reported)


def _delete_batch(connection: Connection, old: Select[tuple[str]]) -> int:
    # It deletes nothing, but SQLite, which has no row locks, lets no report in from here on.
    connection.execute(delete(SHEETS).where(SHEETS.c.table_id == ""))
    # A batch that another replica deletes is skipped: two could wait for each other. So are tables that report now.
    batch = old.limit(BATCH_SIZE).with_for_update(of=SHEETS, skip_locked=True)
    table_ids = connection.scalars(batch).all()
    for table in (RESULT_PLAYERS, RESULTS, SEAT_COUNTS, ROUNDS, SHEETS) if table_ids else ():
        connection.execute(delete(table).where(table.c.table_id.in_(table_ids)))
    return len(table_ids)
