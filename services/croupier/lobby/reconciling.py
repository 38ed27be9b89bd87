"""Looking after what was left undone: by a crash, a silent engine, or people who went away."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field

from croupier.lobby.changes import TableChanges
from croupier.lobby.engine_port import MOST_STATUSES, EnginePort
from croupier.lobby.following import Follower
from croupier.lobby.metrics import LobbyMetrics
from croupier.lobby.opening import Opener
from croupier.lobby.player_store import PlayerStore
from croupier.lobby.table_store import TableStore
from croupier.lobby.tables import Table, TableState, closed
from croupier.lobby.ticket_store import TicketStore
from croupier.lobby.tickets import MATCHED_SECONDS
from croupier.runtime.errors import ServiceError
from croupier.runtime.logs import Logger

BATCH = 200
AT_A_TIME = 16
LEFT_ALONE_MILLISECONDS = 2_000
"""Whoever stored a step just now is likely still at it. Where replicas' clocks differ, another may come sooner or later
by as much; sooner does no harm, for a step may be done twice."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long things are kept, in milliseconds; by as much as replicas' clocks differ they go sooner."""

    forming_idle: int
    ended_table: int
    ticket_grace: int


@dataclass(slots=True)
class Reconciler:
    """Goes round all tables, a bounded batch at a time."""

    tables: TableStore
    tickets: TicketStore
    players: PlayerStore
    changes: TableChanges
    opener: Opener
    engine: EnginePort
    follower: Follower
    metrics: LobbyMetrics
    patience: Patience
    clock: Callable[[], int]
    logger: Logger
    _cursors: dict[str, str] = field(default_factory=dict)

    async def run(self, pause_seconds: float) -> None:
        """Do everything again and again; runs until cancelled."""
        while True:
            for name, step in self._steps().items():
                try:
                    await step()
                except ServiceError as failure:
                    self.logger.warning("left for later", step=name, reason=failure.reason)
                except Exception as error:
                    self.logger.error("left for later", step=name, exc_info=error)
            await asyncio.sleep(pause_seconds)

    def _steps(self) -> Mapping[str, Callable[[], Awaitable[None]]]:
        return {
            "follow": self.follower.catch_up,
            "open": self.open_tables,
            "finish": self.finish_tables,
            "close": self.close_idle,
            "forget": self.forget,
            "count": self.count,
        }

    async def open_tables(self) -> None:
        """Go on with tables on their way to the engine."""
        before = self.clock() - LEFT_ALONE_MILLISECONDS
        batch = await self._next({TableState.PREPARING, TableState.OPENING}, BATCH, before)
        places = asyncio.Semaphore(AT_A_TIME)

        async def advance(table: Table) -> None:
            async with places:
                await self.opener.advance(table)

        await asyncio.gather(*(advance(table) for table in batch))

    async def finish_tables(self) -> None:
        """Ask the engine which games are over."""
        batch = await self._next({TableState.PLAYING}, MOST_STATUSES)
        if not batch:
            return
        for table_id, finished in (await self.engine.table_statuses([table.table_id for table in batch])).items():
            if finished:
                await self.opener.finish(table_id)

    async def close_idle(self) -> None:
        """Close forming tables that nobody touched for long."""
        before = self.clock() - self.patience.forming_idle
        for table in await self._next({TableState.FORMING}, BATCH, before):
            await self.changes.change(
                table.table_id,
                lambda now: (
                    closed(now) if now.state is TableState.FORMING and now.touched_milliseconds < before else now
                ),
            )

    async def forget(self) -> None:
        """Remove what has ended or was abandoned."""
        now = self.clock()
        await self.players.forget_expired(now)
        await self.tickets.forget_abandoned(now - self.patience.ticket_grace, now - MATCHED_SECONDS * 1000)
        await self.tables.forget_ended(now - self.patience.ended_table)

    async def count(self) -> None:
        """Show how many tables run."""
        self.metrics.show_tables(await self.tables.count_running())

    async def _next(self, states: Collection[TableState], limit: int, touched_before: int | None = None) -> list[Table]:
        """The next batch on the way round, by table id, so that nobody is left out for long."""
        way = ",".join(sorted(states))
        batch = await self.tables.in_states(states, self._cursors.get(way, ""), limit, touched_before)
        self._cursors[way] = batch[-1].table_id if len(batch) == limit else ""
        return batch
