"""Notifications between engines, by LISTEN and NOTIFY: they only name the logs to read, and the log is the truth."""

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Protocol

from croupier.games.facts import Seat
from croupier.runtime.database.database import Database
from croupier.runtime.database.notifications import Notifications
from croupier.runtime.observation.logs import Logger

LOG_CHANNEL = "croupier_log"
REACTION_CHANNEL = "croupier_reaction"
BATCH_SECONDS = 0.01
"""Times the number of engines: the stored entries of this time have one notification.

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

    def seat_reacted(self, table_id: str, seat: Seat, reaction: str) -> None:
        """A seat reacted at another engine."""


class Notifier(Protocol):
    """The port. Its notifications may come late or get lost, but for that it reports regularly that some may be."""

    def logs_extended(self, heads: Mapping[str, int]) -> None:
        """Notify the other engines soon that this one has stored entries up to these sequences."""

    def seat_reacted(self, table_id: str, seat: Seat, reaction: str) -> None:
        """Notify the other engines of a reaction."""

    async def run(self, listener: NotificationListener) -> None:
        """Send notifications, and pass those of other engines to the listener; runs until cancelled."""


class NullNotifier:
    """The notifier of the only engine of a database."""

    def logs_extended(self, heads: Mapping[str, int]) -> None:
        """Do nothing."""

    def seat_reacted(self, table_id: str, seat: Seat, reaction: str) -> None:
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

    def logs_extended(self, heads: Mapping[str, int]) -> None:
        """Notify the other engines soon, if there are any, that this one has stored entries up to these sequences."""
        engines = self._listener.engines if self._listener is not None else 1
        if engines == 1:
            return
        if not self._heads:
            asyncio.get_running_loop().call_later(BATCH_SECONDS * engines, self._send_heads)
        self._heads.update(heads)

    def _send_heads(self) -> None:
        heads, self._heads = self._heads, {}
        for payload in encode_heads(self._engine_id, heads):
            self._notifications.send(LOG_CHANNEL, payload)

    def seat_reacted(self, table_id: str, seat: Seat, reaction: str) -> None:
        self._notifications.send(REACTION_CHANNEL, json.dumps([self._engine_id, table_id, seat, reaction]))

    async def run(self, listener: NotificationListener) -> None:
        self._listener = listener
        handlers = {
            LOG_CHANNEL: self._of_others(listener.logs_extended),
            REACTION_CHANNEL: self._of_others(listener.seat_reacted),
        }
        await self._notifications.run(handlers, listener.notifications_missed)

    def _of_others(self, notified: Callable[..., None]) -> Callable[[str], None]:
        def handle(payload: str) -> None:
            origin, *values = json.loads(payload)
            if origin != self._engine_id:
                notified(*values)

        return handle


def encode_heads(engine_id: str, heads: Mapping[str, int]) -> Iterator[str]:
    """Yield payloads with the heads of logs, each of at most MAX_PAYLOAD_BYTES."""
    frame = len(json.dumps([engine_id, {}]))
    part: dict[str, int] = {}
    size = frame
    for table_id, sequence in heads.items():
        grown = len(json.dumps({table_id: sequence})) + 1
        if part and size + grown > MAX_PAYLOAD_BYTES:
            yield json.dumps([engine_id, part])
            part, size = {}, frame
        part[table_id] = sequence
        size += grown
    yield json.dumps([engine_id, part])
