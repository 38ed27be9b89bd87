"""Faults of services and clients: each breaks something and repairs it; the run waits until all tables continue."""

import signal

from croupier.cli.launcher.replicas import GATEWAY
from loadtest.faults.load import FaultContext
from loadtest.network import break_connections

# Engines


async def engine_killed(context: FaultContext) -> None:
    """Kill one engine."""
    context.deployment.kill(context.random.choice(context.engines))


async def engines_killed_in_turn(context: FaultContext) -> None:
    """Kill the engines one after another, each while the one before it may still be starting."""
    engines = context.engines
    context.random.shuffle(engines)
    for engine in engines:
        context.deployment.kill(engine)
        await context.wait(2.5)


async def all_engines_killed(context: FaultContext) -> None:
    """Kill all engines at once."""
    context.deployment.kill(*context.engines)


async def engine_paused(context: FaultContext) -> None:
    """Pause one engine for some seconds."""
    await _one_paused(context, 6)


async def engine_hung(context: FaultContext) -> None:
    """Pause one engine until its players continue at another."""
    await _one_paused(context, 25)


async def _one_paused(context: FaultContext, seconds: float) -> None:
    engine = context.random.choice(context.engines)
    context.deployment.services.kill(engine, signal.SIGSTOP)
    try:
        await context.wait(seconds)
    finally:
        context.deployment.services.kill(engine, signal.SIGCONT)


async def rolling_restart(context: FaultContext) -> None:
    """Deploy the engines: drain and restart them one after another."""
    for engine in context.engines:
        await context.deployment.services.restart(engine)


async def rolling_restart_of_the_others(context: FaultContext) -> None:
    """Deploy lobby and scoring."""
    for instance in (*context.deployment.instances("lobby"), *context.deployment.instances("scoring")):
        await context.deployment.services.restart(instance)


async def clocks_apart(context: FaultContext) -> None:
    """Set the clock of one engine five seconds ahead of the others."""
    engine = context.engines[1]
    context.deployment.set_flags(engine, ["--clock-offset-milliseconds=5000"])
    await context.deployment.services.restart(engine)
    await context.wait(12)
    context.deployment.set_flags(engine, [])
    await context.deployment.services.restart(engine)


async def sent_twice(context: FaultContext) -> None:
    """Send every action to two engines at once; with the gateway possibly twice to the same one."""
    pair = context.random.sample(context.engines, 2)
    context.load.send_twice(
        [context.deployment.endpoints(gateway=context.gateway, engines=[engine]) for engine in pair]
    )
    await context.wait(6)
    context.load.send_once()


# The other services


async def scoring_down(context: FaultContext) -> None:
    """Keep scoring down for a minute."""
    await context.keep_down("scoring", 55)


async def lobby_down(context: FaultContext) -> None:
    """Keep the lobby down; games continue."""
    await context.keep_down("lobby", 8)


# The gateway


async def gateway_killed(context: FaultContext) -> None:
    """Kill the gateway, with every connection of every player."""
    context.deployment.kill(GATEWAY)


async def gateway_restarted(context: FaultContext) -> None:
    """Deploy the gateway: it drains its connections and is restarted."""
    await context.deployment.services.restart(GATEWAY)


# Clients


async def clients_dropped(context: FaultContext) -> None:
    """Reset the connections of some clients."""
    await context.deployment.proxy.execute("players:", "reset")


async def clients_half_open(context: FaultContext) -> None:
    """Make the connections of some clients half open: neither side is notified."""
    await context.deployment.proxy.execute("players:", "blackhole")


async def slow_readers(context: FaultContext) -> None:
    """Delay all messages to some clients, and then hold them for a while."""
    await context.deployment.proxy.execute("players:", "delay", 0.4)
    await context.wait(6)
    await context.deployment.proxy.execute("players:", "hold")
    await context.wait(4)
    await context.deployment.proxy.execute("players:", "heal")


async def reconnect_storm(context: FaultContext) -> None:
    """Break the connections of all clients, which reconnect at once."""
    assert break_connections(context.deployment.ports()) > len(context.engines)
