"""Deleted players: what signs them in goes at once; seats, tickets and names go in steps that are repeated.

The steps run again once the access tokens of the player have expired: so they also find what calls and reports have
stored that were under way at the deletion.
"""

from collections.abc import Callable
from dataclasses import dataclass

from croupier.lobby.storage.deletion_store import DeletionStore
from croupier.lobby.storage.table_store import TableStore
from croupier.lobby.tables.engine_port import EnginePort
from croupier.lobby.tables.seated_players import SeatedPlayers
from croupier.runtime.observation.logs import Logger, failures_logged

RETRY_MILLISECONDS = 60_000
CALL_MILLISECONDS = 60_000
"""The time for which a call runs on whose token has expired, and by which the clocks of replicas may differ."""


@dataclass(frozen=True, slots=True)
class PlayerDeletions:
    """Deletes players, and removes what is left of them."""

    store: DeletionStore
    tables: TableStore
    seated: SeatedPlayers
    engine: EnginePort
    access_token_seconds: int
    clock: Callable[[], int]
    logger: Logger

    async def delete(self, player_id: str) -> None:
        """Delete a player, who then leaves their forming tables; has no effect if they are deleted."""
        if await self.store.delete(player_id, self.clock()):
            with failures_logged(self.logger, "deleted player leaves their tables later"):
                await self.seated.remove(player_id)

    async def finish_due(self) -> None:
        """Remove what is left of the players that are due; a failure is logged, and the player is due again."""
        now = self.clock()
        for player_id, deleted in await self.store.claim(now, now + RETRY_MILLISECONDS):
            with failures_logged(self.logger, "deletion of a player is finished later"):
                await self._remove(player_id)
                expired = deleted + self.access_token_seconds * 1000 + CALL_MILLISECONDS
                if now < expired:
                    await self.store.postpone(player_id, expired)
                else:
                    await self.store.complete(player_id)

    async def _remove(self, player_id: str) -> None:
        """Remove the ticket, the seats at forming tables, and the name from all others and from the ledger."""
        await self.store.delete_ticket(player_id)
        playing = await self.seated.remove(player_id)
        after = ""
        while table_ids := await self.engine.forget_player(player_id, playing, after):
            await self.tables.remove_name(table_ids, player_id)
            after = table_ids[-1]
