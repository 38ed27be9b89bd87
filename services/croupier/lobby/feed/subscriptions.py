"""Subscriptions of streams to changed tables: each gets the newest version of a table, and no older one after it.

The newest change of each table is kept once for all streams that want it. Changes are numbered, and a stream remembers
only the number of the last one that it has read.
"""

import asyncio
from bisect import bisect_left, bisect_right
from collections.abc import AsyncGenerator, Collection, Iterator
from contextlib import AbstractContextManager, contextmanager
from operator import attrgetter
from typing import NamedTuple

from croupier.lobby.tables.forming_table import Table, TableState
from croupier.runtime.errors import LimitReached, Unavailable
from croupier.runtime.fair_queue import SendingLoop
from croupier_api.v1 import errors_pb2

MAX_PENDING = 4000
"""The tables whose newest change is kept; a stream that has not read an older one ends."""
MAX_PAGE_VERSIONS = 4000
MESSAGES_PER_TICK = 25
"""At most 5,000 messages per second, which cost a fraction of a core with any number of streams."""
INTERVAL_SECONDS = 0.2
"""The least time between two wake-ups of the waiting streams; a change after a longer pause wakes them at once."""


def draining() -> Unavailable:
    """Return the error with which streams end when the server stops."""
    return Unavailable(
        errors_pb2.ERROR_REASON_SERVER_STOPPING, "this server is about to stop: call again", retry_after_seconds=1
    )


class Change(NamedTuple):
    """The newest version of a table, numbered in the order of all changes."""

    number: int
    table: Table


_number = attrgetter("number")


class Topic:
    """The changes that the same streams want, of one table or of the public tables of a game."""

    def __init__(self, sending: SendingLoop) -> None:
        # A dict keeps the order of the subscriptions, unlike a set: their order does not depend on memory addresses.
        self.subscriptions: dict[Subscription, None] = {}
        self.waiting: dict[Subscription, None] = {}
        """Those that wait for a change, and not yet for their turn to send it."""
        self.end = 0
        """The number of the last change."""
        self._sending = sending
        self._changes: list[Change] = []
        self._numbers: dict[str, int] = {}
        self._dropped = self._notified = 0
        self._timer: asyncio.TimerHandle | None = None
        self._urgent: Collection[str] = ()

    def publish(self, table: Table, urgent: Collection[str] = ()) -> None:
        """Add a change, unless it or a newer one of its table is known; urgent viewers wait for no turn to send."""
        if (number := self._numbers.get(table.table_id)) is not None:
            index = bisect_left(self._changes, number, key=_number)
            if self._changes[index].table.version >= table.version:
                return
            del self._changes[index]
        self.end += 1
        self._changes.append(Change(self.end, table))
        self._numbers[table.table_id] = self.end
        if len(self._changes) > MAX_PENDING:
            self._dropped, dropped = self._changes.pop(0)
            del self._numbers[dropped.table_id]
        self._urgent = urgent
        if self._timer is None:
            self._notify()

    def _notify(self) -> None:
        """Wake the waiting streams, and again after each interval with changes."""
        self._timer = None
        if self._notified < self.end:
            self._timer = asyncio.get_running_loop().call_later(INTERVAL_SECONDS, self._notify)
            self._notified = self.end
            waiting, self.waiting = self.waiting, {}
            for subscription in waiting:
                self.wait(subscription)

    def wait(self, subscription: "Subscription", *, has_message: bool = False) -> None:
        """Let a subscription wait for its turn to send, and before that for a change unless it has one or a message."""
        if not has_message and subscription.position >= self._notified:
            self.waiting[subscription] = None
        elif subscription.viewer_id in self._urgent:
            subscription.wake()
        elif subscription.turn is not None:
            self._sending.put(subscription.network, subscription.turn)

    def first_after(self, position: int) -> Change:
        """Return the first of the changes after a position; raises LimitReached if an earlier one is gone."""
        if position < self._dropped:
            raise LimitReached(
                errors_pb2.ERROR_REASON_SLOW_READER,
                "the stream was read too slowly: call again",
                retry_after_seconds=0,
            )
        return self._changes[bisect_right(self._changes, position, key=_number)]


class Subscription:
    """The changes that one stream has still to receive."""

    def __init__(self, feed: "TableFeed", topic: Topic, viewer_id: str, network: str) -> None:
        self.viewer_id = viewer_id
        self.network = network
        self.position = topic.end
        """The number of the last change that was read."""
        self.turn: asyncio.Future[None] | None = None
        """Done when the stream may send a message."""
        self._feed = feed
        self._topic = topic
        self._page_versions: dict[str, int] = {}

    def wake(self) -> None:
        """Let the stream go on, if it waits."""
        if self.turn is not None and not self.turn.done():
            self.turn.set_result(None)

    def mark_delivered(self, table: Table) -> None:
        """Record that this version of a table was read from the store and delivered."""
        if len(self._page_versions) < MAX_PAGE_VERSIONS:
            self._page_versions[table.table_id] = table.version

    async def turn_for(self, table: Table) -> None:
        """Wait for the turn to deliver a table that was read from the store; raises the error of the stream's end."""
        await self._next_turn(has_message=True)
        self.mark_delivered(table)

    async def changes(self) -> AsyncGenerator[Table, None]:
        """Yield changed tables as they come; raises the error with which the stream ends."""
        while True:
            await self._next_turn()
            self.position, table = self._topic.first_after(self.position)
            if self._page_versions.get(table.table_id, 0) < table.version:
                yield table

    async def _next_turn(self, *, has_message: bool = False) -> None:
        if not self._feed.is_closed:
            self.turn = asyncio.get_running_loop().create_future()
            self._topic.wait(self, has_message=has_message)
            try:
                await self.turn
            finally:
                self.turn = None
                self._topic.waiting.pop(self, None)
        if self._feed.is_closed:
            raise draining()


class TableFeed:
    """Sends every changed table to the subscriptions that include it."""

    def __init__(self) -> None:
        self.is_closed = False
        """Whether the server is about to stop."""
        self._sending = SendingLoop(MESSAGES_PER_TICK)
        self._tables: dict[str, Topic] = {}
        self._games: dict[str, Topic] = {}

    @property
    def has_subscribers(self) -> bool:
        """Whether any stream is subscribed."""
        return bool(self._tables or self._games)

    def followers(self) -> Iterator[tuple[str, str]]:
        """Yield the table and the viewer of each stream of one table, by their ids."""
        for table_id, topic in self._tables.items():
            for subscription in topic.subscriptions:
                yield table_id, subscription.viewer_id

    def subscribe_table(self, table_id: str, viewer_id: str, network: str = "") -> AbstractContextManager[Subscription]:
        """Subscribe to a table; raises Unavailable while the server stops."""
        return self._subscribe(self._tables, table_id, viewer_id, network)

    def subscribe_public(self, game: str, viewer_id: str, network: str = "") -> AbstractContextManager[Subscription]:
        """Subscribe to the public tables of a game, by default of all games, as `subscribe_table` does."""
        return self._subscribe(self._games, game, viewer_id, network)

    @contextmanager
    def _subscribe(self, topics: dict[str, Topic], key: str, viewer_id: str, network: str) -> Iterator[Subscription]:
        if self.is_closed:
            raise draining()
        topic = topics.setdefault(key, Topic(self._sending))
        subscription = Subscription(self, topic, viewer_id, network)
        topic.subscriptions[subscription] = None
        try:
            yield subscription
        finally:
            del topic.subscriptions[subscription]
            if not topic.subscriptions:
                del topics[key]

    def publish(self, table: Table) -> None:
        """Send a table as it is now stored, at once to the streams of its players."""
        if table.state is TableState.PREPARING:
            return
        if topic := self._tables.get(table.table_id):
            topic.publish(table, urgent={seat.player_id for seat in table.seats})
        if table.access.is_public:
            for game in (table.game, ""):
                if topic := self._games.get(game):
                    topic.publish(table)

    def close(self) -> None:
        """End every stream because the server is about to stop."""
        self.is_closed = True
        for topic in (*self._tables.values(), *self._games.values()):
            for subscription in topic.subscriptions:
                subscription.wake()
