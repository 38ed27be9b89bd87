"""Simulated ports of an engine beside its network and database: the writer, the bot workers and the logger."""

import asyncio
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from croupier.engine.bots.worker import BotRequest
from croupier.engine.storage.sqlite_writer import SqliteWriter
from croupier.engine.storage.writer import Append
from croupier.games.actions import Action
from croupier.games.bots import random_of
from croupier.runtime.database.database import Database
from loadtest.judge.violations import Invariant
from loadtest.simulation.database import SimulatedDatabase
from loadtest.simulation.loop import PROCESS
from loadtest.simulation.observer import Findings


class SimulatedWriter:
    """Appends in one transaction, as the production writers do.

    A transaction continues in the database after the death of the engine that sent it.
    """

    def __init__(self, access: Database, database: SimulatedDatabase, lost: Callable[[int], None]) -> None:
        self._access = access
        self._writer = SqliteWriter(access)
        self._lost = lost
        self._database = database

    async def write(self, appends: Sequence[Append]) -> Sequence[int]:
        """Store all appends, or none; returns the indexes of those that came too late."""
        # The transaction runs in the process of the database.
        with self._access.available():
            self._database.check_reachable(PROCESS.get())
        transaction = self._database.process.start(self._transaction(appends))
        # Retrieved, so that a failure without a waiter is not logged.
        transaction.add_done_callback(lambda done: done.cancelled() or done.exception())
        return await asyncio.shield(transaction)

    async def _transaction(self, appends: Sequence[Append]) -> Sequence[int]:
        losers = await self._writer.write(appends)
        self._lost(len(losers))
        return losers

    async def close(self) -> None:
        """Do nothing: there is nothing to close."""


class SimulatedBotWorkers:
    """Bot workers that decide at random, after a random time, and sometimes not at all."""

    def __init__(self, random: Random) -> None:
        self._random = random

    async def decide(self, bot_request: BotRequest) -> Action | None:
        """Return the action of a bot; None for a fallback."""
        await asyncio.sleep(self._random.uniform(0.01, 1.0))
        if self._random.random() < 0.1:
            return None
        return random_of(bot_request.observation.legal, self._random.randrange)

    async def close(self) -> None:
        """Do nothing: there is nothing to close."""


class SimulatedLogger:
    """A logger that reports errors as violations: no simulated fault is an unexpected one."""

    def __init__(self, name: str, findings: Findings) -> None:
        self._name = name
        self._findings = findings

    def info(self, event: str, **fields: Any) -> None:
        """Ignore a message."""

    warning = debug = info

    def error(self, event: str, exc_info: object = None, **fields: Any) -> None:
        """Report a failure with a traceback."""
        if exc_info is not None:
            self._findings.add(Invariant.INTERNAL_ERROR, f"{self._name}: {event} {fields} {exc_info!r}")
