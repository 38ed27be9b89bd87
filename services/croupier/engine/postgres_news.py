"""News by LISTEN and NOTIFY of PostgreSQL."""

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from croupier.engine.news import NewsListener
from croupier.games.facts import Seat
from croupier.runtime.database import connect_postgresql
from croupier.runtime.logs import Logger

LOG_CHANNEL = "croupier_log"
REACTION_CHANNEL = "croupier_reaction"
LONGEST_PAYLOAD_BYTES = 7_900
"""PostgreSQL takes less than 8,000."""
OWN_NEWS_SECONDS = 0.5
"""What an engine told itself it usually knows; after this long it looks whether it does."""
PROBE_SECONDS = 2.0
"""A connection that is open at one end only is noticed by asking now and then."""
FIRST_WAIT_SECONDS = 0.1
LONGEST_WAIT_SECONDS = 2.0


def write_heads(engine_id: str, heads: Mapping[str, int], longest: int) -> Iterator[str]:
    """The payloads that tell how far logs have grown, each of at most `longest` bytes."""
    frame = len(json.dumps([engine_id, {}]))
    part: dict[str, int] = {}
    size = frame
    for table_id, sequence in heads.items():
        grown = len(json.dumps({table_id: sequence})) + 1
        if part and size + grown > longest:
            yield json.dumps([engine_id, part])
            part, size = {}, frame
        part[table_id] = sequence
        size += grown
    yield json.dumps([engine_id, part])


class PostgresNews:
    """Listens on a connection of its own; after a loss it listens again, and says that news were missed."""

    def __init__(self, engine: AsyncEngine, engine_id: str, logger: Logger) -> None:
        self._engine = engine
        self._engine_id = engine_id
        self._logger = logger

    async def tell_reaction(self, table_id: str, seat: Seat, reaction: str) -> None:
        """Tell the other engines of a reaction; it may get lost."""
        payload = json.dumps([self._engine_id, table_id, seat, reaction])
        async with self._engine.begin() as connection:
            await connection.execute(
                text("SELECT pg_notify(:channel, :payload)"), {"channel": REACTION_CHANNEL, "payload": payload}
            )

    async def run(self, listener: NewsListener) -> None:
        """Listen; runs until cancelled."""
        wait_seconds = FIRST_WAIT_SECONDS
        while True:
            began = asyncio.get_running_loop().time()
            try:
                await self._listen(listener)
            except Exception as error:  # noqa: BLE001 - whatever it was, it is tried again
                self._logger.warning("news of other engines are missed", error=type(error).__name__)
            has_listened = asyncio.get_running_loop().time() - began > PROBE_SECONDS
            wait_seconds = FIRST_WAIT_SECONDS if has_listened else min(2 * wait_seconds, LONGEST_WAIT_SECONDS)
            await asyncio.sleep(wait_seconds)

    async def _listen(self, listener: NewsListener) -> None:
        """Listen on one connection until it is lost; raises what was wrong with it."""
        connection = await connect_postgresql(self._engine.url, PROBE_SECONDS)
        lost = asyncio.Event()
        connection.add_termination_listener(lambda _connection: lost.set())
        try:
            await connection.add_listener(LOG_CHANNEL, _payloads(self._logs_grew(listener)))
            await connection.add_listener(REACTION_CHANNEL, _payloads(self._reacted(listener)))
            # Only now: what was appended before has to be looked for, what comes after is heard.
            listener.news_were_missed()
            while not lost.is_set():
                await connection.execute("SELECT 1")
                with suppress(TimeoutError):
                    async with asyncio.timeout(PROBE_SECONDS):
                        await lost.wait()
            raise ConnectionError("the connection was lost")
        finally:
            connection.terminate()

    def _logs_grew(self, listener: NewsListener) -> Callable[[Any], None]:
        def heard(payload: Any) -> None:
            origin, heads = payload
            if origin == self._engine_id:
                # Usually known; but if the answer to a commit was lost, this is how the engine learns of it.
                asyncio.get_running_loop().call_later(OWN_NEWS_SECONDS, listener.logs_grew, heads)
            else:
                listener.logs_grew(heads)

        return heard

    def _reacted(self, listener: NewsListener) -> Callable[[Any], None]:
        def heard(payload: Any) -> None:
            origin, table_id, seat, reaction = payload
            if origin != self._engine_id:
                listener.seat_reacted(table_id, seat, reaction)

        return heard


def _payloads(heard: Callable[[Any], None]) -> Callable[[object, int, str, str], None]:
    return lambda _connection, _pid, _channel, payload: heard(json.loads(payload))
