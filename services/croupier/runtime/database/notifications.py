"""PostgreSQL's notifications, sent and received on a connection of their own, which is reopened after a loss.

A transaction with a notification holds a lock of the whole server from its commit until that is flushed, so that such
transactions commit one after the other. Therefore none has one: each notification is sent after the commit of which it
notifies, by a transaction that is not flushed. So it may come late, and is lost with the process or its connection.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TypeAlias

from croupier.runtime.database.database import Database
from croupier.runtime.database.drivers import connect_postgresql, is_read_only
from croupier.runtime.errors import Unavailable
from croupier.runtime.observation.logs import Logger

CHECK_SECONDS = 2.0
"""The time between checks of the connection, which find a half-open one."""
MIN_BACKOFF_SECONDS = 0.1
MAX_BACKOFF_SECONDS = 1.0
MAX_WAITING = 1_000
"""Of more notifications that wait to be sent the oldest are dropped."""
APPLICATION_NAME = "croupier notifications"
_SEND = "SELECT pg_notify(channel, payload) FROM unnest($1::text[], $2::text[]) AS sent (channel, payload)"

NotificationHandlers: TypeAlias = Mapping[str, Callable[[str], None]]
"""A function for the payloads of each channel."""


class Notifications:
    """The notifications between the replicas of a service; each receives its own too."""

    def __init__(self, database: Database, logger: Logger) -> None:
        self._database = database
        self._logger = logger
        self._waiting: deque[tuple[str, str]] = deque(maxlen=MAX_WAITING)
        self._wake = asyncio.Event()

    def send(self, channel: str, payload: str) -> None:
        """Send a payload of less than 8,000 bytes soon; it may get lost."""
        self._waiting.append((channel, payload))
        self._wake.set()

    async def run(
        self,
        handlers: NotificationHandlers,
        on_check: Callable[[], None] = lambda: None,
        on_connect: Callable[[], None] = lambda: None,
    ) -> None:
        """Send notifications, and pass those that arrive to the handlers; runs until cancelled.

        Calls `on_check` when earlier ones may have been lost: with each connection, then every CHECK_SECONDS, and with
        each failure; `on_connect` with each connection, once notifications arrive.
        """
        backoff_seconds = MIN_BACKOFF_SECONDS
        while True:
            started = asyncio.get_running_loop().time()
            try:
                await self._run_connection(handlers, on_check, on_connect)
            except Unavailable:
                # There may be no other connection for long.
                on_check()
            except Exception as error:
                self._logger.error("notifications failed", channels=list(handlers), exc_info=error)
                on_check()
            was_connected = asyncio.get_running_loop().time() - started > CHECK_SECONDS
            backoff_seconds = MIN_BACKOFF_SECONDS if was_connected else min(2 * backoff_seconds, MAX_BACKOFF_SECONDS)
            await asyncio.sleep(backoff_seconds)

    async def _run_connection(
        self, handlers: NotificationHandlers, on_check: Callable[[], None], on_connect: Callable[[], None]
    ) -> None:
        """Use one connection until it is lost, or its server read-only; raises Unavailable."""
        time = asyncio.get_running_loop().time
        settings = {"application_name": APPLICATION_NAME, "synchronous_commit": "off"}
        with self._database.available():
            connection = await connect_postgresql(self._database.url, CHECK_SECONDS, settings)
        connection.add_termination_listener(lambda _connection: self._wake.set())
        try:
            with self._database.available():
                for channel in handlers:
                    await connection.add_listener(channel, lambda _connection, _pid, name, body: handlers[name](body))
            on_connect()
            checked = None
            while True:
                self._wake.clear()
                # The others notify by the primary of now.
                if connection.is_closed() or is_read_only(connection):
                    return
                with self._database.available():
                    if checked is None or time() >= checked + CHECK_SECONDS:
                        await connection.execute("SELECT 1")
                        checked = time()
                        on_check()
                    if self._waiting:
                        channels, payloads = zip(*self._waiting, strict=True)
                        self._waiting.clear()
                        await connection.execute(_SEND, channels, payloads)
                with suppress(TimeoutError):
                    async with asyncio.timeout_at(checked + CHECK_SECONDS):
                        await self._wake.wait()
        finally:
            connection.terminate()
