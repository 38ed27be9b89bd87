"""Faults of services and clients: each breaks something and repairs it; the run waits until all tables go on."""

import signal

from croupier.cli.launcher.replicas import GATEWAY as GATEWAY
from loadtest.faults.context import FaultContext
from loadtest.network import break_connections

# Engines


async def engine_killed(context: FaultContext) -> None:
    """One engine is killed."""
    context.deployment.kill(context.random.choice(context.engines))


async def engines_killed_in_turn(context: FaultContext) -> None:
    """Engines are killed one after another, each while the one before it may still be starting."""
    engines = context.engines
    context.random.shuffle(engines)
    for engine in engines:
        context.deployment.kill(engine)
        await context.wait(2.5)


async def all_engines_killed(context: FaultContext) -> None:
    """All engines are killed at once."""
    context.deployment.kill(*context.engines)


async def engine_paused(context: FaultContext) -> None:
    """One engine is paused for some seconds."""
    await _one_paused(context, 6)


async def engine_hung(context: FaultContext) -> None:
    """One engine is paused for so long that its players continue at another."""
    await _one_paused(context, 25)


async def _one_paused(context: FaultContext, seconds: float) -> None:
    engine = context.random.choice(context.engines)
    context.deployment.services.kill(engine, signal.SIGSTOP)
    try:
        await context.wait(seconds)
    finally:
        context.deployment.services.kill(engine, signal.SIGCONT)


async def rolling_restart(context: FaultContext) -> None:
    """A deploy: the engines are drained and restarted, one after another."""
    for engine in context.engines:
        await context.deployment.services.restart(engine)


async def rolling_restart_of_the_others(context: FaultContext) -> None:
    """A deploy of lobby and scoring."""
    for instance in (*context.deployment.instances("lobby"), *context.deployment.instances("scoring")):
        await context.deployment.services.restart(instance)


async def clocks_apart(context: FaultContext) -> None:
    """The clocks of two engines are five seconds apart."""
    engine = context.engines[1]
    context.deployment.set_flags(engine, ["--clock-offset-milliseconds=5000"])
    await context.deployment.services.restart(engine)
    await context.wait(12)
    context.deployment.set_flags(engine, [])
    await context.deployment.services.restart(engine)


async def sent_twice(context: FaultContext) -> None:
    """Every action is sent to two engines at once; with the gateway possibly twice to the same one."""
    pair = context.random.sample(context.engines, 2)
    context.load.send_twice(
        [context.deployment.endpoints(gateway=context.gateway, engines=[engine]) for engine in pair]
    )
    await context.wait(6)
    await context.load.send_once()


# The other services


async def scoring_down(context: FaultContext) -> None:
    """Scoring is down for a minute."""
    await context.keep_down("scoring", 55)


async def lobby_down(context: FaultContext) -> None:
    """The lobby is down; games continue."""
    await context.keep_down("lobby", 8)


# The gateway


async def gateway_killed(context: FaultContext) -> None:
    """The gateway is killed, with every connection of every player."""
    context.deployment.kill(GATEWAY)


async def gateway_restarted(context: FaultContext) -> None:
    """A deploy of the gateway: it drains its connections and is restarted."""
    await context.deployment.services.restart(GATEWAY)


# Clients


async def clients_dropped(context: FaultContext) -> None:
    """The network resets the connections of some clients."""
    await context.deployment.proxy.do("players:", "reset")


async def clients_half_open(context: FaultContext) -> None:
    """The connections of some clients are dead, without a notification of either side."""
    await context.deployment.proxy.do("players:", "blackhole")


async def slow_readers(context: FaultContext) -> None:
    """Some clients receive everything late, and then nothing for a while."""
    await context.deployment.proxy.do("players:", "delay", 0.4)
    await context.wait(6)
    await context.deployment.proxy.do("players:", "hold")
    await context.wait(4)
    await context.deployment.proxy.do("players:", "heal")


async def reconnect_storm(context: FaultContext) -> None:
    """All clients lose their connections and reconnect at once."""
    assert break_connections(context.deployment.ports()) > len(context.engines)
