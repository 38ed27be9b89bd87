"""Following the ends of games at the engine."""

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass

from croupier.lobby.tables.engine_port import EnginePort
from croupier.lobby.tables.table_opener import TableOpener
from croupier.runtime.errors import Unavailable
from croupier.runtime.observation.logs import Logger

RESUME_SECONDS = 0.1
RETRY_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class EndFollower:
    """Stores that tables are finished as soon as the engine streams their ends; housekeeping repairs what it misses."""

    engine: EnginePort
    opener: TableOpener
    clock: Callable[[], int]
    logger: Logger

    async def run(self) -> None:
        """Follow the stream, and resume it whenever it ends; runs until cancelled."""
        resume_at = self.clock()
        while True:
            seconds = RETRY_SECONDS
            try:
                async with aclosing(self.engine.watch_ended_tables(resume_at)) as stream:
                    async for ended in stream:
                        if ended.table_ids:
                            await self.opener.finish(ended.table_ids)
                        resume_at = ended.resume_at
                seconds = RESUME_SECONDS
            except Exception as error:
                if not isinstance(error, Unavailable):
                    self.logger.error("the stream of ended tables is resumed", exc_info=error)
            await asyncio.sleep(seconds)
