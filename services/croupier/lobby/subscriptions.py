"""Subscriptions of streams to changed tables: each gets the newest version of a table, and no older one after it.

The changes of each table, and of each game's public tables, are kept once for all streams that want them. A stream
remembers only how far it has read.
"""

import asyncio
from bisect import bisect_left, bisect_right
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import contextmanager

from croupier.lobby.tables import Table, TableState
from croupier.runtime.errors import LimitReached, ServiceError, Unavailable
from croupier.runtime.turns import Turns
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


class Subscription:
    """The changes that one stream has still to receive, and its turn to send them."""

    def __init__(self, topic: "Topic", viewer_id: str, network: str) -> None:
        self.viewer_id = viewer_id
        self.network = network
        self._topic = topic
        self._position = topic.end
        self._page_versions: dict[str, int] = {}
        self.page_left = 0
        """The tables of a page that are still to be sent: they come before changes."""
        self._granted = 0
        self._turn: asyncio.Future[None] | None = None
        self._error: ServiceError | None = None

    @property
    def position(self) -> int:
        """The number of the last change that was read."""
        return self._position

    def grant(self, max_messages: int) -> int:
        """Let the stream send so many messages; returns how many of them it has to send."""
        if self._turn is None or self._turn.done():
            return 0
        self._granted = min(max_messages, self.page_left or self._topic.count_after(self._position))
        self._turn.set_result(None)
        return self._granted

    def fail(self, error: ServiceError) -> None:
        """End the stream with an error."""
        self._error = error
        if self._turn and not self._turn.done():
            self._turn.set_result(None)

    def mark_delivered(self, table: Table) -> None:
        """Record that this version of a table was read from the store and delivered."""
        if len(self._page_versions) < MAX_PAGE_VERSIONS:
            self._page_versions[table.table_id] = table.version

    async def page(self, tables: Sequence[Table]) -> AsyncGenerator[Table, None]:
        """Yield tables that were read from the store, in the stream's turns; raises the error with which it ends."""
        self.page_left = len(tables)
        for table in tables:
            if not self._granted:
                await self._wait_for_turn()
            if self._error:
                raise self._error
            self._granted -= 1
            self.page_left -= 1
            self.mark_delivered(table)
            yield table

    async def changes(self) -> AsyncGenerator[Table, None]:
        """Yield changed tables as they come; raises the error with which the stream ends."""
        while True:
            await self._wait_for_turn()
            while self._granted:
                if self._error:
                    raise self._error
                self._granted -= 1
                change = self._topic.first_after(self._position)
                if change is None:
                    break
                self._position, table = change
                if self._page_versions.get(table.table_id, 0) < table.version:
                    yield table

    async def _wait_for_turn(self) -> None:
        if self._error:
            raise self._error
        self._turn, self._granted = asyncio.get_running_loop().create_future(), 0
        try:
            self._topic.wait(self)
            await self._turn
        finally:
            self._turn = None
            self._topic.forget(self)
        if self._error:
            raise self._error


class Topic:
    """The changes that the same streams want: of one table, or of the public tables of a game."""

    def __init__(self, turns: Turns, is_one_table: bool) -> None:
        self._turns = turns
        self._is_one_table = is_one_table
        # A dict keeps the order of the subscriptions, unlike a set: their order does not depend on memory addresses.
        self.subscriptions: dict[Subscription, None] = {}
        self._waiting: dict[Subscription, None] = {}
        self._numbers: list[int] = []
        self._changes: dict[int, Table] = {}
        self._newest: dict[str, int] = {}
        self.end = 0
        """The number of the last change."""
        self._dropped = 0
        self._announced = 0
        self._rests = False

    def publish(self, table: Table) -> None:
        """Add a change, unless it or a newer one of its table is known."""
        number = self._newest.get(table.table_id)
        if number is not None:
            if self._changes[number].version >= table.version:
                return
            self._remove(number)
        self.end += 1
        self._numbers.append(self.end)
        self._changes[self.end] = table
        self._newest[table.table_id] = self.end
        if len(self._numbers) > MAX_PENDING:
            self._dropped = self._numbers[0]
            del self._newest[self._remove(self._dropped).table_id]
        if not self._rests:
            self._announce()

    def _remove(self, number: int) -> Table:
        del self._numbers[bisect_left(self._numbers, number)]
        return self._changes.pop(number)

    def count_after(self, position: int) -> int:
        """Return the number of changes after a position."""
        return len(self._numbers) - bisect_right(self._numbers, position)

    def first_after(self, position: int) -> tuple[int, Table] | None:
        """Return the number and the table of the first change after a position; raises LimitReached if it is gone."""
        if position < self._dropped:
            raise LimitReached(
                errors_pb2.ERROR_REASON_SLOW_READER,
                "the stream was read too slowly: call again",
                retry_after_seconds=0,
            )
        index = bisect_right(self._numbers, position)
        if index == len(self._numbers):
            return None
        return self._numbers[index], self._changes[self._numbers[index]]

    def wait(self, subscription: Subscription) -> None:
        """Let a subscription wait for changes, or for its turn if there are some."""
        if not subscription.page_left and subscription.position >= self._announced:
            self._waiting[subscription] = None
        else:
            self._call({subscription: None})

    def forget(self, subscription: Subscription) -> None:
        """Let a subscription wait no more."""
        self._waiting.pop(subscription, None)
        self._turns.discard(subscription)

    def _announce(self) -> None:
        self._announced = self.end
        waiting, self._waiting = self._waiting, {}
        self._call(waiting)
        self._rests = True
        asyncio.get_running_loop().call_later(INTERVAL_SECONDS, self._end_rest)

    def _end_rest(self) -> None:
        self._rests = False
        if self.end > self._announced:
            self._announce()

    def _call(self, waiting: dict[Subscription, None]) -> None:
        """Let subscriptions wait for their turns; the players of the table need none, since they are few."""
        if self._is_one_table:
            players = {seat.player_id for seat in self._changes[self.end].seats}
            for subscription in [one for one in waiting if one.viewer_id in players]:
                del waiting[subscription]
                subscription.grant(1)
        self._turns.put(waiting)


class TableFeed:
    """Sends every changed table to the subscriptions that include it."""

    def __init__(self) -> None:
        self._turns = Turns(MESSAGES_PER_TICK)
        self._tables: dict[str, Topic] = {}
        self._games: dict[str, Topic] = {}
        self._is_closed = False

    @property
    def has_subscribers(self) -> bool:
        """Whether any stream is subscribed."""
        return bool(self._tables or self._games)

    def followers(self) -> Iterator[tuple[str, str]]:
        """Yield the table and the viewer of each stream of one table, by their ids."""
        for table_id, topic in self._tables.items():
            for subscription in topic.subscriptions:
                yield table_id, subscription.viewer_id

    @contextmanager
    def subscribe_table(self, table_id: str, viewer_id: str, network: str = "") -> Iterator[Subscription]:
        """Subscribe to a table; raises Unavailable while the server stops."""
        with self._subscribe(self._tables, table_id, viewer_id, network) as subscription:
            yield subscription

    @contextmanager
    def subscribe_public(self, game: str, viewer_id: str, network: str = "") -> Iterator[Subscription]:
        """Subscribe to the public tables of a game, by default of all games, as `subscribe_table` does."""
        with self._subscribe(self._games, game, viewer_id, network) as subscription:
            yield subscription

    @contextmanager
    def _subscribe(self, topics: dict[str, Topic], key: str, viewer_id: str, network: str) -> Iterator[Subscription]:
        if self._is_closed:
            raise draining()
        topic = topics.get(key)
        if topic is None:
            topic = topics[key] = Topic(self._turns, is_one_table=topics is self._tables)
        subscription = Subscription(topic, viewer_id, network)
        topic.subscriptions[subscription] = None
        try:
            yield subscription
        finally:
            del topic.subscriptions[subscription]
            if not topic.subscriptions:
                del topics[key]

    def publish(self, table: Table) -> None:
        """Send a table as it is now stored."""
        if table.state is TableState.PREPARING:
            return
        topics = [self._tables.get(table.table_id)]
        if table.access.is_public:
            topics += self._games.get(table.game), self._games.get("")
        for topic in topics:
            if topic is not None:
                topic.publish(table)

    def close(self) -> None:
        """End every stream because the server is about to stop."""
        self._is_closed = True
        for topic in (*self._tables.values(), *self._games.values()):
            for subscription in topic.subscriptions:
                subscription.fail(draining())
