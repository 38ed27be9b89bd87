"""The prepared tables that the engine may delete, since their tables in the lobby were closed."""

from dataclasses import dataclass, field
from itertools import islice

from croupier.lobby.engine_port import MAX_TABLE_IDS, EnginePort

MAX_WAITING = 10_000
"""Tables beyond it are left to the engine, which deletes prepared tables by age."""


@dataclass(slots=True)
class Discards:
    """Tables to discard at the engine, in memory: after a crash the engine deletes them by age."""

    engine: EnginePort
    # A dict keeps their order, unlike a set.
    _waiting: dict[str, None] = field(default_factory=dict)

    def add(self, table_id: str) -> None:
        """Discard a table with the next call to the engine."""
        if len(self._waiting) < MAX_WAITING:
            self._waiting[table_id] = None

    async def send(self) -> None:
        """Discard all tables that were added; raises ServiceError, and keeps them for the next time."""
        while batch := list(islice(self._waiting, MAX_TABLE_IDS)):
            await self.engine.discard_tables(batch)
            for table_id in batch:
                self._waiting.pop(table_id, None)
