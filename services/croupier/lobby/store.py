"""The lobby's database: how it is read and written."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine


class Store:
    """Connections for one statement or one transaction; PostgreSQL and SQLite alike."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine
        # SQLite takes one writer at a time: waiting here is fair, waiting there is polling.
        self._writer = asyncio.Lock() if engine.dialect.name == "sqlite" else None

    def reading(self) -> AbstractAsyncContextManager[AsyncConnection]:
        """A connection to read with."""
        return self._engine.connect()

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[AsyncConnection]:
        """A transaction: committed at the end, rolled back by any exception."""
        if self._writer is None:
            async with self._engine.begin() as connection:
                yield connection
        else:
            async with self._writer, self._engine.begin() as connection:
                yield connection
