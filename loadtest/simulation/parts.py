"""What stands in for an engine's ports that no simulated network can be behind: its writer, thinkers and logger."""

import asyncio
import json
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from sqlalchemy.exc import IntegrityError, OperationalError
from sqlalchemy.ext.asyncio import AsyncEngine

from croupier.engine.entry_writer import Append, late
from croupier.engine.sqlite_writer import _write
from croupier.engine.thinking import Thought
from croupier.games.actions import Action
from croupier.games.bots import random_of
from croupier.runtime.errors import ServiceError
from loadtest.judge.violations import Invariant
from loadtest.simulation.database import SimulatedDatabase
from loadtest.simulation.findings import Findings


class SimulatedWriter:
    """Appends in one transaction, as production's writers do, and publishes it within that transaction.

    What was sent to the database goes on there, whatever becomes of the engine that sent it.
    """

    def __init__(
        self, engine: AsyncEngine, database: SimulatedDatabase, engine_id: str, lost: Callable[[int], None]
    ) -> None:
        self._engine = engine
        self._lost = lost
        self._database = database
        self._engine_id = engine_id

    async def write(self, appends: Sequence[Append]) -> Sequence[int]:
        """Store all of it, or nothing, and then return the places of those that came too late."""
        transaction = self._database.process.start(self._transaction(appends))
        # Once nobody waits for it, its failure is nobody's either.
        transaction.add_done_callback(lambda done: done.cancelled() or done.exception())
        return await asyncio.shield(transaction)

    async def _transaction(self, appends: Sequence[Append]) -> Sequence[int]:
        try:
            async with self._engine.connect() as connection:
                await connection.run_sync(_write, appends)
                heads = json.dumps({append.table_id: append.head for append in appends})
                await connection.exec_driver_sql("SELECT noted('news', ?, ?)", (self._engine_id, heads))
                await connection.commit()
                return ()
        except IntegrityError as conflict:
            async with self._engine.connect() as connection:
                losers = await connection.run_sync(late, appends, conflict)
            self._lost(len(losers))
            return losers

    async def close(self) -> None:
        """Nothing is held."""


class SimulatedThinkers:
    """Computer players that think: by chance, for a while, and sometimes to no end."""

    def __init__(self, chance: Random) -> None:
        self._chance = chance

    async def decide(self, thought: Thought) -> Action | None:
        """What the player does; None if it has to be decided without thinking."""
        await asyncio.sleep(self._chance.uniform(0.01, 1.0))
        if self._chance.random() < 0.1:
            return None
        return random_of(thought.seen.legal, self._chance.randrange)

    async def close(self) -> None:
        """Think no more."""


class SimulatedLogger:
    """Finds failures among what the services log that no simulated fault explains."""

    def __init__(self, name: str, findings: Findings) -> None:
        self._name = name
        self._findings = findings

    def info(self, event: str, **fields: Any) -> None:
        """Nothing is wrong."""

    warning = debug = info

    def error(self, event: str, exc_info: object = None, **fields: Any) -> None:
        """Something failed: by a fault of the world, or in itself."""
        if exc_info is not None and not isinstance(exc_info, _EXPLAINED):
            self._findings.add(Invariant.INTERNAL_ERROR, f"{self._name}: {event} {fields} {exc_info!r}")


_EXPLAINED = (ServiceError, OperationalError, TimeoutError)
