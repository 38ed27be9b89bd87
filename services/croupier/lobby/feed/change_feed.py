"""Publishing to this process's streams what other replicas changed, soon after the commit."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from croupier.lobby.feed.subscriptions import TableFeed
from croupier.lobby.storage.store import NOTIFICATION_CHANNEL
from croupier.lobby.storage.table_store import TableStore
from croupier.lobby.tables.forming_table import Table
from croupier.runtime.database.notifications import CHECK_SECONDS, Notifications
from croupier.runtime.observation.logs import Logger, failures_logged
from croupier.runtime.steps import in_steps

OVERLAP_MILLISECONDS = 15_000
"""A change may become visible so long after its update time: replicas' clocks differ by up to 5 s, and a commit may
take 10."""
PAGE_SIZE = 1000
PUBLISHING_STEP = 25
MAX_NOTIFIED = 10_000
"""Notifications beyond it are dropped; `catch_up` finds their tables."""


@dataclass(slots=True)
class CatchUp:
    """Publishes the changes of all replicas: soon by notifications, and in any case by polling for update times."""

    tables: TableStore
    feed: TableFeed
    notifications: Notifications | None
    clock: Callable[[], int]
    logger: Logger
    _notified: set[str] = field(default_factory=set)
    _wakeup: asyncio.Event = field(default_factory=asyncio.Event)
    _may_have_missed: bool = False
    _published_milliseconds: int | None = None
    """All changes before this time were published, in milliseconds since 1970 UTC."""

    async def run(self) -> None:
        """Publish the changed tables; runs until cancelled. Without notifications it only polls."""
        async with asyncio.TaskGroup() as tasks:
            if self.notifications is None:
                tasks.create_task(self._poll())
            else:
                handlers = {NOTIFICATION_CHANNEL: self._on_notification}
                tasks.create_task(self.notifications.run(handlers, self._on_check))
            tasks.create_task(self._publish_notified())

    async def _poll(self) -> None:
        while True:
            self._on_check()
            await asyncio.sleep(CHECK_SECONDS)

    def _on_check(self) -> None:
        self._may_have_missed = True
        self._wakeup.set()

    def _on_notification(self, table_id: str) -> None:
        if self.feed.has_subscribers and len(self._notified) < MAX_NOTIFIED:
            self._notified.add(table_id)
            self._wakeup.set()

    async def _publish_notified(self) -> None:
        while True:
            await self._wakeup.wait()
            self._wakeup.clear()
            notified, self._notified = self._notified, set()
            with failures_logged(self.logger, "changes are published later"):
                if self._may_have_missed:
                    self._may_have_missed = False
                    await self.catch_up()
                if notified:
                    await self._publish(await self.tables.list_by_ids(notified))

    async def catch_up(self) -> None:
        """Publish all changes since the last time."""
        now = self.clock()
        if self.feed.has_subscribers:
            # A stream itself reads what was changed before its subscription.
            since = now if self._published_milliseconds is None else self._published_milliseconds
            since -= OVERLAP_MILLISECONDS
            while page := await self.tables.list_updated_since(since, PAGE_SIZE):
                await self._publish(page)
                if len(page) < PAGE_SIZE or page[-1].updated_milliseconds == since:
                    break
                since = page[-1].updated_milliseconds
        self._published_milliseconds = now

    async def _publish(self, tables: Sequence[Table]) -> None:
        async for table in in_steps(tables, PUBLISHING_STEP):
            self.feed.publish(table)
