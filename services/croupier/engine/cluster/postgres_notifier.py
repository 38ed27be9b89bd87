"""Notifications between engines by LISTEN and NOTIFY of PostgreSQL."""

import asyncio
import json
from collections.abc import Callable

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from croupier.engine.cluster.notifier import NotificationListener
from croupier.engine.storage.log_notifications import LOG_CHANNEL
from croupier.games.facts import Seat
from croupier.runtime.logs import Logger
from croupier.runtime.notifications import listen_for_notifications

REACTION_CHANNEL = "croupier_reaction"
OWN_NOTIFICATION_DELAY_SECONDS = 0.5
"""An engine usually knows its own appends; after this long it checks that it does."""


class PostgresNotifier:
    """Listens on its own connection; after a loss it reconnects and reports that notifications were missed."""

    def __init__(self, engine: AsyncEngine, engine_id: str, logger: Logger) -> None:
        self._engine = engine
        self._engine_id = engine_id
        self._logger = logger

    async def notify_reaction(self, table_id: str, seat: Seat, reaction: str) -> None:
        """Notify the other engines of a reaction; the notification may get lost."""
        payload = json.dumps([self._engine_id, table_id, seat, reaction])
        async with self._engine.begin() as connection:
            await connection.execute(
                text("SELECT pg_notify(:channel, :payload)"), {"channel": REACTION_CHANNEL, "payload": payload}
            )

    async def run(self, listener: NotificationListener) -> None:
        """Pass notifications to the listener; runs until cancelled."""
        handlers = {LOG_CHANNEL: self._log_handler(listener), REACTION_CHANNEL: self._reaction_handler(listener)}
        await listen_for_notifications(self._engine, handlers, listener.notifications_missed, self._logger)

    def _log_handler(self, listener: NotificationListener) -> Callable[[str], None]:
        def handle(payload: str) -> None:
            origin, heads = json.loads(payload)
            if origin == self._engine_id:
                # If the answer to a commit was lost, the engine learns of the commit by this.
                asyncio.get_running_loop().call_later(OWN_NOTIFICATION_DELAY_SECONDS, listener.logs_extended, heads)
            else:
                listener.logs_extended(heads)

        return handle

    def _reaction_handler(self, listener: NotificationListener) -> Callable[[str], None]:
        def handle(payload: str) -> None:
            origin, table_id, seat, reaction = json.loads(payload)
            if origin != self._engine_id:
                listener.seat_reacted(table_id, seat, reaction)

        return handle
