"""What a change of a player does to the tables at which they have a seat: a new name, or their deletion."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from croupier.lobby.accounts.players import Player
from croupier.lobby.storage.table_store import TableStore
from croupier.lobby.tables import forming_table
from croupier.lobby.tables.forming_table import Table, TableState
from croupier.lobby.tables.table_updater import TableUpdater, table_busy
from croupier.runtime.errors import NotFound


@dataclass(frozen=True, slots=True)
class SeatedPlayers:
    """Changes the seats of players at tables that have not ended, and publishes the tables."""

    store: TableStore
    updater: TableUpdater

    async def rename(self, player: Player) -> int:
        """Give a player's seats at forming tables their name; returns the number of these tables.

        The others stay ready. Raises Unavailable if other calls keep changing a table.
        """
        forming = [table for table in await self.store.list_of_player(player.player_id) if _is_forming(table)]
        await self._update(forming, partial(forming_table.renamed, player=player))
        return len(forming)

    async def remove(self, player_id: str) -> Sequence[str]:
        """Remove a deleted player from forming tables, and their name from others, whose ids are returned.

        Raises Unavailable if other calls keep changing a table, or one of them is being opened.
        """
        tables = await self.store.list_of_player(player_id)
        await self._update(tables, partial(forming_table.without_player, player_id=player_id))
        if any(table.state is TableState.OPENING for table in tables):
            raise table_busy()
        return [table.table_id for table in tables if not _is_forming(table)]

    async def _update(self, tables: Sequence[Table], change: Callable[[Table], Table]) -> None:
        for table in tables:
            # The table may have been deleted.
            with suppress(NotFound):
                await self.updater.update(table.table_id, change)


def _is_forming(table: Table) -> bool:
    return table.state is TableState.FORMING
