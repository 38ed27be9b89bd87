"""A commit of the harness's own, again and again: how long the database itself takes, past all services and proxies."""

import asyncio
import time
from contextlib import suppress

import asyncpg

STEP_SECONDS = 0.2
CONNECT_SECONDS = 5.0


class CommitProbe:
    """The longest time that a tiny commit took; what the database cannot do faster is not the services' pause."""

    def __init__(self, database: str) -> None:
        self._database = database
        self._longest_seconds = 0.0

    async def measure(self) -> None:
        """Measure until cancelled; while the database is away there is nothing to measure."""
        while True:
            with suppress(OSError, asyncpg.PostgresError, asyncpg.InterfaceError, TimeoutError):
                await self._commit_on_and_on()
            await asyncio.sleep(STEP_SECONDS)

    async def _commit_on_and_on(self) -> None:
        connection = await asyncpg.connect(self._database, timeout=CONNECT_SECONDS)
        try:
            await connection.execute("CREATE TABLE IF NOT EXISTS faults_probe (at double precision)")
            await connection.execute("INSERT INTO faults_probe SELECT 0 WHERE NOT EXISTS (SELECT FROM faults_probe)")
            while True:
                began = time.monotonic()
                await connection.execute("UPDATE faults_probe SET at = $1", began)
                self._longest_seconds = max(self._longest_seconds, time.monotonic() - began)
                await asyncio.sleep(STEP_SECONDS)
        finally:
            connection.terminate()

    def take(self) -> float:
        """The longest commit in seconds since it was taken last."""
        taken, self._longest_seconds = self._longest_seconds, 0.0
        return taken
