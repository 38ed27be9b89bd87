"""Faults of the database and of the connections to it."""

import asyncio
from collections.abc import Callable
from typing import TypeAlias

from loadtest.faults.network import THERE
from loadtest.faults.scene import Scene
from loadtest.postgres import PostgresServer

Turn: TypeAlias = Callable[[PostgresServer], None]


async def postgres_paused(scene: Scene) -> None:
    """PostgreSQL answers nothing for ten seconds, and then goes on."""
    await _away(scene, PostgresServer.pause, 10, PostgresServer.resume)


async def postgres_killed(scene: Scene) -> None:
    """PostgreSQL is killed with all its processes, and started again."""
    await _away(scene, PostgresServer.kill, 2, PostgresServer.start)


async def postgres_restarted(scene: Scene) -> None:
    """PostgreSQL is stopped orderly, and started again."""
    await _away(scene, PostgresServer.stop, 1, PostgresServer.start)


async def _away(scene: Scene, leave: Turn, seconds: float, come_back: Turn) -> None:
    server = _postgres(scene)
    await asyncio.to_thread(leave, server)
    try:
        await scene.last(seconds)
    finally:
        await asyncio.to_thread(come_back, server)


def _postgres(scene: Scene) -> PostgresServer:
    assert scene.deployment.postgres is not None
    return scene.deployment.postgres


async def connections_terminated(scene: Scene) -> None:
    """The database ends all connections."""
    statement = (
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
        "WHERE datname = 'croupier' AND application_name = 'croupier'"
    )
    await asyncio.to_thread(_postgres(scene).run_sql, "postgres", statement)


async def connections_reset(scene: Scene) -> None:
    """The network resets all connections to the database."""
    await scene.deployment.proxy.do("database:", "reset")


async def database_slow(scene: Scene) -> None:
    """Everything to and from the database takes long."""
    await scene.deployment.proxy.do("database:", "delay", 0.15)
    await scene.last(10)
    await scene.deployment.proxy.do("database:", "heal")


async def database_cut_off(scene: Scene) -> None:
    """One engine does not reach the database for a while; then all that was under way arrives after all."""
    lane = f"database:{scene.random.choice(scene.engines)}"
    await scene.deployment.proxy.do(lane, "hold")
    await scene.last(8)
    await scene.deployment.proxy.do(lane, "heal")


async def database_half_open(scene: Scene) -> None:
    """One engine's connections to the database are dead, and the engine is not informed."""
    await scene.deployment.proxy.do(f"database:{scene.random.choice(scene.engines)}", "swallow")


async def network_cut(scene: Scene) -> None:
    """The network between one engine and the database is cut for ten seconds, and healed: real packets are lost."""
    network, lane = scene.deployment.network, f"database:{scene.random.choice(scene.engines)}"
    if network is None:
        return
    await _lead(scene, lane, THERE, network.port)
    await network.cut()
    await scene.last(10)
    await network.heal()
    await scene.last(3)
    await _lead(scene, lane, "127.0.0.1", _postgres(scene).port)


async def _lead(scene: Scene, lane: str, host: str, port: int) -> None:
    """Lead an engine to the database by another way."""
    await scene.deployment.proxy.do(lane, "aim", host, port)
    await scene.deployment.proxy.do(lane, "reset")
    await scene.last(3)


async def disk_full(scene: Scene) -> None:
    """The engine can write no file any more, for a while."""
    (engine,) = scene.engines
    scene.deployment.fill_disk(engine, is_full=True)
    try:
        await scene.last(6)
    finally:
        scene.deployment.fill_disk(engine, is_full=False)
