"""The tables in memory: those in use, and the last finished ones."""

from collections import OrderedDict
from collections.abc import Iterator, Mapping

from croupier.engine.tables.table import Table
from croupier.runtime.identity.tokens import Clock
from croupier.runtime.steps import in_steps

MAX_FINISHED_IN_MEMORY = 200
EVICTION_STEP = 500
FINISHED_IDLE_MILLISECONDS = 15_000
"""Players read the end of a game at once; after that a finished table, whose log is long, is evicted."""


class TablesInMemory:
    """Tables by their id, until they were not used for a while."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._live: dict[str, Table] = {}
        self._finished: OrderedDict[str, Table] = OrderedDict()
        self._used_at: dict[str, int] = {}

    @property
    def live(self) -> Mapping[str, Table]:
        """The tables but for those whose game was over, for spectators too, at the last eviction."""
        return self._live

    def __iter__(self) -> Iterator[Table]:
        yield from self._live.values()
        yield from self._finished.values()

    def get(self, table_id: str) -> Table | None:
        """Return a table, None if it is not in memory."""
        return self._live.get(table_id) or self._finished.get(table_id)

    def add(self, table: Table) -> None:
        """Add a table that is used now."""
        self._keep(table)
        self.use(table.config.table_id)

    def remove(self, table_id: str) -> Table | None:
        """Remove a table, and return it; None if it is not in memory."""
        table = self._live.pop(table_id, None) or self._finished.pop(table_id, None)
        if table is not None:
            self._retire(table)
        return table

    def use(self, table_id: str) -> None:
        """Record that a table is used now."""
        self._used_at[table_id] = self._clock()

    def _keep(self, table: Table) -> None:
        if not table.state.is_over or table.subscribers.is_delayed:
            self._live[table.config.table_id] = table
            return
        self._finished[table.config.table_id] = table
        if len(self._finished) > MAX_FINISHED_IN_MEMORY:
            _, oldest = self._finished.popitem(last=False)
            self._retire(oldest)

    def _retire(self, table: Table) -> None:
        self._used_at.pop(table.config.table_id, None)
        table.retire()

    async def evict(self, idle_milliseconds: int) -> None:
        """Evict tables that were not used for so long; finished ones sooner."""
        idle_since = self._clock() - idle_milliseconds
        async for table_id, table in in_steps(list(self._live.items()), EVICTION_STEP):
            if table.state.is_over and not (table.subscribers.is_delayed or table.subscribers):
                del self._live[table_id]
                self._keep(table)
            elif self._used_at.get(table_id, 0) < idle_since and self._may_leave(table, idle_since):
                self._retire(self._live.pop(table_id))
        finished_since = max(idle_since, self._clock() - FINISHED_IDLE_MILLISECONDS)
        for table_id in [one for one in self._finished if self._used_at.get(one, 0) < finished_since]:
            self._retire(self._finished.pop(table_id))

    def _may_leave(self, table: Table, idle_since: int) -> bool:
        """Return whether a table is idle, and no deadline so near that an engine would soon load it again."""
        acts_soon = table.state.due is not None and table.state.deadline < 2 * self._clock() - idle_since
        return table.is_idle() and not acts_soon
