"""The services under test as real processes, with all ways to their players and to the database in our hands."""

import asyncio
import json
import os
import resource
import signal
import sys
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from croupier.cli.replicas import DOOR, Replicas, service_of
from croupier.cli.supervisor import Manner, Services, running_services
from croupier.runtime.schema_versions import migrate_database
from croupier_client import Endpoints
from loadtest.faults.child import HOLD_VARIABLE, WAYS_VARIABLE
from loadtest.faults.network import Network, NoNetwork, network_to
from loadtest.faults.proxy import Proxy
from loadtest.faults.reading import Databases
from loadtest.postgres import PostgresServer, postgres_server

COMMAND = (sys.executable, "-m", "loadtest.faults.child")
PACKAGES = ("croupier.scoring", "croupier.engine", "croupier.lobby")
DATABASE = "croupier"
DURABLE = {"recovery_init_sync_method": "syncfs"}
"""Commits wait for the disk, as they do where it matters; only the check of every file after a kill is cut short."""
DOOR_FLAGS = (
    # All players of a run come from one address.
    "--address-requests-per-second=0",
    "--drain-seconds=3",
)
READY_SECONDS = 60.0
POLL_SECONDS = 0.05


@dataclass(slots=True)
class House:
    """Services that run, and what can be done to them."""

    services: Services
    databases: Databases
    proxy: Proxy
    postgres: PostgresServer | None
    player_ports: Mapping[str, int]
    """Where each engine, and the door, is reached through the proxy."""
    hold: Path
    network: Network | None
    """The way through another namespace, where this machine allows it."""
    left_out: str
    """Why there is none, or nothing."""

    def instances(self, service: str) -> list[str]:
        """The instances of a service."""
        return [name for name in self.services.addresses if service_of(name) == service]

    def direct(self, engines: Sequence[str] = ()) -> Endpoints:
        """The services' own addresses, and these engines' or those of all."""
        return self._endpoints({name: where["listen"] for name, where in self.services.addresses.items()}, engines)

    def through_proxy(self) -> Endpoints:
        """The same, with every engine behind the proxy."""
        addresses = {name: where["listen"] for name, where in self.services.addresses.items()}
        return self._endpoints(addresses | {name: f"127.0.0.1:{port}" for name, port in self.player_ports.items()}, ())

    def at_door(self) -> Endpoints:
        """The front door."""
        return Endpoints.single(self.services.addresses[DOOR]["listen"])

    def at_door_through_proxy(self) -> Endpoints:
        """The same, behind the proxy."""
        return Endpoints.single(f"127.0.0.1:{self.player_ports[DOOR]}")

    def _endpoints(self, addresses: Mapping[str, str], engines: Sequence[str]) -> Endpoints:
        chosen = engines or self.instances("engine")
        return Endpoints(
            lobby=",".join(addresses[name] for name in self.instances("lobby")),
            engine=",".join(addresses[name] for name in chosen),
            scoring=",".join(addresses[name] for name in self.instances("scoring")),
        )

    def ports(self) -> set[int]:
        """Where engines, lobbies and the door are reached by players."""
        names = (*self.instances("engine"), *self.instances("lobby"), *self.instances(DOOR))
        listening = {int(self.services.addresses[name]["listen"].rpartition(":")[2]) for name in names}
        return listening | set(self.player_ports.values())

    def kill(self, *instances: str) -> None:
        """Kill instances without farewell; they are started again."""
        for instance in instances:
            self.services.kill(instance, signal.SIGKILL)

    def pause(self, instance: str) -> None:
        """Let an instance do nothing until resume()."""
        self.services.kill(instance, signal.SIGSTOP)

    def resume(self, instance: str) -> None:
        """Let it go on."""
        self.services.kill(instance, signal.SIGCONT)

    def set_flags(self, instance: str, flags: Sequence[str]) -> None:
        """What an instance is given when it is started next, beside its usual flags."""
        (self.hold / f"{instance}.flags").write_text(json.dumps(flags))

    def keep_down(self, *instances: str) -> None:
        """Kill instances, which are not started again until let_up()."""
        for instance in instances:
            (self.hold / instance).touch()
        self.kill(*instances)

    def let_up(self, *instances: str) -> None:
        """Let instances start again."""
        for instance in instances:
            (self.hold / instance).unlink(missing_ok=True)

    async def until_up(self, instances: Sequence[str], restarts_before: Mapping[str, int]) -> None:
        """Wait until each of these instances was started again and is ready; raises TimeoutError."""
        async with asyncio.timeout(READY_SECONDS):
            while any(self.services.restarts[name] <= restarts_before[name] for name in instances):  # noqa: ASYNC110
                await asyncio.sleep(POLL_SECONDS)

    def fill_disk(self, instance: str, is_full: bool) -> None:
        """Let a process write to no file any more, or again."""
        _, most = resource.prlimit(self.services.pids[instance], resource.RLIMIT_FSIZE)
        resource.prlimit(self.services.pids[instance], resource.RLIMIT_FSIZE, (1 if is_full else most, most))

    async def cut_database_connections(self) -> None:
        """End all of the services' connections from the database's side."""
        assert self.postgres is not None
        statement = (
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
            "WHERE datname = 'croupier' AND application_name = 'croupier'"
        )
        await asyncio.to_thread(self.postgres.run_sql, "postgres", statement)


@asynccontextmanager
async def laptop(folder: Path, *, with_door: bool) -> AsyncIterator[House]:
    """One instance of each service on SQLite, and a front door if so wished."""
    async with AsyncExitStack() as stack:
        yield await _opened(stack, folder, _manner(with_door), None)


@asynccontextmanager
async def cluster(folder: Path, replicas: Replicas, *, with_door: bool) -> AsyncIterator[House]:
    """Several instances of each service on one PostgreSQL, and a front door if so wished."""
    with postgres_server(DURABLE) as postgres:
        database = await asyncio.to_thread(postgres.create_database, DATABASE)
        await migrate_database(database, PACKAGES)
        async with AsyncExitStack() as stack:
            manner = replace(_manner(with_door), database=database, replicas=replicas)
            yield await _opened(stack, folder, manner, postgres)


def _manner(with_door: bool) -> Manner:
    return Manner(command=COMMAND, door=(lambda _: DOOR_FLAGS) if with_door else None)


async def _opened(stack: AsyncExitStack, folder: Path, manner: Manner, postgres: PostgresServer | None) -> House:
    proxy = await stack.enter_async_context(Proxy())
    hold = folder / "hold"
    hold.mkdir(parents=True)
    environment = {HOLD_VARIABLE: str(hold)}
    if postgres is not None:
        names = manner.replicas.all()
        ways = {name: await proxy.open(f"database:{name}", "127.0.0.1", postgres.port) for name in names}
        environment[WAYS_VARIABLE] = json.dumps(ways)
    stack.enter_context(_environment(environment))
    services = await stack.enter_async_context(running_services(folder / "data", manner=manner))
    player_ports = {}
    for name, addresses in services.addresses.items():
        if service_of(name) in ("engine", DOOR):
            port = int(addresses["listen"].rpartition(":")[2])
            player_ports[name] = await proxy.open(f"players:{name}", "127.0.0.1", port)
    if postgres is None:
        databases = Databases(*(str(services.folder.path / f"{service}.db") for service in ("engine", "scoring")))
    else:
        databases = Databases(postgres.url(DATABASE), postgres.url(DATABASE))
    network, left_out = None, ""
    if postgres is not None:
        try:
            network = await stack.enter_async_context(network_to(proxy, "127.0.0.1", postgres.port))
        except NoNetwork as fault:
            left_out = str(fault)
    return House(services, databases, proxy, postgres, player_ports, hold, network, left_out)


@contextmanager
def _environment(values: Mapping[str, str]) -> Iterator[None]:
    """Variables that child processes get, for as long as the body takes."""
    os.environ.update(values)
    try:
        yield
    finally:
        for name in values:
            del os.environ[name]
