"""Subscriptions of streams to changed tables: each gets the newest version of a table, and no older one after it."""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import contextmanager

from croupier.lobby.tables import Table, TableState
from croupier.runtime.errors import LimitReached, ServiceError, Unavailable
from croupier_api.v1 import errors_pb2

MAX_PENDING = 1000
MAX_DELIVERED_VERSIONS = 4000


def draining() -> Unavailable:
    """Return the error with which streams end when the server stops."""
    return Unavailable(
        errors_pb2.ERROR_REASON_SERVER_STOPPING, "this server is about to stop: call again", retry_after_seconds=1
    )


class Subscription:
    """The tables that one stream has still to receive; of pending versions of one table, the newest."""

    def __init__(self, predicate: Callable[[Table], bool]) -> None:
        self._predicate = predicate
        self._pending: OrderedDict[str, Table] = OrderedDict()
        self._delivered_versions: OrderedDict[str, int] = OrderedDict()
        self._wakeup = asyncio.Event()
        self._error: ServiceError | None = None

    def offer(self, table: Table) -> None:
        """Add a changed table if the subscription includes it."""
        if table.state is TableState.PREPARING or not self._predicate(table):
            return
        pending = self._pending.get(table.table_id)
        if pending is None or pending.version < table.version:
            self._pending[table.table_id] = table
        if len(self._pending) > MAX_PENDING:
            self.fail(
                LimitReached(
                    errors_pb2.ERROR_REASON_SLOW_READER,
                    "the stream was read too slowly: call again",
                    retry_after_seconds=0,
                )
            )
        self._wakeup.set()

    def fail(self, error: ServiceError) -> None:
        """End the stream with an error."""
        self._error = error
        self._pending.clear()
        self._wakeup.set()

    def mark_delivered(self, table: Table) -> bool:
        """Record that this version of a table is delivered; returns False if it, or a newer one, was before."""
        if self._delivered_versions.get(table.table_id, 0) >= table.version:
            return False
        self._delivered_versions[table.table_id] = table.version
        self._delivered_versions.move_to_end(table.table_id)
        if len(self._delivered_versions) > MAX_DELIVERED_VERSIONS:
            self._delivered_versions.popitem(last=False)
        return True

    async def changes(self) -> AsyncGenerator[Table, None]:
        """Yield changed tables as they come; raises the error with which the stream ends."""
        while True:
            await self._wakeup.wait()
            if self._error:
                raise self._error
            if not self._pending:
                self._wakeup.clear()
                continue
            _, table = self._pending.popitem(last=False)
            if self.mark_delivered(table):
                yield table


class TableFeed:
    """Sends every changed table to the subscriptions that include it."""

    def __init__(self) -> None:
        # A dict keeps the order of the subscriptions, unlike a set: their order does not depend on memory addresses.
        self._subscriptions: dict[Subscription, None] = {}
        self._is_closed = False

    @property
    def has_subscribers(self) -> bool:
        """Whether any stream is subscribed."""
        return bool(self._subscriptions)

    @contextmanager
    def subscribe(self, predicate: Callable[[Table], bool]) -> Iterator[Subscription]:
        """Subscribe to the tables for which the predicate returns true; raises Unavailable while the server stops."""
        if self._is_closed:
            raise draining()
        subscription = Subscription(predicate)
        self._subscriptions[subscription] = None
        try:
            yield subscription
        finally:
            self._subscriptions.pop(subscription, None)

    def publish(self, table: Table) -> None:
        """Send a table as it is now stored."""
        for subscription in self._subscriptions:
            subscription.offer(table)

    def close(self) -> None:
        """End every stream because the server is about to stop."""
        self._is_closed = True
        for subscription in self._subscriptions:
            subscription.fail(draining())
