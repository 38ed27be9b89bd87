"""The one way in which a stored table changes: look, alter, store if nobody was faster, tell."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from croupier.lobby.table_store import TableStore
from croupier.lobby.tables import Table
from croupier.lobby.watching import TableFeed
from croupier.runtime.errors import NotFound, Unavailable

CHANGE_ATTEMPTS = 50


@dataclass(frozen=True, slots=True)
class TableChanges:
    """Changes stored tables and tells the streams."""

    store: TableStore
    feed: TableFeed
    clock: Callable[[], int]

    async def change(self, table_id: str, alter: Callable[[Table], Table]) -> Table:
        """Store what `alter` makes of a table; it is asked again whenever somebody else was faster.

        Raises NotFound, what `alter` raises, and Unavailable if others were faster again and again.
        """
        for _ in range(CHANGE_ATTEMPTS):
            table = await self.store.table(table_id)
            if table is None:
                raise unknown_table()
            altered = alter(table)
            if altered == table:
                return table
            # Replicas' clocks may differ: a table is never touched earlier than it was.
            touched = max(self.clock(), table.touched_milliseconds)
            changed = replace(altered, version=table.version + 1, touched_milliseconds=touched)
            if await self.store.update(changed):
                self.feed.publish(changed)
                return changed
        raise Unavailable("TABLE_BUSY", "too many change this table at once: try again", retry_after_seconds=0.5)


def unknown_table() -> NotFound:
    """No such table, or none that the caller may see."""
    return NotFound("UNKNOWN_TABLE", "there is no such table, or it is private and you do not sit there")
