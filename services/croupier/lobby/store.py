"""The lobby's database: transactions, locks and notifications between replicas."""

import asyncio
import hashlib
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from sqlalchemy import BigInteger, Column, ColumnElement, Select, cast, func, literal, select, text
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from croupier.runtime.database import transaction

NOTIFICATION_CHANNEL = "croupier_lobby_table"
"""The channel of PostgreSQL on which lobbies send the ids of changed tables to each other."""


class Store:
    """Connections for one statement or one transaction, on PostgreSQL or SQLite.

    A database ends one of two transactions that wait for each other. Therefore a transaction that changes several rows
    locks them in one order, or skips those that are locked.
    """

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine
        # SQLite has one writer: this lock is fair, while waiting in SQLite is polling.
        self._writer = asyncio.Lock() if engine.dialect.name == "sqlite" else None

    def reading(self) -> AbstractAsyncContextManager[AsyncConnection]:
        """Open a connection to read with; raises Unavailable while the database cannot be used."""
        return transaction(self._engine)

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[AsyncConnection]:
        """Open a transaction, which is committed at the end of the block, and rolled back by any exception.

        Raises Unavailable while the database cannot be used.
        """
        if self._writer is None:
            async with transaction(self._engine) as connection:
                yield connection
        else:
            async with self._writer, transaction(self._engine) as connection:
                yield connection

    async def acquire_advisory_lock(self, connection: AsyncConnection, *key: str | int) -> None:
        """Wait for a lock and hold it until the transaction ends.

        At READ COMMITTED concurrent transactions would not see each other's rows. A transaction acquires such locks
        before anything else, and those of several kinds in one order.
        """
        if self._writer is None:
            digest = hashlib.sha256("\0".join(map(str, ("croupier lobby", *key))).encode()).digest()
            number = int.from_bytes(digest[:8], signed=True)
            await connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": number})

    async def notify(self, connection: AsyncConnection, table_id: str) -> None:
        """Notify the other replicas of a changed table, once this transaction is committed."""
        if self._writer is None:
            notification = {"channel": NOTIFICATION_CHANNEL, "table_id": table_id}
            await connection.execute(text("SELECT pg_notify(:channel, :table_id)"), notification)

    def arrival_time(self, now: int) -> ColumnElement[int]:
        """Return the time in milliseconds since 1970 UTC, by one clock for all replicas."""
        if self._writer is not None:
            return literal(now, BigInteger)
        return cast(func.extract("epoch", func.clock_timestamp()) * 1000, BigInteger)


def select_unlocked(key: Column[str], *conditions: ColumnElement[bool]) -> Select[str]:
    """Return a query that locks rows and selects their keys, but skips rows that are locked."""
    return select(key).where(*conditions).with_for_update(skip_locked=True)
