"""The store of deleted players, whose names and seats are still to be removed."""

from collections.abc import Sequence

from sqlalchemy import Connection, delete, exists, select, update

from croupier.lobby.storage.player_store import delete_players, lock_player
from croupier.lobby.storage.schema import DELETIONS, TICKETS
from croupier.lobby.storage.store import Store, select_unlocked
from croupier.runtime.database.upsert import insert_into

BATCH_SIZE = 20


class DeletionStore:
    """A row for each deleted player, until there is nothing more to remove."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def delete(self, player_id: str, now: int) -> bool:
        """Delete a player and all that signs them in; the rest is due then. Returns False if they are gone."""
        row = {"player_id": player_id, "deleted_milliseconds": now, "due_milliseconds": now}

        def delete_player(connection: Connection) -> bool:
            if not lock_player(connection, player_id):
                return False
            delete_players(connection, [player_id])
            delete_ticket(connection, player_id)
            connection.execute(insert_into(connection.dialect.name, DELETIONS).on_conflict_do_nothing(), row)
            return True

        return await self._store.write(delete_player)

    async def delete_ticket(self, player_id: str) -> None:
        """Delete the ticket of a deleted player, whom a call that began before the deletion may have given one."""
        await self._store.write(delete_ticket, player_id)

    async def claim(self, now: int, until: int) -> Sequence[tuple[str, int]]:
        """Return deleted players that are due, with the times of their deletions; they are due again at a time."""
        is_due = DELETIONS.c.due_milliseconds <= now
        # Most times there is none, and a transaction that writes costs more.
        if not await self._store.read(lambda connection: connection.scalar(select(exists().where(is_due)))):
            return ()
        keys = select_unlocked(DELETIONS.c.player_id, is_due)
        keys = keys.order_by(DELETIONS.c.due_milliseconds).limit(BATCH_SIZE)
        claimed = update(DELETIONS).where(DELETIONS.c.player_id.in_(keys)).values(due_milliseconds=until)
        returned = claimed.returning(DELETIONS.c.player_id, DELETIONS.c.deleted_milliseconds)
        rows = await self._store.write(lambda connection: connection.execute(returned).all())
        return [(row.player_id, row.deleted_milliseconds) for row in rows]

    async def postpone(self, player_id: str, due: int) -> None:
        """Let a deleted player be due at a time."""
        later = update(DELETIONS).where(DELETIONS.c.player_id == player_id).values(due_milliseconds=due)
        await self._store.write(lambda connection: connection.execute(later))

    async def complete(self, player_id: str) -> None:
        """Delete the row of a player of whom there is nothing more to remove."""
        completed = delete(DELETIONS).where(DELETIONS.c.player_id == player_id)
        await self._store.write(lambda connection: connection.execute(completed))


def delete_ticket(connection: Connection, player_id: str) -> None:
    connection.execute(delete(TICKETS).where(TICKETS.c.player_id == player_id))
