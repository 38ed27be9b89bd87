"""The faults: each does its harm, undoes it, and leaves it to the run to see that everything goes on."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from croupier.cli.replicas import DOOR
from loadtest.faults.house import House
from loadtest.faults.swarm import Swarm
from loadtest.faults.witness import Connections
from loadtest.network import break_connections


@dataclass(frozen=True, slots=True)
class Scene:
    """Where a fault happens; `frail` connections go through the proxy, `scale` shortens what lasts.

    With `door` all players come through the front door.
    """

    house: House
    swarm: Swarm
    frail: Sequence[Connections]
    random: Random
    scale: float
    door: bool

    async def last(self, seconds: float) -> None:
        """Let something last: so long in a full run."""
        await asyncio.sleep(seconds * self.scale)

    @property
    def engines(self) -> list[str]:
        """The engines."""
        return self.house.instances("engine")

    def hamper_frail(self) -> None:
        """From now on it is our own doing if the players behind the proxy are late."""
        self.swarm.hamper(lambda client: client.connections in self.frail)

    async def down(self, *instances: str, seconds: float) -> None:
        """Kill instances and keep them down."""
        before = dict(self.house.services.restarts)
        self.house.keep_down(*instances)
        await self.last(seconds)
        self.house.let_up(*instances)
        await self.house.until_up(instances, before)


# Engines


async def engine_killed(scene: Scene) -> None:
    """One engine is killed."""
    scene.house.kill(scene.random.choice(scene.engines))


async def engines_killed_in_turn(scene: Scene) -> None:
    """Engines are killed one after the other, each while the one before it may still be starting."""
    engines = scene.engines
    scene.random.shuffle(engines)
    for engine in engines:
        scene.house.kill(engine)
        await scene.last(2.5)


async def all_engines_killed(scene: Scene) -> None:
    """All engines are killed at once."""
    scene.house.kill(*scene.engines)


async def engine_paused(scene: Scene) -> None:
    """One engine does nothing for some seconds, and then believes that nothing has happened."""
    await _one_paused(scene, 6)


async def engine_hung(scene: Scene) -> None:
    """One engine does nothing for so long that its players have to go on without it."""
    await _one_paused(scene, 25)


async def _one_paused(scene: Scene, seconds: float) -> None:
    engine = scene.random.choice(scene.engines)
    scene.house.pause(engine)
    try:
        await scene.last(seconds)
    finally:
        scene.house.resume(engine)


async def rolling_restart(scene: Scene) -> None:
    """A deploy: the engines stop orderly and are started again, one after the other."""
    for engine in scene.engines:
        await scene.house.services.restart(engine)


async def rolling_restart_of_the_others(scene: Scene) -> None:
    """A deploy of lobby and scoring."""
    for instance in (*scene.house.instances("lobby"), *scene.house.instances("scoring")):
        await scene.house.services.restart(instance)


async def clocks_apart(scene: Scene) -> None:
    """The clocks of two engines are five seconds apart."""
    engine = scene.engines[1]
    scene.house.set_flags(engine, ["--clock-offset-milliseconds=5000"])
    await scene.house.services.restart(engine)
    await scene.last(12)
    scene.house.set_flags(engine, [])
    await scene.house.services.restart(engine)


async def sent_twice(scene: Scene) -> None:
    """Every action is sent to two engines at the same moment; through the front door also twice to one."""
    ways = [scene.house.direct([engine]) for engine in scene.random.sample(scene.engines, 2)]
    twins = [Connections(scene.house.at_door() if scene.door else way) for way in ways]
    scene.swarm.manners.twins = twins
    await scene.last(6)
    scene.swarm.manners.twins = ()
    await asyncio.sleep(1)
    for twin in twins:
        await twin.close()


# The other services


async def scoring_down(scene: Scene) -> None:
    """Scoring is down for a minute."""
    await scene.down(*scene.house.instances("scoring"), seconds=55)


async def lobby_down(scene: Scene) -> None:
    """The lobby is down; games go on."""
    await scene.down(*scene.house.instances("lobby"), seconds=8)


# The front door


async def door_killed(scene: Scene) -> None:
    """The front door is killed, and with it every connection of every player."""
    scene.house.kill(DOOR)


async def door_restarted(scene: Scene) -> None:
    """A deploy of the front door: it asks players to go, waits for them a while, and is started again."""
    await scene.house.services.restart(DOOR)


# Clients


async def clients_dropped(scene: Scene) -> None:
    """The network resets the connections of some clients."""
    scene.hamper_frail()
    await scene.house.proxy.do("players:", "reset")


async def clients_half_open(scene: Scene) -> None:
    """The connections of some clients are dead, and nobody has told them or the engines."""
    scene.hamper_frail()
    await scene.house.proxy.do("players:", "swallow")


async def slow_readers(scene: Scene) -> None:
    """Some clients get everything late and little at a time, and then nothing for a while."""
    scene.hamper_frail()
    await scene.house.proxy.do("players:", "delay", 0.4)
    await scene.last(6)
    await scene.house.proxy.do("players:", "hold")
    await scene.last(4)
    await scene.house.proxy.do("players:", "heal")


async def reconnect_storm(scene: Scene) -> None:
    """All clients lose their connections and come back at the same moment."""
    assert break_connections(scene.house.ports()) > len(scene.engines)
