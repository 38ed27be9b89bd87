"""Scheduled faults: those of whole replicas, databases and connections, and their times."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from croupier_loadtest.simulation.environment import Environment
from croupier_loadtest.simulation.replica import Replica

RESTART_SECONDS = (0.1, 4.0)
REPORTING_SECONDS = 2.0
DATABASES = ("engine", "engine", "lobby", "scoring")
"""Those of which one is stopped, drawn at random."""
DOWN_SECONDS = (0.2, 4.0)
LONG_DOWN_SECONDS = (1.0, 10.0)
RECOVERING_SECONDS = 3.0
CUT_OFF_SECONDS = (20.0, 60.0)


class Chaos:
    """Causes the scheduled faults of a plan."""

    def __init__(self, environment: Environment, replicas: Sequence[Replica]) -> None:
        self._environment = environment
        self._replicas = replicas
        self._plan = environment.plan
        self._faults = environment.faults
        self._random = environment.random("chaos")
        self._kinds: dict[str, Callable[[], Coroutine[Any, Any, None]]] = {
            "kill engine": lambda: self._kill([self._one("engine")]),
            "kill all engines": lambda: self._kill(self._all("engine")),
            "stop engine": lambda: self._stop([self._one("engine")]),
            "rolling restart": lambda: self._stop(self._all("engine")),
            "stop database": lambda: self._stop_database(self._random.choice(DATABASES), DOWN_SECONDS),
            "stop database, kill engine": self._stop_database_and_kill_engine,
            "cut engine off": self._cut_engine_off,
            "kill lobby": lambda: self._kill([self._one("lobby")]),
            "stop lobby": lambda: self._stop([self._one("lobby")]),
            "kill scoring": lambda: self._kill([self._one("scoring")]),
            "scoring down": self._scoring_down,
            "break stream": lambda: self._break(1),
            "break all streams": lambda: self._break(1_000),
        }

    def _all(self, kind: str) -> list[Replica]:
        return [replica for replica in self._replicas if replica.kind == kind]

    def _one(self, kind: str) -> Replica:
        return self._random.choice(self._all(kind))

    async def run(self, playing: Sequence[asyncio.Task[None]]) -> None:
        """Cause all scheduled faults within the faulty time, or until all games are over; all replicas run at the end.

        Random faults continue for a while, since results are reported then.
        """
        loop = asyncio.get_running_loop()
        end = loop.time() + self._plan.faulty_seconds
        moments = sorted(self._random.uniform(0, self._plan.faulty_seconds) for _ in self._plan.scheduled_faults)
        under_way = []
        for moment, kind in zip(moments, self._plan.scheduled_faults, strict=True):
            if not await self._wait_until(end - self._plan.faulty_seconds + moment, playing):
                break
            self._faults.count(kind)
            under_way.append(asyncio.create_task(self._kinds[kind]()))
        await self._wait_until(end, playing)
        await asyncio.sleep(self._random.uniform(0, REPORTING_SECONDS))
        self._faults.stop()
        if under_way:
            await asyncio.gather(*under_way)

    async def _wait_until(self, moment: float, playing: Sequence[asyncio.Task[None]]) -> bool:
        """Wait until a time; returns whether any game is still running."""
        seconds = moment - asyncio.get_running_loop().time()
        if seconds > 0:
            await asyncio.wait(playing, timeout=seconds)
        return not all(each.done() for each in playing)

    async def _kill(self, replicas: Sequence[Replica]) -> None:
        for replica in replicas:
            replica.kill()
        for replica in replicas:
            await asyncio.sleep(self._random.uniform(*RESTART_SECONDS))
            replica.start()

    async def _stop(self, replicas: Sequence[Replica]) -> None:
        for replica in replicas:
            await replica.stop()
            replica.start()

    async def _scoring_down(self) -> None:
        for replica in self._all("scoring"):
            replica.kill()
        await asyncio.sleep(self._random.uniform(2.0, 8.0))
        for replica in self._all("scoring"):
            replica.start()

    async def _stop_database(self, kind: str, seconds: tuple[float, float]) -> None:
        database = self._environment.databases[kind]
        database.stop()
        await asyncio.sleep(self._random.uniform(*seconds))
        database.is_down = False

    async def _stop_database_and_kill_engine(self) -> None:
        """Kill an engine soon after the engines' database has been down for a while."""
        await self._stop_database("engine", LONG_DOWN_SECONDS)
        await asyncio.sleep(self._random.uniform(0, RECOVERING_SECONDS))
        await self._kill([self._one("engine")])

    async def _cut_engine_off(self) -> None:
        """Keep one engine from its database for long, while its players reach it and the others go on."""
        database, process = self._environment.databases["engine"], self._one("engine").process
        database.cut_off.add(process)
        await asyncio.sleep(self._random.uniform(*CUT_OFF_SECONDS))
        database.cut_off.discard(process)

    async def _break(self, maximum: int) -> None:
        streams = [
            call for call in self._environment.network.open_calls if call.method.endswith(("PlayTable", "WatchTable"))
        ]
        for call in self._random.sample(streams, min(maximum, len(streams))):
            self._environment.network.break_connection(call)


async def supervise(replicas: Sequence[Replica]) -> None:
    """Restart replicas that have ended by themselves; runs until cancelled."""
    while True:
        await asyncio.sleep(1.0)
        for replica in replicas:
            if not replica.process.alive:
                replica.start()
