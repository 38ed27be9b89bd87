"""Faults of the database and of the connections to it."""

import asyncio
from collections.abc import Callable
from typing import TypeAlias

from loadtest.faults.deployment import REMOTE_ADDRESS
from loadtest.faults.load import FaultContext
from loadtest.postgres import PostgresServer

ServerAction: TypeAlias = Callable[[PostgresServer], None]


async def postgres_paused(context: FaultContext) -> None:
    """Pause PostgreSQL for ten seconds."""
    await _interrupt_server(context, PostgresServer.pause, 10, PostgresServer.resume)


async def postgres_killed(context: FaultContext) -> None:
    """Kill PostgreSQL with all its processes, and restart it."""
    await _interrupt_server(context, PostgresServer.kill, 2, PostgresServer.start)


async def postgres_restarted(context: FaultContext) -> None:
    """Shut PostgreSQL down, and restart it."""
    await _interrupt_server(context, PostgresServer.stop, 1, PostgresServer.start)


async def _interrupt_server(context: FaultContext, begin: ServerAction, seconds: float, end: ServerAction) -> None:
    server = _postgres(context)
    await asyncio.to_thread(begin, server)
    try:
        await context.wait(seconds)
    finally:
        await asyncio.to_thread(end, server)


def _postgres(context: FaultContext) -> PostgresServer:
    assert context.deployment.postgres is not None
    return context.deployment.postgres


async def connections_terminated(context: FaultContext) -> None:
    """Let the database end all connections."""
    statement = (
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
        "WHERE datname = 'croupier' AND application_name LIKE 'croupier%'"
    )
    await asyncio.to_thread(_postgres(context).run_sql, "postgres", statement)


async def connections_reset(context: FaultContext) -> None:
    """Reset all connections to the database."""
    await context.deployment.proxy.execute("database:", "reset")


async def database_slow(context: FaultContext) -> None:
    """Delay all traffic to and from the database."""
    await _disturb(context, "database:", 10, "delay", 0.15)


async def database_cut_off(context: FaultContext) -> None:
    """Hold all traffic between one engine and the database for a while, and then deliver it."""
    await _disturb(context, f"database:{context.random.choice(context.engines)}", 8, "hold")


async def database_half_open(context: FaultContext) -> None:
    """Make one engine's connections to the database half open: neither side is notified."""
    await context.deployment.proxy.execute(f"database:{context.random.choice(context.engines)}", "blackhole")


async def notifications_lost(context: FaultContext) -> None:
    """Lose all notifications between engines: each finds the entries of the others by its sweep."""
    await _disturb(context, "database:", 10, "lose_notifications")


async def notifications_late(context: FaultContext) -> None:
    """Delay all notifications between engines."""
    await _disturb(context, "database:", 10, "delay_notifications", 0.6)


async def _disturb(context: FaultContext, routes: str, seconds: float, operation: str, *arguments: float) -> None:
    await context.deployment.proxy.execute(routes, operation, *arguments)
    await context.wait(seconds)
    await context.deployment.proxy.execute(routes, "heal")


async def network_cut(context: FaultContext) -> None:
    """Cut the network between one engine and the database for ten seconds: real packets are lost."""
    network, route = context.deployment.network, f"database:{context.random.choice(context.engines)}"
    assert network is not None
    await _retarget(context, route, REMOTE_ADDRESS, network.port)
    await network.cut()
    await context.wait(10)
    await network.heal()
    await context.wait(3)
    await _retarget(context, route, "127.0.0.1", _postgres(context).port)


async def _retarget(context: FaultContext, route: str, host: str, port: int) -> None:
    """Connect an engine to the database by another route."""
    await context.deployment.proxy.execute(route, "retarget", host, port)
    await context.deployment.proxy.execute(route, "reset")
    await context.wait(3)


async def disk_full(context: FaultContext) -> None:
    """Forbid the engine to write to any file for a while."""
    (engine,) = context.engines
    context.deployment.fill_disk(engine, is_full=True)
    try:
        await context.wait(6)
    finally:
        context.deployment.fill_disk(engine, is_full=False)
