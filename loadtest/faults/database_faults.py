"""Faults of the database and of the connections to it."""

import asyncio
from collections.abc import Callable
from typing import TypeAlias

from loadtest.faults.context import FaultContext
from loadtest.faults.network import REMOTE_ADDRESS
from loadtest.postgres import PostgresServer

ServerAction: TypeAlias = Callable[[PostgresServer], None]


async def postgres_paused(context: FaultContext) -> None:
    """PostgreSQL is paused for ten seconds."""
    await _interrupt_server(context, PostgresServer.pause, 10, PostgresServer.resume)


async def postgres_killed(context: FaultContext) -> None:
    """PostgreSQL is killed with all its processes, and restarted."""
    await _interrupt_server(context, PostgresServer.kill, 2, PostgresServer.start)


async def postgres_restarted(context: FaultContext) -> None:
    """PostgreSQL is shut down, and restarted."""
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
    """The database ends all connections."""
    statement = (
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
        "WHERE datname = 'croupier' AND application_name = 'croupier'"
    )
    await asyncio.to_thread(_postgres(context).run_sql, "postgres", statement)


async def connections_reset(context: FaultContext) -> None:
    """The network resets all connections to the database."""
    await context.deployment.proxy.do("database:", "reset")


async def database_slow(context: FaultContext) -> None:
    """All traffic to and from the database is slow."""
    await context.deployment.proxy.do("database:", "delay", 0.15)
    await context.wait(10)
    await context.deployment.proxy.do("database:", "heal")


async def database_cut_off(context: FaultContext) -> None:
    """One engine cannot reach the database for a while; then all held traffic arrives."""
    route = f"database:{context.random.choice(context.engines)}"
    await context.deployment.proxy.do(route, "hold")
    await context.wait(8)
    await context.deployment.proxy.do(route, "heal")


async def database_half_open(context: FaultContext) -> None:
    """One engine's connections to the database are dead, without a notification."""
    await context.deployment.proxy.do(f"database:{context.random.choice(context.engines)}", "blackhole")


async def network_cut(context: FaultContext) -> None:
    """The network between one engine and the database is cut for ten seconds: real packets are lost."""
    network, route = context.deployment.network, f"database:{context.random.choice(context.engines)}"
    if network is None:
        return
    await _retarget(context, route, REMOTE_ADDRESS, network.port)
    await network.cut()
    await context.wait(10)
    await network.heal()
    await context.wait(3)
    await _retarget(context, route, "127.0.0.1", _postgres(context).port)


async def _retarget(context: FaultContext, route: str, host: str, port: int) -> None:
    """Connect an engine to the database by another route."""
    await context.deployment.proxy.do(route, "retarget", host, port)
    await context.deployment.proxy.do(route, "reset")
    await context.wait(3)


async def disk_full(context: FaultContext) -> None:
    """The engine cannot write to any file for a while."""
    (engine,) = context.engines
    context.deployment.fill_disk(engine, is_full=True)
    try:
        await context.wait(6)
    finally:
        context.deployment.fill_disk(engine, is_full=False)
