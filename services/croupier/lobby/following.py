"""Telling this process's streams what other replicas changed, as soon as it is committed."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from sqlalchemy.ext.asyncio import AsyncEngine

from croupier.lobby.store import NEWS_CHANNEL
from croupier.lobby.table_store import TableStore
from croupier.lobby.watching import TableFeed
from croupier.runtime.errors import Unavailable
from croupier.runtime.logs import Logger
from croupier.runtime.notifications import hear_notifications

OVERLAP_MILLISECONDS = 15_000
"""By how much a change may seem older than it is when it is seen first: replicas' clocks differ by up to 5 s, and a
commit may take 10."""
PAGE = 1000
MOST_HEARD = 10_000
"""What is heard beyond it is left to `catch_up`."""


@dataclass(slots=True)
class Follower:
    """Follows the tables of all replicas: by notifications at once, by looking for what was touched in any case."""

    tables: TableStore
    feed: TableFeed
    clock: Callable[[], int]
    logger: Logger
    _heard: set[str] = field(default_factory=set)
    _woken: asyncio.Event = field(default_factory=asyncio.Event)
    _has_missed: bool = False
    _told: int | None = None
    """Everything that was changed before this time was told, in milliseconds since 1970 UTC."""

    async def run(self, database: AsyncEngine) -> None:
        """Hear of changes and tell of them; runs until cancelled."""
        if database.dialect.name != "postgresql":
            return
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(hear_notifications(database, {NEWS_CHANNEL: self._hear}, self._begin, self.logger))
            tasks.create_task(self._tell())

    def _hear(self, table_id: str) -> None:
        if self.feed.followed and len(self._heard) < MOST_HEARD:
            self._heard.add(table_id)
            self._woken.set()

    def _begin(self) -> None:
        self._has_missed = True
        self._woken.set()

    async def _tell(self) -> None:
        while True:
            await self._woken.wait()
            self._woken.clear()
            heard, self._heard = self._heard, set()
            try:
                if self._has_missed:
                    self._has_missed = False
                    await self.catch_up()
                for table in await self.tables.tables(heard) if heard else ():
                    self.feed.publish(table)
            except Unavailable as failure:
                self.logger.warning("changes are told later", reason=failure.reason)
            except Exception as error:
                self.logger.error("changes are told later", exc_info=error)

    async def catch_up(self) -> None:
        """Tell of everything that was changed since the last time."""
        now = self.clock()
        if self.feed.followed:
            # Whatever was changed before a stream began, the stream has looked for itself.
            await self._tell_since((now if self._told is None else self._told) - OVERLAP_MILLISECONDS)
        self._told = now

    async def _tell_since(self, since: int) -> None:
        while page := await self.tables.touched_since(since, PAGE):
            for table in page:
                self.feed.publish(table)
            if len(page) < PAGE or page[-1].touched_milliseconds == since:
                return
            since = page[-1].touched_milliseconds
