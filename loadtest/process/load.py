"""Plays users: so many of each kind, as they start and stop, until time is up and the last games are over."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection

from loadtest.measures import Measures
from loadtest.network import break_connections
from loadtest.players.behaviours import BEHAVIOURS
from loadtest.players.client import NewClient
from loadtest.players.tables import Tables
from loadtest.players.world import Manners, World
from loadtest.record import TableRecord
from loadtest.scenarios import Kind

STOPPING_SECONDS = 30.0
"""How long users who are stopped in the middle of a game may take to let go of it."""


class Load:
    """The users of one process; `take` receives the record of each table once all its viewers have left it."""

    def __init__(
        self,
        manners: Manners,
        new_client: NewClient,
        take: Callable[[TableRecord], Awaitable[None]],
        measures: Measures | None = None,
    ) -> None:
        self.manners = manners
        self.measures = measures or Measures()
        self.time_up = asyncio.Event()
        self.tables = Tables(self.measures, take)
        self._take = take
        self._new_client = new_client
        self._users: dict[str, tuple[World, asyncio.Task[None]]] = {}

    @property
    def users(self) -> int:
        """How many users are played."""
        return len(self._users)

    def world(self) -> World:
        """A world for one more user."""
        return World(self.manners, self.measures, self.tables, self.time_up, self._new_client)

    def start(self, name: str, kind: Kind) -> None:
        """Start a user."""
        world = self.world()
        task = asyncio.create_task(BEHAVIOURS[kind](world, name))
        self._users[name] = (world, task)
        task.add_done_callback(lambda done: self._ended(name, done))

    def stop(self, name: str) -> None:
        """Let a user stop after the game that it is in."""
        if name in self._users:
            self._users[name][0].let_leave()

    def _ended(self, name: str, task: asyncio.Task[None]) -> None:
        self._users.pop(name, None)
        if not task.cancelled() and (error := task.exception()) is not None:
            self.measures.failed(f"load test: {type(error).__name__}", _chain(error))

    async def drain(self, grace_seconds: float) -> None:
        """No new games and no thinking: let games end for so long, then stop all users."""
        self.time_up.set()
        self.tables.hurry()
        tasks = {task for _, task in self._users.values()}
        if tasks:
            await asyncio.wait(tasks, timeout=grace_seconds)
        left = {task for task in tasks if not task.done()}
        for task in left:
            task.cancel()
        if left:
            await asyncio.wait(left, timeout=STOPPING_SECONDS)
        for record in self.tables.remaining():
            await self._take(record)

    async def storms(self, period_seconds: float, ports: Collection[int]) -> None:
        """Break all connections again and again, at the same moments in every process; a period of 0 is never."""
        if not period_seconds:
            return
        while not self.time_up.is_set():
            await asyncio.sleep(period_seconds - time.time() % period_seconds)
            if not self.time_up.is_set():
                self.measures.count("connections broken", break_connections(ports))


def _chain(error: BaseException) -> str:
    if isinstance(error, BaseExceptionGroup):
        return "; ".join(_chain(one) for one in error.exceptions)
    where = error.__traceback__
    while where is not None and where.tb_next is not None:
        where = where.tb_next
    place = f" at {where.tb_frame.f_code.co_filename}:{where.tb_lineno}" if where is not None else ""
    return f"{type(error).__name__}: {error}{place}"
