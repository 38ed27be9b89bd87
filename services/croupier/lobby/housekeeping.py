"""Housekeeping: finishing what crashes, engine outages and departed players left behind."""

import asyncio
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, field
from functools import partial

from croupier.lobby.matchmaking.tickets import MATCHED_RETENTION_SECONDS
from croupier.lobby.metrics import LobbyMetrics
from croupier.lobby.settings import LobbySettings
from croupier.lobby.storage.player_store import MAX_DELETED, PlayerStore
from croupier.lobby.storage.table_store import TableStore
from croupier.lobby.storage.ticket_store import TicketStore
from croupier.lobby.tables.engine_port import MAX_TABLE_IDS
from croupier.lobby.tables.forming_table import Table, TableState, closed
from croupier.lobby.tables.games import GameRegistry
from croupier.lobby.tables.presence import AWAY_MILLISECONDS, Presence
from croupier.lobby.tables.table_changes import FormingLifetime, bots_due_at, with_due_bots, without_idle_players
from croupier.lobby.tables.table_opener import MAX_CONCURRENT_OPENINGS, TableOpener
from croupier.lobby.tables.table_updater import TableUpdater
from croupier.runtime.observation.logs import Logger, failures_logged

BATCH_SIZE = 200
REPAIR_MILLISECONDS = 60_000
DELETION_MILLISECONDS = 30_000
"""The time between two deletions of old rows: each of them is a transaction that writes, also if it finds none."""
OPENING_GRACE_MILLISECONDS = 2_000
"""The call that updated a table just now probably still opens it. Replicas whose clocks differ come sooner or later
by as much; sooner does no harm, because opening is idempotent."""


@dataclass(slots=True)
class Housekeeper:
    """Brings tables, tickets and sign-ins to the state in which they should be, in batches of limited size.

    Rows are kept for the times of the settings, which differences between replicas' clocks shorten.
    """

    tables: TableStore
    tickets: TicketStore
    players: PlayerStore
    updater: TableUpdater
    opener: TableOpener
    games: GameRegistry
    presence: Presence
    metrics: LobbyMetrics
    settings: LobbySettings
    lifetime: FormingLifetime
    clock: Callable[[], int]
    logger: Logger
    _repaired_milliseconds: int = 0
    """The time at which the engine was last asked about all games."""
    _deleted_milliseconds: int = 0
    """The time at which old rows were last deleted."""
    _cursors: dict[str, str] = field(default_factory=dict)

    async def run_steps(self) -> None:
        """Run all steps, those that delete old rows only if it is time for them; a failure of one is logged."""
        steps: dict[str, Callable[[], Awaitable[None]]] = {
            "open_tables": self.open_tables,
            "finish_tables": self.repair_finished,
            "close_idle_tables": self.close_idle_tables,
            "free_idle_seats": self.free_idle_seats,
            "fill_seats": self.fill_seats,
            "discard_tables": self.updater.send_discarded,
            "count_tables": self.count_tables,
        }
        now = self.clock()
        if now >= self._deleted_milliseconds + DELETION_MILLISECONDS:
            self._deleted_milliseconds = now
            steps |= {"delete_expired": self.delete_expired, "delete_unplayed_guests": self.delete_unplayed_guests}
        for name, step in steps.items():
            with failures_logged(self.logger, "step is retried later", step=name):
                await step()

    async def open_tables(self) -> None:
        """Open tables whose opening was interrupted."""
        before = self.clock() - OPENING_GRACE_MILLISECONDS
        batch = await self._next_batch({TableState.PREPARING, TableState.OPENING}, BATCH_SIZE, before)
        slots = asyncio.Semaphore(MAX_CONCURRENT_OPENINGS)

        async def advance(table: Table) -> None:
            async with slots:
                await self.opener.advance(table)

        await asyncio.gather(*(advance(table) for table in batch))

    async def repair_finished(self) -> None:
        """Ask the engine about all games, a batch at a time and then not for a while: its stream names most ends."""
        # A time below zero is that of a clock that was set back.
        if 0 <= self.clock() - self._repaired_milliseconds < REPAIR_MILLISECONDS:
            return
        if await self.finish_tables() < MAX_TABLE_IDS:
            self._repaired_milliseconds = self.clock()

    async def finish_tables(self) -> int:
        """Ask the engine which of the next games are over, and store it; return the number of these games."""
        batch = await self._next_batch({TableState.PLAYING}, MAX_TABLE_IDS)
        if not batch:
            return 0
        await self.opener.finish([table.table_id for table in batch])
        return len(batch)

    async def close_idle_tables(self) -> None:
        """Close forming tables whose time is up. The engine deletes prepared tables by age."""
        now = self.clock()

        def close_if_due(table: Table) -> Table:
            closes_at = self.lifetime.closes_at(table)
            return closed(table) if closes_at is not None and closes_at <= now else table

        for table in await self.tables.list_to_close(self.lifetime, now, BATCH_SIZE):
            await self.updater.update(table.table_id, close_if_due)

    async def free_idle_seats(self) -> None:
        """Free the seats of players who are not ready for too long, and reserved ones."""
        now = self.clock()
        for table in await self.tables.list_with_due_seats(now, BATCH_SIZE):
            await self.updater.update(table.table_id, partial(without_idle_players, now=now))

    async def fill_seats(self) -> None:
        """Let bots take the free seats of tables whose players have waited for others long enough.

        They have to be ready, and there. This step waits while it is not known who is there.
        """
        if not self.presence.is_known:
            return
        now = self.clock()
        for table in await self.tables.list_with_due_seats(now, BATCH_SIZE):
            if bots_due_at(table) is not None:
                bot = await self.games.choose_bot(table.game, "")
                seen = (await self.presence.store.seen([table.table_id]))[table.table_id]
                fill = partial(with_due_bots, bot=bot, seen=seen, since=now - AWAY_MILLISECONDS, now=now)
                await self.opener.advance(await self.updater.update(table.table_id, fill))

    async def delete_expired(self) -> None:
        """Delete expired sign-ins and device codes, abandoned tickets and ended tables."""
        now = self.clock()
        await self.players.delete_expired(now)
        unmatched_before = now - self.settings.ticket_grace_seconds * 1000
        await self.tickets.delete_abandoned(unmatched_before, now - MATCHED_RETENTION_SECONDS * 1000)
        await self.tables.delete_ended(TableState.CLOSED, now - self.settings.closed_table_seconds * 1000)
        await self.tables.delete_ended(TableState.FINISHED, now - self.settings.ended_table_seconds * 1000)

    async def delete_unplayed_guests(self) -> None:
        """Delete guests who never acted in a game and were not seen for the retention time.

        Without a token they can take no seat.
        """
        if not self.settings.unplayed_guest_hours:
            return
        kept_seconds = max(self.settings.unplayed_guest_hours * 3600, self.settings.access_token_seconds)
        seen_before = self.clock() - kept_seconds * 1000
        deleted = MAX_DELETED
        while deleted == MAX_DELETED:
            deleted = await self.players.delete_unplayed(seen_before)
            self.metrics.guests_deleted.inc(deleted)

    async def count_tables(self) -> None:
        """Set the metric of running tables."""
        self.metrics.show_tables(await self.tables.count_running())

    async def _next_batch(
        self, states: Collection[TableState], limit: int, updated_before: int | None = None
    ) -> list[Table]:
        """Return the next tables by id, from the start again after the last: every table has its turn."""
        cursor = ",".join(sorted(states))
        after = self._cursors.get(cursor, "")
        batch = await self.tables.list_in_states(states, after, limit, updated_before)
        self._cursors[cursor] = batch[-1].table_id if len(batch) == limit else ""
        return batch
