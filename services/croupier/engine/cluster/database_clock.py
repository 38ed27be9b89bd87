"""The clock of the database, which all its engines share."""

import asyncio
import math
from collections.abc import Awaitable, Callable
from typing import TypeAlias

from sqlalchemy import text

from croupier.runtime.database.database import Database
from croupier.runtime.identity.tokens import Clock
from croupier.runtime.observation.logs import Logger
from croupier.runtime.server.tasks import repeat

MEASURE_SECONDS = 5.0
SAMPLES = 3
MAX_DRIFT = 0.001
"""The greatest drift between two clocks, as a share of the time; that of usual ones is a tenth of this."""
_QUERY_TIME = text("SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint)")

QueryTime: TypeAlias = Callable[[], Awaitable[int]]
"""Returns the time of another clock, in milliseconds since 1970 UTC."""


class DatabaseClock:
    """The database's time in milliseconds since 1970 UTC: the local clock, corrected by its measured offset."""

    def __init__(self, local: Clock, query: QueryTime, logger: Logger) -> None:
        self._local = local
        self._query = query
        self._logger = logger
        self._offset = 0
        self._error = math.inf
        """The most milliseconds by which the offset was wrong when it was measured."""
        self._measured = 0

    def __call__(self) -> int:
        return self._local() + self._offset

    async def measure(self) -> None:
        """Measure the offset, by the quickest of a few answers of the database; raises Unavailable.

        While the database or this machine is busy, all answers are slow and show the offset badly. The one that is
        known is kept then, unless it cannot be right any more: if somebody has set one of the clocks.
        """
        duration, offset = min([await self._sample() for _ in range(SAMPLES)])
        now, error = self._local(), duration / 2
        known_error = self._error + abs(now - self._measured) * MAX_DRIFT
        if error <= known_error or abs(offset - self._offset) > error + known_error + 1:
            self._offset, self._error, self._measured = offset, error, now

    async def _sample(self) -> tuple[int, int]:
        """Return the duration of a query and the offset that it shows."""
        before = self._local()
        remote = await self._query()
        after = self._local()
        return after - before, remote - (before + after) // 2

    async def run(self) -> None:
        """Measure regularly; runs until cancelled. The last measurement holds while the database is down."""
        # The start of the engine has measured.
        await asyncio.sleep(MEASURE_SECONDS)
        await repeat(self.measure, MEASURE_SECONDS, self._logger, "the time of the database cannot be measured")


def time_query(database: Database, local: Clock) -> QueryTime:
    """Return the query for a database's time, which raises Unavailable; for SQLite, a file, that is the local time."""

    async def query() -> int:
        if database.dialect == "sqlite":
            return local()
        return int(await database.read(lambda connection: connection.execute(_QUERY_TIME).scalar_one()))

    return query
