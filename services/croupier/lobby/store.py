"""The lobby's database: how it is read and written, and what keeps replicas out of each other's way."""

import asyncio
import hashlib
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from sqlalchemy import BigInteger, Column, ColumnElement, Select, cast, func, literal, select, text
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from croupier.runtime.database import transaction

NEWS_CHANNEL = "croupier_lobby_table"
"""Tells the ids of changed tables to every lobby on a PostgreSQL."""


class Store:
    """Connections for one statement or one transaction; PostgreSQL and SQLite alike.

    Of two transactions that wait for each other a database ends one. So whoever changes several rows locks them in one
    order, or leaves alone what another has locked.
    """

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine
        # SQLite takes one writer at a time: waiting here is fair, waiting there is polling.
        self._writer = asyncio.Lock() if engine.dialect.name == "sqlite" else None

    def reading(self) -> AbstractAsyncContextManager[AsyncConnection]:
        """A connection to read with; raises Unavailable while the database cannot be used."""
        return transaction(self._engine)

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[AsyncConnection]:
        """A transaction: committed at the end, rolled back by any exception.

        Raises Unavailable while the database cannot be used.
        """
        if self._writer is None:
            async with transaction(self._engine) as connection:
                yield connection
        else:
            async with self._writer, transaction(self._engine) as connection:
                yield connection

    async def one_at_a_time(self, connection: AsyncConnection, *what: str | int) -> None:
        """Keep others out of something until the transaction ends: at READ COMMITTED each would miss the other's rows.

        Call it first in a transaction, and once.
        """
        if self._writer is None:
            digest = hashlib.sha256("\0".join(map(str, ("croupier lobby", *what))).encode()).digest()
            key = int.from_bytes(digest[:8], signed=True)
            await connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": key})

    async def tell(self, connection: AsyncConnection, table_id: str) -> None:
        """Let the other lobbies know that a table changed, once this transaction is committed."""
        if self._writer is None:
            told = {"channel": NEWS_CHANNEL, "table_id": table_id}
            await connection.execute(text("SELECT pg_notify(:channel, :table_id)"), told)

    def arrival(self, now: int) -> ColumnElement[int]:
        """The time, in milliseconds since 1970 UTC, in the order in which replicas come, whatever their clocks say."""
        if self._writer is not None:
            return literal(now, BigInteger)
        return cast(func.extract("epoch", func.clock_timestamp()) * 1000, BigInteger)


def unlocked(key: Column[str], *conditions: ColumnElement[bool]) -> Select[str]:
    """The keys of rows that nobody else is about to change, which are locked by this."""
    return select(key).where(*conditions).with_for_update(skip_locked=True)
