"""PostgreSQL's notifications, by LISTEN on a dedicated connection, which is reopened after a loss."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TypeAlias

from sqlalchemy.ext.asyncio import AsyncEngine

from croupier.runtime.database_drivers import connect_postgresql
from croupier.runtime.logs import Logger

CHECK_SECONDS = 2.0
"""The time between checks of the connection, which find a half-open one."""
MIN_BACKOFF_SECONDS = 0.1
MAX_BACKOFF_SECONDS = 2.0


NotificationHandlers: TypeAlias = Mapping[str, Callable[[str], None]]
"""A function for the payloads of each channel."""


async def listen_for_notifications(
    database: AsyncEngine, handlers: NotificationHandlers, on_listening: Callable[[], None], logger: Logger
) -> None:
    """Pass notifications to handlers until cancelled; calls `on_listening` when earlier ones may have been missed."""
    backoff_seconds = MIN_BACKOFF_SECONDS
    while True:
        started = asyncio.get_running_loop().time()
        try:
            await _listen(database, handlers, on_listening)
        except Exception as fault:  # noqa: BLE001 - after any error it reconnects
            logger.warning(
                "notifications are missed until the next connection",
                channels=list(handlers),
                fault=type(fault).__name__,
            )
        was_connected = asyncio.get_running_loop().time() - started > CHECK_SECONDS
        backoff_seconds = MIN_BACKOFF_SECONDS if was_connected else min(2 * backoff_seconds, MAX_BACKOFF_SECONDS)
        await asyncio.sleep(backoff_seconds)


async def _listen(database: AsyncEngine, handlers: NotificationHandlers, on_listening: Callable[[], None]) -> None:
    """Listen on one connection until it is lost; raises its errors."""
    connection = await connect_postgresql(database.url, command_seconds=CHECK_SECONDS)
    lost = asyncio.Event()
    connection.add_termination_listener(lambda _connection: lost.set())
    try:
        for channel in handlers:
            await connection.add_listener(channel, lambda _connection, _pid, name, payload: handlers[name](payload))
        # From now on none is missed; the caller has to poll for earlier changes.
        on_listening()
        while not lost.is_set():
            await connection.execute("SELECT 1")
            with suppress(TimeoutError):
                async with asyncio.timeout(CHECK_SECONDS):
                    await lost.wait()
    finally:
        connection.terminate()
