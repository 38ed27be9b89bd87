"""News by LISTEN and NOTIFY of PostgreSQL."""

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
OWN_NEWS_SECONDS = 0.5
"""What an engine told itself it usually knows; after this long it looks whether it does."""


class PostgresNotifier:
    """Listens on a connection of its own; after a loss it listens again, and says that news were missed."""

    def __init__(self, engine: AsyncEngine, engine_id: str, logger: Logger) -> None:
        self._engine = engine
        self._engine_id = engine_id
        self._logger = logger

    async def notify_reaction(self, table_id: str, seat: Seat, reaction: str) -> None:
        """Tell the other engines of a reaction; it may get lost."""
        payload = json.dumps([self._engine_id, table_id, seat, reaction])
        async with self._engine.begin() as connection:
            await connection.execute(
                text("SELECT pg_notify(:channel, :payload)"), {"channel": REACTION_CHANNEL, "payload": payload}
            )

    async def run(self, listener: NotificationListener) -> None:
        """Listen; runs until cancelled."""
        heard = {LOG_CHANNEL: self._logs_grew(listener), REACTION_CHANNEL: self._reacted(listener)}
        await listen_for_notifications(self._engine, heard, listener.notifications_missed, self._logger)

    def _logs_grew(self, listener: NotificationListener) -> Callable[[str], None]:
        def heard(payload: str) -> None:
            origin, heads = json.loads(payload)
            if origin == self._engine_id:
                # Usually known; but if the answer to a commit was lost, this is how the engine learns of it.
                asyncio.get_running_loop().call_later(OWN_NEWS_SECONDS, listener.logs_extended, heads)
            else:
                listener.logs_extended(heads)

        return heard

    def _reacted(self, listener: NotificationListener) -> Callable[[str], None]:
        def heard(payload: str) -> None:
            origin, table_id, seat, reaction = json.loads(payload)
            if origin != self._engine_id:
                listener.seat_reacted(table_id, seat, reaction)

        return heard
