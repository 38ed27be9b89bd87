"""Plays people: so many of each kind, as they come and go, until time is up and the last games are over."""

import asyncio
from collections.abc import Coroutine, Sequence
from random import Random

from loadtest.measures import Measures
from loadtest.network import break_connections
from loadtest.players.behaviours import BEHAVIOURS
from loadtest.players.tables import Tables
from loadtest.players.visit import Visit, seconds_to_storm, tell_fault
from loadtest.players.world import Manners, PlayerClient
from loadtest.scenarios import Kind
from loadtest.swarm.client import Connections, SwarmClient
from loadtest.swarm.judging import Judging

STOPPING_SECONDS = 30.0
"""How long people who are stopped in the middle of a game may take to let go of it."""


class SwarmWorld(Visit):
    """The world of one user of a swarm."""

    def __init__(self, swarm: "Swarm") -> None:
        super().__init__(swarm)
        self._sleep = swarm.sleep

    async def sleep(self, seconds: float) -> None:
        """Let time pass; not longer than until time is up."""
        await self._sleep(seconds)

    async def pause(self, seconds: float) -> None:
        """Let time pass, also when time is up."""
        await asyncio.sleep(seconds)

    async def together(self, behaviours: Sequence[Coroutine[None, None, None]]) -> None:
        """Let several people do something at the same time."""
        async with asyncio.TaskGroup() as group:
            for behaviour in behaviours:
                group.create_task(behaviour)


class Swarm:
    """All people of one process."""

    def __init__(self, manners: Manners, connections: Connections, ports: Sequence[int]) -> None:
        self.manners = manners
        self.measures = Measures()
        self.time_up = asyncio.Event()
        self._judging = Judging(self.measures, manners.scenario.judged_share, Random(f"{manners.seed} judging"))
        self.tables = Tables(self.measures, self._judging.hand_over)
        self._connections = connections
        self._ports = frozenset(ports)
        self._people: dict[str, tuple[SwarmWorld, asyncio.Task[None]]] = {}

    @property
    def is_time_up(self) -> bool:
        """Whether no new games are begun."""
        return self.time_up.is_set()

    @property
    def people(self) -> int:
        """How many users are played."""
        return len(self._people)

    @property
    def waiting_for_referee(self) -> int:
        """Tables that have not been judged yet."""
        return self._judging.waiting

    def guest(self, name: str) -> PlayerClient:
        """A player's client."""
        secret = f"load test {self.manners.seed} {name}"
        patience = self.manners.matching_seconds
        return SwarmClient(self._connections, secret, name, self.measures, patience, self.sleep)

    async def sleep(self, seconds: float) -> None:
        """Let time pass; not longer than until time is up."""
        try:
            async with asyncio.timeout(seconds):
                await self.time_up.wait()
        except TimeoutError:
            return

    def come(self, name: str, kind: Kind) -> None:
        """Somebody comes."""
        world = SwarmWorld(self)
        task = asyncio.create_task(BEHAVIOURS[kind](world, name))
        self._people[name] = (world, task)
        task.add_done_callback(lambda done: self._gone(name, done))

    def leave(self, name: str) -> None:
        """Somebody is to leave, after the game that he is in."""
        if name in self._people:
            self._people[name][0].let_leave()

    def _gone(self, name: str, task: asyncio.Task[None]) -> None:
        self._people.pop(name, None)
        if not task.cancelled() and (error := task.exception()) is not None:
            tell_fault(self.measures, error)

    async def storms(self, period_seconds: float) -> None:
        """Break all connections again and again, at the same moments in every swarm; a period of 0 is never."""
        if not period_seconds:
            return
        while not self.time_up.is_set():
            await asyncio.sleep(seconds_to_storm(period_seconds))
            if not self.time_up.is_set():
                self.measures.count("connections broken", break_connections(self._ports))

    async def last_orders(self, grace_seconds: float) -> None:
        """No new games and no thinking: let games end for so long, then stop, and wait for the referee."""
        self.time_up.set()
        self.tables.hurry()
        tasks = {task for _, task in self._people.values()}
        if tasks:
            await asyncio.wait(tasks, timeout=grace_seconds)
        left = {task for task in tasks if not task.done()}
        for task in left:
            task.cancel()
        if left:
            await asyncio.wait(left, timeout=STOPPING_SECONDS)
        for record in self.tables.remaining():
            await self._judging.hand_over(record)

    async def judged(self, seconds: float) -> None:
        """Wait for the referee."""
        await self._judging.finish(seconds)

    async def close(self) -> None:
        """End the connections and the referee's process."""
        self._judging.close()
        await self._connections.close()
