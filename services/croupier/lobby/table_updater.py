"""Optimistic updates of stored tables: read, change, store if the version is still the same, publish."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from croupier.lobby.discards import Discards
from croupier.lobby.subscriptions import TableFeed
from croupier.lobby.table_store import TableStore
from croupier.lobby.tables import Table, TableState
from croupier.runtime.errors import Unavailable
from croupier.runtime.table_access import unknown_table
from croupier_api.v1 import errors_pb2

MAX_ATTEMPTS = 50


@dataclass(frozen=True, slots=True)
class TableUpdater:
    """Updates stored tables, publishes them to the streams, and discards those that were closed at the engine."""

    store: TableStore
    feed: TableFeed
    discards: Discards
    clock: Callable[[], int]

    async def update(self, table_id: str, change: Callable[[Table], Table], player_id: str = "") -> Table:
        """Store and return what `change` returns for a table; it is called again after each conflict.

        A player who makes the change is recorded as seen. Raises NotFound, the errors of `change`, InviteCodeTaken, and
        Unavailable after too many conflicts.
        """
        for _ in range(MAX_ATTEMPTS):
            table = await self.store.get(table_id)
            if table is None:
                raise unknown_table()
            changed = change(table)
            if changed == table:
                return table
            # Replicas' clocks may differ: the time of a table's update never decreases.
            updated = max(self.clock(), table.updated_milliseconds)
            changed = replace(changed, version=table.version + 1, updated_milliseconds=updated)
            if await self.store.update(changed, player_id):
                self.feed.publish(changed)
                if changed.state is TableState.CLOSED:
                    self.discards.add(table_id)
                return changed
        raise Unavailable(
            errors_pb2.ERROR_REASON_TABLE_BUSY,
            "too many calls change this table at once: try again",
            retry_after_seconds=0.5,
        )
