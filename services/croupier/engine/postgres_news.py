"""News by LISTEN and NOTIFY of PostgreSQL."""

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from croupier.engine.news import NewsListener
from croupier.games.facts import Seat
from croupier.runtime.logs import Logger
from croupier.runtime.notifications import hear_notifications

LOG_CHANNEL = "croupier_log"
REACTION_CHANNEL = "croupier_reaction"
LONGEST_PAYLOAD_BYTES = 7_900
"""PostgreSQL takes less than 8,000."""
OWN_NEWS_SECONDS = 0.5
"""What an engine told itself it usually knows; after this long it looks whether it does."""


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
        heard = {LOG_CHANNEL: self._logs_grew(listener), REACTION_CHANNEL: self._reacted(listener)}
        await hear_notifications(self._engine, heard, listener.news_were_missed, self._logger)

    def _logs_grew(self, listener: NewsListener) -> Callable[[str], None]:
        def heard(payload: str) -> None:
            origin, heads = json.loads(payload)
            if origin == self._engine_id:
                # Usually known; but if the answer to a commit was lost, this is how the engine learns of it.
                asyncio.get_running_loop().call_later(OWN_NEWS_SECONDS, listener.logs_grew, heads)
            else:
                listener.logs_grew(heads)

        return heard

    def _reacted(self, listener: NewsListener) -> Callable[[str], None]:
        def heard(payload: str) -> None:
            origin, table_id, seat, reaction = json.loads(payload)
            if origin != self._engine_id:
                listener.seat_reacted(table_id, seat, reaction)

        return heard
