"""Taking a table to the engine. Every step is stored and may be repeated, so that whoever comes next goes on."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from croupier.lobby.changes import TableChanges
from croupier.lobby.engine_port import EnginePort, Preparation
from croupier.lobby.tables import ENDED, Table, TableState, closed
from croupier.runtime.errors import AlreadyExists, IllegalNow, MalformedRequest, NotFound, ServiceError
from croupier.runtime.logs import Logger

FINAL_REFUSALS = (MalformedRequest, NotFound, IllegalNow, AlreadyExists)
"""What the engine would answer again and again."""


@dataclass(frozen=True, slots=True)
class Opener:
    """Prepares and opens tables at the engine."""

    changes: TableChanges
    engine: EnginePort
    logger: Logger

    async def advance(self, table: Table) -> Table:
        """Take a table as far as it goes and give it as it stands then; what fails now is tried again later."""
        try:
            if table.state is TableState.PREPARING:
                table = await self._prepare(table)
            if table.state is TableState.OPENING:
                table = await self._open(table)
        except FINAL_REFUSALS as refusal:
            self.logger.error("table closed: the engine refuses it", table_id=table.table_id, reason=refusal.reason)
            return await self.changes.change(table.table_id, _from(table.state, closed))
        except ServiceError as failure:
            self.logger.warning("table waits for the engine", table_id=table.table_id, reason=failure.reason)
        return table

    async def _prepare(self, table: Table) -> Table:
        preparation = await self.engine.prepare_table(
            table.table_id, table.game, len(table.seats), table.options, table.clock
        )
        return await self.changes.change(
            table.table_id, _from(TableState.PREPARING, lambda now: prepared(now, preparation, TableState.OPENING))
        )

    async def _open(self, table: Table) -> Table:
        await self.engine.open_table(table.table_id, table.seats)
        return await self.changes.change(
            table.table_id, _from(TableState.OPENING, lambda now: replace(now, state=TableState.PLAYING))
        )

    async def finish(self, table_id: str) -> None:
        """Note that the engine says that a table's game is over."""
        await self.changes.change(
            table_id, lambda now: now if now.state in ENDED else replace(now, state=TableState.FINISHED)
        )


def prepared(table: Table, preparation: Preparation, state: TableState) -> Table:
    """The table as the engine will play it."""
    return replace(
        table,
        state=state,
        options=preparation.options,
        clock=preparation.clock,
        commitment=preparation.commitment,
    )


def _from(state: TableState, alter: Callable[[Table], Table]) -> Callable[[Table], Table]:
    """`alter`, unless somebody else took the table on from this state already."""
    return lambda table: alter(table) if table.state is state else table
