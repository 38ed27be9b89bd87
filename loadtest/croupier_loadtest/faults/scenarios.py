"""All faults, and how often each is injected in a full run.

Each breaks something and repairs it; the run waits until all tables continue.
"""

import asyncio
import signal
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from random import Random
from typing import NamedTuple, TypeAlias

from croupier.cli.launcher import replicas
from croupier_loadtest.faults.deployment import REMOTE_ADDRESS, Deployment
from croupier_loadtest.faults.load import FaultLoad
from croupier_loadtest.network import break_connections
from croupier_loadtest.postgres import PostgresServer


@dataclass(frozen=True, slots=True)
class FaultContext:
    """The context of a fault; `scale` shortens durations, with `gateway` all players connect to the gateway."""

    deployment: Deployment
    load: FaultLoad
    random: Random
    scale: float
    gateway: bool

    async def wait(self, seconds: float) -> None:
        """Wait while a fault lasts; `seconds` are those of a full run."""
        await asyncio.sleep(seconds * self.scale)

    @property
    def engines(self) -> list[str]:
        """The names of the engines."""
        return self.deployment.instances("engine")

    @property
    def postgres(self) -> PostgresServer:
        """The server of a deployment on PostgreSQL."""
        assert self.deployment.postgres is not None
        return self.deployment.postgres


Inject: TypeAlias = Callable[[FaultContext], Awaitable[None]]


class FaultScenario(NamedTuple):
    """A fault by its name on the command line, how often it is injected in a full run, and how it is judged."""

    name: str
    times: int
    inject: Inject
    is_takeover: bool = False
    """Whether takeovers are measured: the time until the tables of a killed engine have another entry."""
    is_quiet: bool = False
    """Whether no client may raise an error; a reaction may be lost with its connection."""
    impairs: bool = False
    """Whether players behind the proxy are kept from acting in time."""
    interrupts: bool = False
    """Whether no player can act until it is over, and tables have their time to recover."""


# Services


async def _kill_engine(context: FaultContext) -> None:
    context.deployment.kill(context.random.choice(context.engines))


async def _kill_engines_in_turn(context: FaultContext) -> None:
    """Kill the engines one after another, each while the one before it may still be starting."""
    engines = context.engines
    context.random.shuffle(engines)
    for engine in engines:
        context.deployment.kill(engine)
        await context.wait(2.5)


async def _kill_all_engines(context: FaultContext) -> None:
    context.deployment.kill(*context.engines)


async def _kill_gateway(context: FaultContext) -> None:
    """Kill the gateway, with every connection of every player."""
    context.deployment.kill(replicas.GATEWAY)


def _pause_engine(seconds: float) -> Inject:
    async def inject(context: FaultContext) -> None:
        engine = context.random.choice(context.engines)
        context.deployment.services.kill(engine, signal.SIGSTOP)
        try:
            await context.wait(seconds)
        finally:
            context.deployment.services.kill(engine, signal.SIGCONT)

    return inject


def _restart(*services: str) -> Inject:
    """Deploy services: drain and restart their instances one after another."""

    async def inject(context: FaultContext) -> None:
        for instance in (one for service in services for one in context.deployment.instances(service)):
            await context.deployment.services.restart(instance)

    return inject


def _keep_down(service: str, seconds: float) -> Inject:
    """Kill all instances of a service and keep them down for a time."""

    async def inject(context: FaultContext) -> None:
        await context.deployment.keep_down(context.deployment.instances(service), seconds * context.scale)

    return inject


async def _set_clocks_apart(context: FaultContext) -> None:
    """Set the clock of one engine five seconds ahead of the others."""
    engine = context.engines[1]
    context.deployment.set_flags(engine, ["--clock-offset-milliseconds=5000"])
    await context.deployment.services.restart(engine)
    await context.wait(12)
    context.deployment.set_flags(engine, [])
    await context.deployment.services.restart(engine)


async def _send_twice(context: FaultContext) -> None:
    """Send every action to two engines at once; with the gateway possibly twice to the same one."""
    pair = context.random.sample(context.engines, 2)
    context.load.send_twice(
        [context.deployment.endpoints(gateway=context.gateway, engines=[engine]) for engine in pair]
    )
    await context.wait(6)
    context.load.send_once()


async def _fill_disk(context: FaultContext) -> None:
    """Forbid the engine to write to any file for a while."""
    (engine,) = context.engines
    context.deployment.fill_disk(engine, is_full=True)
    try:
        await context.wait(6)
    finally:
        context.deployment.fill_disk(engine, is_full=False)


# Connections


DATABASE, DATABASE_OF_ONE_ENGINE, PLAYERS = "database:", "database:ENGINE", "players:"
"""Routes of the proxy: prefixes, and one in which a random engine has its name."""


def _disturb(routes: str, operation: str, *arguments: object, seconds: float = 0) -> Inject:
    """Call an operation of the proxy for some routes, and heal them after a time; what was broken stays broken."""

    async def inject(context: FaultContext) -> None:
        proxy, named = context.deployment.proxy, routes.replace("ENGINE", context.random.choice(context.engines))
        await proxy.execute(named, operation, *arguments)
        await context.wait(seconds)
        await proxy.execute(named, "heal")

    return inject


async def _slow_readers(context: FaultContext) -> None:
    """Delay all messages to some clients, and then hold them for a while."""
    await context.deployment.proxy.execute(PLAYERS, "set", "delay_seconds", 0.4)
    await context.wait(6)
    await _disturb(PLAYERS, "hold", seconds=4)(context)


async def _reconnect_storm(context: FaultContext) -> None:
    """Break the connections of all clients, which reconnect at once."""
    assert break_connections(context.deployment.ports()) > len(context.engines)


# The database


def _interrupt_postgres(
    begin: Callable[[PostgresServer], None], seconds: float, end: Callable[[PostgresServer], None]
) -> Inject:
    async def inject(context: FaultContext) -> None:
        await asyncio.to_thread(begin, context.postgres)
        try:
            await context.wait(seconds)
        finally:
            await asyncio.to_thread(end, context.postgres)

    return inject


async def _terminate_connections(context: FaultContext) -> None:
    """Let the database end all connections."""
    statement = (
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
        "WHERE datname = 'croupier' AND application_name LIKE 'croupier%'"
    )
    await asyncio.to_thread(context.postgres.run_sql, "postgres", statement)


async def _cut_network(context: FaultContext) -> None:
    """Cut the network between one engine and the database for ten seconds: real packets are lost."""
    network, route = context.deployment.network, f"{DATABASE}{context.random.choice(context.engines)}"
    assert network is not None
    await _retarget(context, route, REMOTE_ADDRESS, network.port)
    await network.cut()
    await context.wait(10)
    await network.heal()
    await context.wait(3)
    await _retarget(context, route, "127.0.0.1", context.postgres.port)


async def _retarget(context: FaultContext, route: str, host: str, port: int) -> None:
    """Connect an engine to the database by another route."""
    await context.deployment.proxy.execute(route, "set", "target", (host, port))
    await context.deployment.proxy.execute(route, "reset")
    await context.wait(3)


def _by_name(*scenarios: FaultScenario) -> Mapping[str, FaultScenario]:
    return {scenario.name: scenario for scenario in scenarios}


SCORING_DOWN = FaultScenario("scoring_down", 1, _keep_down("scoring", 55))
LOBBY_DOWN = FaultScenario("lobby_down", 1, _keep_down("lobby", 8))
CLIENTS_DROPPED = FaultScenario("clients_dropped", 2, _disturb(PLAYERS, "reset"), impairs=True)
STORM = FaultScenario("reconnect_storm", 2, _reconnect_storm)
SQLITE = _by_name(
    FaultScenario("engine_killed", 2, _kill_engine, interrupts=True),
    FaultScenario("engine_paused", 1, _pause_engine(6), interrupts=True),
    FaultScenario("disk_full", 2, _fill_disk, interrupts=True),
    SCORING_DOWN,
    LOBBY_DOWN,
    CLIENTS_DROPPED._replace(times=1),
    STORM._replace(times=1),
)
POSTGRES = _by_name(
    FaultScenario("engine_killed", 10, _kill_engine, is_takeover=True),
    FaultScenario("engines_killed_in_turn", 3, _kill_engines_in_turn, interrupts=True),
    FaultScenario("all_engines_killed", 3, _kill_all_engines, interrupts=True),
    FaultScenario("engine_paused", 2, _pause_engine(6)),
    # Until its players continue at another.
    FaultScenario("engine_hung", 1, _pause_engine(25)),
    FaultScenario("rolling_restart", 3, _restart("engine"), is_quiet=True),
    FaultScenario("rolling_restart_of_the_others", 1, _restart("lobby", "scoring")),
    FaultScenario("clocks_apart", 1, _set_clocks_apart),
    FaultScenario("sent_twice", 3, _send_twice),
    FaultScenario(
        "postgres_paused", 2, _interrupt_postgres(PostgresServer.pause, 10, PostgresServer.resume), interrupts=True
    ),
    FaultScenario(
        "postgres_killed", 3, _interrupt_postgres(PostgresServer.kill, 2, PostgresServer.start), interrupts=True
    ),
    FaultScenario(
        "postgres_restarted", 2, _interrupt_postgres(PostgresServer.stop, 1, PostgresServer.start), interrupts=True
    ),
    FaultScenario("connections_terminated", 2, _terminate_connections),
    FaultScenario("connections_reset", 2, _disturb(DATABASE, "reset")),
    FaultScenario("database_slow", 1, _disturb(DATABASE, "set", "delay_seconds", 0.15, seconds=10)),
    FaultScenario("database_cut_off", 2, _disturb(DATABASE_OF_ONE_ENGINE, "hold", seconds=8)),
    FaultScenario("database_half_open", 2, _disturb(DATABASE_OF_ONE_ENGINE, "blackhole")),
    FaultScenario("network_cut", 2, _cut_network),
    # Each engine finds the entries of the others by its sweep.
    FaultScenario("notifications_lost", 2, _disturb(DATABASE, "set", "loses_notifications", True, seconds=10)),
    FaultScenario("notifications_late", 1, _disturb(DATABASE, "set", "notification_delay_seconds", 0.6, seconds=10)),
    SCORING_DOWN,
    LOBBY_DOWN,
    CLIENTS_DROPPED,
    FaultScenario("clients_half_open", 1, _disturb(PLAYERS, "blackhole"), impairs=True),
    FaultScenario("slow_readers", 1, _slow_readers, impairs=True),
    STORM,
)
GATEWAY = _by_name(
    FaultScenario("gateway_killed", 2, _kill_gateway, interrupts=True),
    FaultScenario("gateway_restarted", 2, _restart(replicas.GATEWAY), interrupts=True),
)
"""Additional faults of runs whose players connect to the gateway."""
SHORT_SQLITE = ("engine_killed", "disk_full")
SHORT_POSTGRES = (
    "engine_killed",
    "postgres_killed",
    "rolling_restart",
    "sent_twice",
    "notifications_lost",
    "reconnect_storm",
)
SHORT_GATEWAY = ("engine_killed", "rolling_restart", "gateway_restarted")
