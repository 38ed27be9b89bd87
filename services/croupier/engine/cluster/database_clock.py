"""One time for all engines of a database: its own."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeAlias

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from croupier.runtime.identity import Clock
from croupier.runtime.logs import Logger

MEASURE_SECONDS = 5.0
TRIES = 3
_QUERY = text("SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint)")

AskTime: TypeAlias = Callable[[], Awaitable[int]]
"""Gives the time somewhere else."""


class DatabaseClock:
    """Milliseconds since 1970 UTC as the database counts them, by this machine's clock and how far that is off."""

    def __init__(self, local: Clock, ask: AskTime, logger: Logger) -> None:
        self._local = local
        self._ask = ask
        self._logger = logger
        self._offset = 0

    def __call__(self) -> int:
        return self._local() + self._offset

    async def measure(self) -> None:
        """Ask the database for its time; the quickest of a few answers counts. Raises what the database raises."""
        self._offset = min([await self._asked() for _ in range(TRIES)])[1]

    async def _asked(self) -> tuple[int, int]:
        before = self._local()
        there = await self._ask()
        after = self._local()
        return after - before, there - (before + after) // 2

    async def run(self) -> None:
        """Measure again and again; runs until cancelled."""
        while True:
            await asyncio.sleep(MEASURE_SECONDS)
            try:
                await self.measure()
            except Exception as error:  # noqa: BLE001 - whatever it was, the last measurement holds until the next
                self._logger.warning("the database cannot be asked for its time", error=type(error).__name__)


def time_of(database: AsyncEngine, local: Clock) -> AskTime:
    """How to ask a database for its time; SQLite, which is a file, has that of this machine."""

    async def ask() -> int:
        if database.dialect.name == "sqlite":
            return local()
        async with database.connect() as connection:
            return int((await connection.execute(_QUERY)).scalar_one())

    return ask
