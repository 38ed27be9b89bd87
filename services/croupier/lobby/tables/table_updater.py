"""Optimistic updates of stored tables: read, change, store if the version is still the same, publish."""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import islice

from croupier.lobby.feed.subscriptions import TableFeed
from croupier.lobby.storage.table_store import TableStore
from croupier.lobby.tables.engine_port import MAX_TABLE_IDS, EnginePort
from croupier.lobby.tables.forming_table import Table, TableState
from croupier.lobby.tables.table_changes import next_version
from croupier.runtime.errors import Unavailable
from croupier.runtime.table_access import unknown_table
from croupier_api.v1 import errors_pb2

MAX_ATTEMPTS = 50
MAX_DISCARDS = 10_000
"""Tables beyond it are left to the engine, which deletes prepared tables by age."""


@dataclass(frozen=True, slots=True)
class TableUpdater:
    """Updates stored tables, publishes them to the streams, and discards those that were closed at the engine."""

    store: TableStore
    feed: TableFeed
    engine: EnginePort
    clock: Callable[[], int]
    _discarded: dict[str, None] = field(default_factory=dict)
    """Tables that the engine may delete, in order and in memory: after a crash the engine deletes them by age."""

    async def update(
        self, table_id: str, change: Callable[[Table], Table], player_id: str = "", network: str = ""
    ) -> Table:
        """Store and return what `change` returns for a table; it is called again after each conflict.

        A player of a network who makes the change is recorded as seen. Raises NotFound, the errors of `change`,
        LimitReached if they have too many tables or change this one too often, InviteCodeTaken, and Unavailable after
        too many conflicts.
        """
        for _ in range(MAX_ATTEMPTS):
            table = await self.store.get(table_id)
            if table is None:
                raise unknown_table()
            changed = change(table)
            if changed == table:
                return table
            changed = next_version(table, changed, self.clock(), player_id)
            if await self.store.update(table, changed, player_id, network):
                self.feed.publish(changed)
                if changed.state is TableState.CLOSED:
                    self.discard(table_id)
                return changed
        raise table_busy()

    def discard(self, table_id: str) -> None:
        """Discard a table with the next call to the engine."""
        if len(self._discarded) < MAX_DISCARDS:
            self._discarded[table_id] = None

    async def send_discarded(self) -> None:
        """Let the engine delete all discarded tables; raises ServiceError, and keeps them for the next time."""
        while batch := list(islice(self._discarded, MAX_TABLE_IDS)):
            await self.engine.discard_tables(batch)
            for table_id in batch:
                self._discarded.pop(table_id, None)


def table_busy() -> Unavailable:
    """Return the error after too many conflicts between changes of a table."""
    return Unavailable(
        errors_pb2.ERROR_REASON_TABLE_BUSY,
        "too many calls change this table at once: try again",
        retry_after_seconds=0.5,
    )
