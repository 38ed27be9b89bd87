"""Housekeeping: deletes the entries of tables that ended long ago; standings keep their sums."""

import asyncio
from dataclasses import dataclass

from sqlalchemy import delete, literal, select
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from croupier.runtime.database import transaction
from croupier.runtime.identity import Clock
from croupier.runtime.logs import Logger
from croupier.scoring.schema import RESULT_PLAYERS, RESULTS, ROUNDS, SEAT_COUNTS, SHEETS

PAUSE_SECONDS = 60.0
BATCH_SIZE = 50
DAY_MILLISECONDS = 86_400_000


@dataclass(frozen=True, slots=True)
class Housekeeper:
    """Deletes results, with score sheets and rounds, `result_days` after their end.

    Engines repeat a report within seconds. One that came only after the deletion would count a second time.
    """

    database: AsyncEngine
    result_days: int
    clock: Clock
    logger: Logger

    async def run(self) -> None:
        """Delete old results again and again; runs until cancelled."""
        while True:
            try:
                await self.delete_expired()
            except Exception as error:  # noqa: BLE001 - any failure is repeated at the next time
                self.logger.warning("old results are deleted later", error=type(error).__name__)
            await asyncio.sleep(PAUSE_SECONDS)

    async def delete_expired(self) -> None:
        """Delete what is older than the retention time, in batches."""
        ended_before = self.clock() - self.result_days * DAY_MILLISECONDS
        for is_public in (True, False):
            deleted = BATCH_SIZE
            while deleted == BATCH_SIZE:
                async with transaction(self.database) as connection:
                    deleted = await _delete_batch(connection, is_public, ended_before)


async def _delete_batch(connection: AsyncConnection, is_public: bool, ended_before: int) -> int:
    ended = RESULTS.c.end_milliseconds
    old = select(SHEETS.c.table_id).join(RESULTS, RESULTS.c.table_id == SHEETS.c.table_id)
    old = old.where(RESULTS.c.is_public == literal(is_public), ended < ended_before)
    old = old.order_by(ended, RESULTS.c.table_id).limit(BATCH_SIZE)
    # A batch that another replica deletes is skipped: two could wait for each other.
    table_ids = list((await connection.execute(old.with_for_update(of=SHEETS, skip_locked=True))).scalars())
    for table in (RESULT_PLAYERS, RESULTS, SEAT_COUNTS, ROUNDS, SHEETS) if table_ids else ():
        await connection.execute(delete(table).where(table.c.table_id.in_(table_ids)))
    return len(table_ids)
