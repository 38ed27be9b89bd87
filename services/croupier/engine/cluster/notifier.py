"""Notifications between engines, by LISTEN and NOTIFY: they only name the logs to read, and the log is the truth."""

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol

from croupier.engine.tables.presence import Announcement
from croupier.engine.tables.subscription import Presence
from croupier.games.facts import Seat
from croupier.runtime.database.database import Database
from croupier.runtime.database.notifications import Notifications
from croupier.runtime.observation.logs import Logger

LOG_CHANNEL = "croupier_log"
REACTION_CHANNEL = "croupier_reaction"
PRESENCE_CHANNEL = "croupier_presence"
BATCH_SECONDS = 0.01
"""Times the number of engines: the stored entries of this time have one notification, and so have the presences.

So all engines together send at most a hundred a second, each of which wakes all of them.
"""
MAX_PAYLOAD_BYTES = 7_900
"""PostgreSQL accepts less than 8,000."""


class NotificationListener(Protocol):
    """Receives notifications."""

    @property
    def engines(self) -> int:
        """The number of living engines."""

    def logs_extended(self, heads: Mapping[str, int]) -> None:
        """Logs of tables have entries up to these sequences."""

    def notifications_missed(self) -> None:
        """Any log may have grown."""

    def connected(self) -> None:
        """Notifications arrive from now on; those before may be lost, and so may those of this engine."""

    def seat_reacted(self, table_id: str, seat: Seat, reaction: int) -> None:
        """A seat reacted at another engine."""

    def presence_announced(self, engine_id: str, announcements: Mapping[str, Announcement]) -> None:
        """Another engine announced the presence at tables."""


class Notifier(Protocol):
    """The port. Its notifications may come late or get lost, but for that it reports regularly that some may be."""

    def logs_extended(self, heads: Mapping[str, int]) -> None:
        """Notify the other engines soon that this one has stored entries up to these sequences."""

    def seat_reacted(self, table_id: str, seat: Seat, reaction: int) -> None:
        """Notify the other engines of a reaction."""

    def presence_announced(self, table_id: str, announcement: Announcement) -> None:
        """Notify the other engines soon of the presence at this one."""

    async def run(self, listener: NotificationListener) -> None:
        """Send notifications, and pass those of other engines to the listener; runs until cancelled."""


class NullNotifier:
    """The notifier of the only engine of a database."""

    def logs_extended(self, heads: Mapping[str, int]) -> None:
        """Do nothing."""

    def seat_reacted(self, table_id: str, seat: Seat, reaction: int) -> None:
        """Do nothing."""

    def presence_announced(self, table_id: str, announcement: Announcement) -> None:
        """Do nothing."""

    async def run(self, listener: NotificationListener) -> None:  # noqa: ARG002
        """Receive nothing; runs until cancelled."""
        await asyncio.Event().wait()


class PostgresNotifier(Notifier):
    """Sends and receives on its own connection."""

    def __init__(self, database: Database, engine_id: str, logger: Logger) -> None:
        self._notifications = Notifications(database, logger)
        self._engine_id = engine_id
        self._listener: NotificationListener | None = None
        self._heads: dict[str, int] = {}
        """The heads of logs that wait for the end of their batch."""
        self._announcements: dict[str, Announcement] = {}
        """The announcements that wait for the end of theirs, by table."""

    @property
    def _engines(self) -> int:
        return self._listener.engines if self._listener is not None else 1

    def logs_extended(self, heads: Mapping[str, int]) -> None:
        """Notify the other engines soon, if there are any, that this one has stored entries up to these sequences."""
        if self._engines == 1:
            return
        if not self._heads:
            asyncio.get_running_loop().call_later(BATCH_SECONDS * self._engines, self._send_heads)
        self._heads.update(heads)

    def _send_heads(self) -> None:
        heads, self._heads = self._heads, {}
        self._send_batch(LOG_CHANNEL, heads)

    def presence_announced(self, table_id: str, announcement: Announcement) -> None:
        """Notify the other engines soon, if there are any, of the presence at this one."""
        if self._engines == 1:
            return
        if not self._announcements:
            asyncio.get_running_loop().call_later(BATCH_SECONDS * self._engines, self._send_announcements)
        before = self._announcements.get(table_id)
        asks = announcement.asks or (before is not None and before.asks)
        self._announcements[table_id] = announcement._replace(asks=asks)

    def _send_announcements(self) -> None:
        announcements, self._announcements = self._announcements, {}
        self._send_batch(PRESENCE_CHANNEL, announcements)

    def _send_batch(self, channel: str, by_table: Mapping[str, Any]) -> None:
        for payload in encode_batch(self._engine_id, by_table):
            self._notifications.send(channel, payload)

    def seat_reacted(self, table_id: str, seat: Seat, reaction: int) -> None:
        self._notifications.send(REACTION_CHANNEL, json.dumps([self._engine_id, table_id, seat, reaction]))

    async def run(self, listener: NotificationListener) -> None:
        self._listener = listener
        handlers = {
            LOG_CHANNEL: self._of_others(lambda _, heads: listener.logs_extended(heads)),
            REACTION_CHANNEL: self._of_others(lambda _, *reaction: listener.seat_reacted(*reaction)),
            PRESENCE_CHANNEL: self._of_others(
                lambda origin, by_table: listener.presence_announced(origin, decode_announcements(by_table))
            ),
        }
        await self._notifications.run(handlers, listener.notifications_missed, listener.connected)

    def _of_others(self, notified: Callable[..., None]) -> Callable[[str], None]:
        def handle(payload: str) -> None:
            origin, *values = json.loads(payload)
            if origin != self._engine_id:
                notified(origin, *values)

        return handle


def encode_batch(engine_id: str, by_table: Mapping[str, Any]) -> Iterator[str]:
    """Yield payloads with the values of tables, each of at most MAX_PAYLOAD_BYTES."""
    frame = len(json.dumps([engine_id, {}]))
    part: dict[str, Any] = {}
    size = frame
    for table_id, value in by_table.items():
        grown = len(json.dumps({table_id: value})) + 1
        if part and size + grown > MAX_PAYLOAD_BYTES:
            yield json.dumps([engine_id, part])
            part, size = {}, frame
        part[table_id] = value
        size += grown
    yield json.dumps([engine_id, part])


def decode_announcements(by_table: Mapping[str, Any]) -> dict[str, Announcement]:
    """Return the announcements of a payload, by table."""
    return {
        table_id: Announcement(Presence(tuple(seats), spectators), asks)
        for table_id, ((seats, spectators), asks) in by_table.items()
    }
