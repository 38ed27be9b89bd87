"""Subscriptions of streams to changed tables: each gets the newest version of a table, and no older one after it.

The newest change of each table is kept once for all streams that want it. Changes are numbered, and a stream remembers
only the number of the last one that it has read.
"""

import asyncio
from bisect import bisect_left, bisect_right
from collections.abc import AsyncGenerator, Collection, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from itertools import islice
from operator import attrgetter
from typing import NamedTuple

from croupier.lobby.feed.own_tables import OwnTables
from croupier.lobby.tables.engine_port import Turn
from croupier.lobby.tables.forming_table import Table, TableState
from croupier.lobby.tables.my_seat import MySeat, my_seat
from croupier.lobby.tables.revision import withdrawn
from croupier.runtime.errors import LimitReached, Unavailable
from croupier.runtime.fair_queue import SendingLoop
from croupier_api.v1 import errors_pb2

MAX_PENDING = 4000
"""The tables whose newest change is kept; a stream that has not read an older one ends."""
MAX_PAGE_VERSIONS = 4000
MESSAGES_PER_TICK = 25
"""At most 5,000 messages per second, which cost a fraction of a core with any number of streams."""
STREAMS_PER_STEP = 1000
"""The streams that one step of the event loop wakes: about half a millisecond."""
INTERVAL_SECONDS = 0.2
"""The least time between two wake-ups of the waiting streams; a change after a longer pause wakes them at once."""


def draining() -> Unavailable:
    """Return the error with which streams end when the server stops."""
    return Unavailable(
        errors_pb2.ERROR_REASON_SERVER_STOPPING, "this server is about to stop: call again", retry_after_seconds=1
    )


class Change(NamedTuple):
    """The newest version of a table, numbered in the order of all changes, and the seat of the topic's player there."""

    number: int
    table: Table
    my_seat: MySeat | None = None

    def is_news_after(self, version: int, my_seat: MySeat | None) -> bool:
        """Return whether this is a newer version of the table, or the same one with another turn of the seat."""
        if self.table.version != version or self.my_seat is None:
            return self.table.version > version
        return self.my_seat.is_to_act is not None and self.my_seat != my_seat


_number = attrgetter("number")


class Topic:
    """The changes that the same streams want: of one table, of the public tables of a game, or of a player's tables."""

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

    def publish(self, table: Table, urgent: Collection[str] = (), my_seat: MySeat | None = None) -> None:
        """Add a change, unless it or a newer one of its table is known; urgent viewers wait for no turn to send."""
        change = Change(self.end + 1, table, my_seat)
        if (number := self._numbers.get(table.table_id)) is not None:
            index = bisect_left(self._changes, number, key=_number)
            _, known, known_seat = self._changes[index]
            if not change.is_news_after(known.version, known_seat):
                return
            del self._changes[index]
        self.end = change.number
        self._changes.append(change)
        self._numbers[table.table_id] = self.end
        if len(self._changes) > MAX_PENDING:
            self._dropped, dropped, _ = self._changes.pop(0)
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
            self._wake(len(self.waiting))

    def _wake(self, count: int) -> None:
        """Let so many of those that wait longest wait for their turn to send, in short steps of the event loop."""
        for subscription in list(islice(self.waiting, min(count, STREAMS_PER_STEP))):
            del self.waiting[subscription]
            self.wait(subscription)
        if count > STREAMS_PER_STEP:
            asyncio.get_running_loop().call_soon(self._wake, count - STREAMS_PER_STEP)

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
        self._page_versions: dict[str, tuple[int, MySeat | None]] = {}
        """The tables that were delivered from the store, and of which no change was since."""

    def wake(self) -> None:
        """Let the stream go on, if it waits."""
        if self.turn is not None and not self.turn.done():
            self.turn.set_result(None)

    def mark_delivered(self, table: Table, my_seat: MySeat | None = None) -> None:
        """Record that this version of a table was read from the store and delivered."""
        if len(self._page_versions) < MAX_PAGE_VERSIONS:
            self._page_versions[table.table_id] = (table.version, my_seat)

    async def turn_for(self, table: Table, my_seat: MySeat | None = None) -> None:
        """Wait for the turn to deliver a table that was read from the store; raises the error of the stream's end."""
        await self._next_turn(has_message=True)
        self.mark_delivered(table, my_seat)

    async def changes(self) -> AsyncGenerator[Change, None]:
        """Yield changes as they come; raises the error with which the stream ends."""
        while True:
            await self._next_turn()
            change = self._topic.first_after(self.position)
            self.position = change.number
            if self._is_news(change):
                yield change

    def _is_news(self, change: Change) -> bool:
        """Return whether a change is newer than the page of the stream; from then on the topic knows what is new."""
        delivered = self._page_versions.get(change.table.table_id)
        if delivered is not None and not change.is_news_after(*delivered):
            return False
        self._page_versions.pop(change.table.table_id, None)
        return True

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
        self._players: dict[str, Topic] = {}
        self.own = OwnTables()
        """The tables of those who follow their own tables."""

    @property
    def has_subscribers(self) -> bool:
        """Whether any stream is subscribed."""
        return bool(self._tables or self._games or self._players)

    def followers(self) -> Iterator[tuple[str, str]]:
        """Yield the table and the viewer of each stream of one table, and of own tables that are forming, by their ids.

        A player in a waiting room may follow it with all of their tables.
        """
        for table_id, topic in self._tables.items():
            for subscription in topic.subscriptions:
                yield table_id, subscription.viewer_id
        yield from self.own.forming()

    def subscribe_table(self, table_id: str, viewer_id: str, network: str = "") -> AbstractContextManager[Subscription]:
        """Subscribe to a table; raises Unavailable while the server stops."""
        return self._subscribe(self._tables, table_id, viewer_id, network)

    def subscribe_public(self, game: str, viewer_id: str, network: str = "") -> AbstractContextManager[Subscription]:
        """Subscribe to the public tables of a game, by default of all games, as `subscribe_table` does."""
        return self._subscribe(self._games, game, viewer_id, network)

    @contextmanager
    def subscribe_own(self, player_id: str, network: str = "") -> Iterator[Subscription]:
        """Subscribe to the tables of a player, as `subscribe_table` does; `own.follow` has those of the beginning."""
        try:
            with self._subscribe(self._players, player_id, player_id, network) as subscription:
                yield subscription
        finally:
            if player_id not in self._players:
                self.own.forget(player_id)

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
        if (shown := table if table.access.is_public else withdrawn(table)) is not None:
            for game in (table.game, ""):
                if topic := self._games.get(game):
                    topic.publish(shown)
        if self._players:
            self._publish_own(table, self.own.change(table, self._players.keys()))

    def publish_turn(self, table: Table, turn: Turn) -> None:
        """Send a turn to those players of a table who follow their own tables and whose seat it concerns."""
        self._publish_own(table, self.own.set_turn(table, turn))

    def _publish_own(self, table: Table, player_ids: Iterable[str]) -> None:
        for player_id in player_ids:
            seat = my_seat(table, player_id, self.own.turn_of(table.table_id))
            self._players[player_id].publish(table, (player_id,), seat)

    def close(self) -> None:
        """End every stream because the server is about to stop."""
        self.is_closed = True
        for topic in (*self._tables.values(), *self._games.values(), *self._players.values()):
            for subscription in topic.subscriptions:
                subscription.wake()
