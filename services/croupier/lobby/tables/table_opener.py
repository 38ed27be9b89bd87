"""The games of tables at the engine, from preparation to end.

Every step is stored and idempotent, so any replica can continue it.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, replace
from functools import partial

from croupier.lobby.storage.player_store import PlayerStore
from croupier.lobby.tables.engine_port import EnginePort
from croupier.lobby.tables.forming_table import ENDED, Table, TableState, closed
from croupier.lobby.tables.table_updater import TableUpdater
from croupier.runtime.errors import AlreadyExists, IllegalNow, MalformedRequest, NotFound, ServiceError
from croupier.runtime.observation.logs import Logger, failures_logged

MAX_CONCURRENT_OPENINGS = 16
"""The limit for each of matchmaking and housekeeping."""
RESUME_SECONDS = 0.1
RETRY_SECONDS = 1.0
PERMANENT_ERRORS = (MalformedRequest, NotFound, IllegalNow, AlreadyExists)
"""Refusals of the engine that a retry does not change."""


@dataclass(frozen=True, slots=True)
class TableOpener:
    """Prepares and opens tables at the engine, and stores that they are finished."""

    updater: TableUpdater
    players: PlayerStore
    engine: EnginePort
    logger: Logger

    async def advance(self, table: Table) -> Table:
        """Prepare and open a table as far as possible, and return it; a step that fails now is retried later."""
        try:
            if table.state is TableState.PREPARING:
                table = await self._prepare(table)
            if table.state is TableState.OPENING:
                table = await self._open(table)
        except PERMANENT_ERRORS as refusal:
            self.logger.error(
                "table closed: the engine refuses it", table_id=table.table_id, reason=refusal.reason_name
            )
            return await self.updater.update(table.table_id, _if_state(table.state, closed))
        except ServiceError:
            # An outage of the engine or the database is logged once, where it was called.
            return table
        return table

    async def _prepare(self, table: Table) -> Table:
        preparation = await self.engine.prepare_table(
            table.table_id, table.game, len(table.seats), table.options, table.time_control, table.network
        )
        prepared = partial(preparation.applied_to, state=TableState.OPENING)
        return await self.updater.update(table.table_id, _if_state(TableState.PREPARING, prepared))

    async def _open(self, table: Table) -> Table:
        await self.engine.open_table(table)
        return await self.updater.update(
            table.table_id, _if_state(TableState.OPENING, lambda current: replace(current, state=TableState.PLAYING))
        )

    async def follow_ends(self) -> None:
        """Finish tables as soon as the engine streams their ends; housekeeping repairs what it misses.

        The stream is resumed whenever it ends; runs until cancelled.
        """
        resume_at = self.updater.clock()
        while True:
            seconds = RETRY_SECONDS
            with failures_logged(self.logger, "the stream of ended tables is resumed"):
                async with aclosing(self.engine.watch_ended_tables(resume_at)) as stream:
                    async for ended in stream:
                        if ended.table_ids:
                            await self.finish(ended.table_ids)
                        resume_at = ended.resume_at
                seconds = RESUME_SECONDS
            await asyncio.sleep(seconds)

    async def finish(self, table_ids: Sequence[str]) -> None:
        """Store which of at most 500 games are over, and who has acted in them."""
        statuses = await self.engine.table_statuses(table_ids)
        finished = {table_id: status for table_id, status in statuses.items() if status.is_finished}
        # Before the tables are finished, whose players are kept until then.
        acted = {player for status in finished.values() for player in status.acted_players}
        await self.players.mark_played(acted, self.updater.clock())
        for table_id in finished:
            # The engine keeps tables that the lobby has deleted.
            with suppress(NotFound):
                await self.updater.update(table_id, _finished)


def _finished(table: Table) -> Table:
    return table if table.state in ENDED else replace(table, state=TableState.FINISHED)


def _if_state(state: TableState, change: Callable[[Table], Table]) -> Callable[[Table], Table]:
    """Return a change that has no effect once another call has moved the table on from a state."""
    return lambda table: change(table) if table.state is state else table
