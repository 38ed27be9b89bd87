"""Notifications of PostgreSQL: heard on a connection of their own, which is opened again whenever it is lost."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TypeAlias

from sqlalchemy.ext.asyncio import AsyncEngine

from croupier.runtime.database_drivers import connect_postgresql
from croupier.runtime.logs import Logger

PROBE_SECONDS = 2.0
"""A connection that is open at one end only is noticed by asking now and then."""
FIRST_PAUSE_SECONDS = 0.1
MAX_PAUSE_SECONDS = 2.0


Heard: TypeAlias = Mapping[str, Callable[[str], None]]
"""Who hears what is told, by channel."""


async def listen_for_notifications(
    database: AsyncEngine, heard: Heard, begun: Callable[[], None], logger: Logger
) -> None:
    """Pass on what is told, and call `begun` whenever something before may have been missed; runs until cancelled."""
    pause_seconds = FIRST_PAUSE_SECONDS
    while True:
        began = asyncio.get_running_loop().time()
        try:
            await _hear(database, heard, begun)
        except Exception as fault:  # noqa: BLE001 - whatever it was, it is tried again
            logger.warning("notifications are missed for now", channels=list(heard), fault=type(fault).__name__)
        has_heard = asyncio.get_running_loop().time() - began > PROBE_SECONDS
        pause_seconds = FIRST_PAUSE_SECONDS if has_heard else min(2 * pause_seconds, MAX_PAUSE_SECONDS)
        await asyncio.sleep(pause_seconds)


async def _hear(database: AsyncEngine, heard: Heard, begun: Callable[[], None]) -> None:
    """Hear on one connection until it is lost; raises what is wrong with it."""
    connection = await connect_postgresql(database.url, command_seconds=PROBE_SECONDS)
    lost = asyncio.Event()
    connection.add_termination_listener(lambda _connection: lost.set())
    try:
        for channel in heard:
            await connection.add_listener(channel, lambda _connection, _pid, told_on, text: heard[told_on](text))
        # Only now: what was told before has to be looked for, what comes after is heard.
        begun()
        while not lost.is_set():
            await connection.execute("SELECT 1")
            with suppress(TimeoutError):
                async with asyncio.timeout(PROBE_SECONDS):
                    await lost.wait()
    finally:
        connection.terminate()
