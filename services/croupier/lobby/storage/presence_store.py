"""The store of presence: when each player of a forming table was last seen."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TypeAlias

from sqlalchemy import Connection, delete, func, select

from croupier.lobby.storage.schema import PRESENCE
from croupier.lobby.storage.store import Store
from croupier.runtime.database.upsert import insert_into

RECORD_MILLISECONDS = 15_000
"""The least time between two records of a player at a table by one lobby."""
Pair: TypeAlias = tuple[str, str]
"""A table and a player, by their ids."""
Seen: TypeAlias = Mapping[str, int]
"""The players of a table, with the times in milliseconds since 1970 UTC at which they were last seen."""


class PresenceStore:
    """A row for each player at a forming table who is not away; the rows of those who are away are deleted."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._recorded: dict[Pair, int] = {}
        """The pairs that need no record now, with the times of their last one, oldest first."""

    def due(self, pairs: Iterable[Pair], now: int) -> list[Pair]:
        """Return those of some pairs that this lobby has not recorded for 15 s, in one order for all lobbies."""
        for pair, recorded in list(self._recorded.items()):
            if recorded > now - RECORD_MILLISECONDS:
                break
            del self._recorded[pair]
        return sorted({pair for pair in pairs if pair not in self._recorded})

    def mark_recorded(self, pairs: Iterable[Pair], now: int) -> None:
        """Let pairs need no record for 15 s."""
        for pair in pairs:
            self._recorded.pop(pair, None)
            self._recorded[pair] = now

    async def record(self, pairs: Sequence[Pair], now: int) -> None:
        """Record that players were seen at tables, unless that was done within 15 s."""
        if due := self.due(pairs, now):
            await self._store.write(record_seen, due, now)
            self.mark_recorded(due, now)

    async def seen(self, table_ids: Collection[str]) -> dict[str, dict[str, int]]:
        """Return when players were last seen, by table and player."""
        query = select(PRESENCE).where(PRESENCE.c.table_id.in_(table_ids))
        seen: dict[str, dict[str, int]] = {table_id: {} for table_id in table_ids}
        for row in await self._store.read(lambda connection: connection.execute(query).all()):
            seen[row.table_id][row.player_id] = row.seen_milliseconds
        return seen

    async def list_stale(self, before: int, limit: int) -> list[str]:
        """Return tables with players who were last seen before a time, the longest first."""
        seen = PRESENCE.c.seen_milliseconds
        query = (
            select(PRESENCE.c.table_id)
            .where(seen < before)
            .group_by(PRESENCE.c.table_id)
            .order_by(func.min(seen))
            .limit(limit)
        )
        return list(await self._store.read(lambda connection: connection.scalars(query).all()))

    async def delete_stale(self, table_ids: Collection[str], before: int) -> None:
        """Delete the rows of players at some tables who were last seen before a time."""
        is_stale = PRESENCE.c.table_id.in_(table_ids) & (PRESENCE.c.seen_milliseconds < before)
        await self._store.write(lambda connection: connection.execute(delete(PRESENCE).where(is_stale)))


def record_seen(connection: Connection, pairs: Sequence[Pair], now: int) -> None:
    """Record in a transaction that players were seen at tables."""
    insert = insert_into(connection.dialect.name, PRESENCE)
    upsert = insert.on_conflict_do_update(
        index_elements=["table_id", "player_id"], set_={"seen_milliseconds": insert.excluded.seen_milliseconds}
    )
    rows = [{"table_id": table_id, "player_id": player_id, "seen_milliseconds": now} for table_id, player_id in pairs]
    connection.execute(upsert, rows)
