"""Telling streams of changed tables: the newest state of each, and never an older one after it."""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import contextmanager

from croupier.lobby.tables import Table, TableState
from croupier.runtime.errors import LimitReached, ServiceError, Unavailable

PENDING_LIMIT = 1000
REMEMBERED_LIMIT = 4000


def draining() -> Unavailable:
    """What streams hear at the end."""
    return Unavailable("DRAINING", "this server is about to stop: call again", retry_after_seconds=1)


class Subscription:
    """What one stream has still to be told. Changes of one table that wait become one."""

    def __init__(self, wants: Callable[[Table], bool]) -> None:
        self._wants = wants
        self._pending: OrderedDict[str, Table] = OrderedDict()
        self._told: OrderedDict[str, int] = OrderedDict()
        self._woken = asyncio.Event()
        self._end: ServiceError | None = None

    def offer(self, table: Table) -> None:
        """Note a change for the stream, if it wants it."""
        if table.state is TableState.PREPARING or not self._wants(table):
            return
        waiting = self._pending.get(table.table_id)
        if waiting is None or waiting.version < table.version:
            self._pending[table.table_id] = table
        if len(self._pending) > PENDING_LIMIT:
            self.end(LimitReached("SLOW_READER", "the stream was read too slowly: call again"))
        self._woken.set()

    def end(self, error: ServiceError) -> None:
        """End the stream with an error."""
        self._end = error
        self._pending.clear()
        self._woken.set()

    def is_news(self, table: Table) -> bool:
        """Whether the stream was not yet told of this state of a table; from now on it was."""
        if self._told.get(table.table_id, 0) >= table.version:
            return False
        self._told[table.table_id] = table.version
        self._told.move_to_end(table.table_id)
        if len(self._told) > REMEMBERED_LIMIT:
            self._told.popitem(last=False)
        return True

    async def changes(self) -> AsyncGenerator[Table, None]:
        """Changed tables as they come; raises the error with which the stream ends."""
        while True:
            await self._woken.wait()
            if self._end:
                raise self._end
            if not self._pending:
                self._woken.clear()
                continue
            _, table = self._pending.popitem(last=False)
            if self.is_news(table):
                yield table


class TableFeed:
    """Hands every change to the streams that want it."""

    def __init__(self) -> None:
        # In the order in which they came, so that what happens does not depend on where they lie in memory.
        self._subscriptions: dict[Subscription, None] = {}
        self._closed = False

    @property
    def followed(self) -> bool:
        """Whether any stream follows."""
        return bool(self._subscriptions)

    @contextmanager
    def subscribed(self, wants: Callable[[Table], bool]) -> Iterator[Subscription]:
        """Follow the tables that `wants` says yes to."""
        if self._closed:
            raise draining()
        subscription = Subscription(wants)
        self._subscriptions[subscription] = None
        try:
            yield subscription
        finally:
            self._subscriptions.pop(subscription, None)

    def publish(self, table: Table) -> None:
        """Tell of a table as it is now stored."""
        for subscription in self._subscriptions:
            subscription.offer(table)

    def close(self) -> None:
        """End every stream, for the server is about to stop."""
        self._closed = True
        for subscription in self._subscriptions:
            subscription.end(draining())
