"""Faults of services and clients: each breaks something and undoes it; the run waits until everything goes on."""

import signal

from croupier.cli.replicas import DOOR as GATEWAY
from loadtest.faults.scene import Scene
from loadtest.network import break_connections

# Engines


async def engine_killed(scene: Scene) -> None:
    """One engine is killed."""
    scene.deployment.kill(scene.random.choice(scene.engines))


async def engines_killed_in_turn(scene: Scene) -> None:
    """Engines are killed one after the other, each while the one before it may still be starting."""
    engines = scene.engines
    scene.random.shuffle(engines)
    for engine in engines:
        scene.deployment.kill(engine)
        await scene.last(2.5)


async def all_engines_killed(scene: Scene) -> None:
    """All engines are killed at once."""
    scene.deployment.kill(*scene.engines)


async def engine_paused(scene: Scene) -> None:
    """One engine does nothing for some seconds, and then believes that nothing has happened."""
    await _one_paused(scene, 6)


async def engine_hung(scene: Scene) -> None:
    """One engine does nothing for so long that its players have to go on without it."""
    await _one_paused(scene, 25)


async def _one_paused(scene: Scene, seconds: float) -> None:
    engine = scene.random.choice(scene.engines)
    scene.deployment.services.kill(engine, signal.SIGSTOP)
    try:
        await scene.last(seconds)
    finally:
        scene.deployment.services.kill(engine, signal.SIGCONT)


async def rolling_restart(scene: Scene) -> None:
    """A deploy: the engines stop orderly and are started again, one after the other."""
    for engine in scene.engines:
        await scene.deployment.services.restart(engine)


async def rolling_restart_of_the_others(scene: Scene) -> None:
    """A deploy of lobby and scoring."""
    for instance in (*scene.deployment.instances("lobby"), *scene.deployment.instances("scoring")):
        await scene.deployment.services.restart(instance)


async def clocks_apart(scene: Scene) -> None:
    """The clocks of two engines are five seconds apart."""
    engine = scene.engines[1]
    scene.deployment.set_flags(engine, ["--clock-offset-milliseconds=5000"])
    await scene.deployment.services.restart(engine)
    await scene.last(12)
    scene.deployment.set_flags(engine, [])
    await scene.deployment.services.restart(engine)


async def sent_twice(scene: Scene) -> None:
    """Every action is sent to two engines at the same moment; with the gateway also twice to the same one."""
    pair = scene.random.sample(scene.engines, 2)
    scene.load.send_twice([scene.deployment.endpoints(gateway=scene.gateway, engines=[engine]) for engine in pair])
    await scene.last(6)
    await scene.load.send_once()


# The other services


async def scoring_down(scene: Scene) -> None:
    """Scoring is down for a minute."""
    await scene.down("scoring", 55)


async def lobby_down(scene: Scene) -> None:
    """The lobby is down; games go on."""
    await scene.down("lobby", 8)


# The gateway


async def gateway_killed(scene: Scene) -> None:
    """The gateway is killed, and with it every connection of every player."""
    scene.deployment.kill(GATEWAY)


async def gateway_restarted(scene: Scene) -> None:
    """A deploy of the gateway: it drains its connections and is started again."""
    await scene.deployment.services.restart(GATEWAY)


# Clients


async def clients_dropped(scene: Scene) -> None:
    """The network resets the connections of some clients."""
    await scene.deployment.proxy.do("players:", "reset")


async def clients_half_open(scene: Scene) -> None:
    """The connections of some clients are dead, and neither they nor the engines are informed."""
    await scene.deployment.proxy.do("players:", "swallow")


async def slow_readers(scene: Scene) -> None:
    """Some clients get everything late and little at a time, and then nothing for a while."""
    await scene.deployment.proxy.do("players:", "delay", 0.4)
    await scene.last(6)
    await scene.deployment.proxy.do("players:", "hold")
    await scene.last(4)
    await scene.deployment.proxy.do("players:", "heal")


async def reconnect_storm(scene: Scene) -> None:
    """All clients lose their connections and come back at the same moment."""
    assert break_connections(scene.deployment.ports()) > len(scene.engines)
