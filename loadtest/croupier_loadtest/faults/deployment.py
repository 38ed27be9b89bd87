"""The services of a fault run as real processes, whose connections can be broken; and two network namespaces."""

import asyncio
import json
import os
import resource
import shutil
import signal
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from croupier.cli.launcher.replicas import GATEWAY, ONE_OF_EACH, Replicas, service_of
from croupier.cli.launcher.supervisor import Services, SupervisorSettings, running_services
from croupier.runtime.database.schema_versions import migrate_database
from croupier_client import Endpoints
from croupier_loadtest.faults.proxy import Proxy
from croupier_loadtest.faults.rows import Databases
from croupier_loadtest.postgres import PostgresServer, postgres_server

LOCAL_ADDRESS, REMOTE_ADDRESS, PREFIX_BITS = "10.213.77.1", "10.213.77.2", 30
CHILD = "croupier_loadtest.faults.child"
"""The module that runs a service."""
PACKAGES = ("croupier.scoring", "croupier.engine", "croupier.lobby")
DATABASE = "croupier"
DURABLE = {"recovery_init_sync_method": "syncfs"}
"""Commits wait for the disk, as in production; only the check of all files after a kill is faster."""
GATEWAY_FLAGS = (
    # All players of a run come from one address.
    "--address-requests-per-second=0",
    "--network-requests-per-second=0",
    "--drain-seconds=3",
)
LOBBY_FLAGS = ("--sign-ins-per-second=0", "--max-network-tables=10000")
PLAYER_PORTS = {"lobby": ("listen",), "engine": ("listen", "websocket"), GATEWAY: ("listen",)}
"""The kinds of ports for players by service."""
READY_SECONDS = 60.0
POLL_SECONDS = 0.05


class NetworkUnavailable(Exception):
    """This machine does not allow namespaces; the text is the reason."""


@dataclass(frozen=True, slots=True)
class NamespaceNetwork:
    """A route to a target through another namespace, by a link that can be cut: for root on Linux only."""

    link: str
    port: int
    """The port at REMOTE_ADDRESS that leads to the target."""

    async def cut(self) -> None:
        """Take the link down: packets are lost, and neither side is notified."""
        await _ip("link", "set", self.link, "down")

    async def heal(self) -> None:
        """Bring the link up again."""
        await _ip("link", "set", self.link, "up")


@asynccontextmanager
async def network_to(proxy: Proxy, host: str, port: int) -> AsyncIterator[NamespaceNetwork]:
    """Create a route through another namespace to a target of this one; raises NetworkUnavailable."""
    if os.geteuid() != 0 or shutil.which("ip") is None:
        raise NetworkUnavailable("namespaces need root and the program ip")
    space, link, peer = (f"{name}{os.getpid()}" for name in ("croupier-", "cf-a", "cf-b"))
    try:
        await _ip("netns", "add", space)
        await _ip("link", "add", link, "type", "veth", "peer", "name", peer, "netns", space)
        await _ip("address", "add", f"{LOCAL_ADDRESS}/{PREFIX_BITS}", "dev", link)
        await _ip("-n", space, "address", "add", f"{REMOTE_ADDRESS}/{PREFIX_BITS}", "dev", peer)
        await _ip("link", "set", link, "up")
        await _ip("-n", space, "link", "set", peer, "up")
        await _ip("-n", space, "link", "set", "lo", "up")
        async with Proxy(("ip", "netns", "exec", space)) as remote:
            back = await proxy.open("network", host, port, listen_host=LOCAL_ADDRESS)
            yield NamespaceNetwork(link, await remote.open("route", LOCAL_ADDRESS, back, listen_host=REMOTE_ADDRESS))
    finally:
        with suppress(NetworkUnavailable):
            await _ip("netns", "delete", space)


async def _ip(*arguments: str) -> None:
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec("ip", *arguments, stdout=pipe, stderr=pipe)
    _, error = await process.communicate()
    if process.returncode:
        raise NetworkUnavailable(f"ip {' '.join(arguments)}: {error.decode().strip()}")


@dataclass(slots=True)
class Deployment:
    """Running services, and the operations of faults on them."""

    services: Services
    databases: Databases
    proxy: Proxy
    postgres: PostgresServer | None
    proxied: Mapping[str, str]
    """The address at the proxy by each address of an engine or the gateway for players."""
    hold_folder: Path
    """The folder of files that delay the start of an instance, or add flags to it; see `faults.child`."""
    network: NamespaceNetwork | None
    """A route through another network namespace, where the machine allows one."""
    network_error: str
    """The reason why there is none; else empty."""
    _killed: dict[str, int] = field(default_factory=dict)
    """By killed instance, the number of its restarts before. That its process has ended is noticed a moment later."""

    def instances(self, service: str) -> list[str]:
        """Return the instances of a service."""
        return [name for name in self.services.addresses if service_of(name) == service]

    def endpoints(
        self, *, gateway: bool = False, through_proxy: bool = False, engines: Sequence[str] = ()
    ) -> Endpoints:
        """Return the endpoints of players: all engines or only these, or the gateway, through the proxy or not."""

        def reached(instances: Sequence[str], kind: str = "listen") -> str:
            addresses = (self.services.addresses[name][kind] for name in instances)
            return ",".join(self.proxied.get(each, each) if through_proxy else each for each in addresses)

        if gateway:
            return Endpoints.single(reached([GATEWAY]))
        engines = engines or self.instances("engine")
        return Endpoints(
            lobby=reached(self.instances("lobby")),
            engine=reached(engines),
            scoring=reached(self.instances("scoring")),
            websocket=reached(engines, "websocket"),
        )

    def ports(self) -> set[int]:
        """Return the ports of engines, lobbies and the gateway that players connect to."""
        names = (*self.instances("engine"), *self.instances("lobby"), *self.instances(GATEWAY))
        listening = {self.services.addresses[name][kind] for name in names for kind in PLAYER_PORTS[service_of(name)]}
        return {int(address.rpartition(":")[2]) for address in (*listening, *self.proxied.values())}

    async def wait_until_running(self) -> None:
        """Wait until every instance runs, those that were killed again; raises TimeoutError."""
        async with asyncio.timeout(READY_SECONDS):
            while not (  # noqa: ASYNC110
                self.services.are_running
                and all(self.services.restarts[name] > before for name, before in self._killed.items())
            ):
                await asyncio.sleep(POLL_SECONDS)

    def kill(self, *instances: str) -> None:
        """Kill instances; the supervisor restarts them."""
        for instance in instances:
            self._killed[instance] = self.services.restarts[instance]
            self.services.kill(instance, signal.SIGKILL)

    def set_flags(self, instance: str, flags: Sequence[str]) -> None:
        """Set additional flags for the next start of an instance."""
        (self.hold_folder / f"{instance}.flags").write_text(json.dumps(flags))

    async def keep_down(self, instances: Sequence[str], seconds: float) -> None:
        """Kill instances, restart them after some seconds, and wait until all run again; raises TimeoutError."""
        holds = [self.hold_folder / instance for instance in instances]
        for hold in holds:
            hold.touch()
        self.kill(*instances)
        await asyncio.sleep(seconds)
        for hold in holds:
            hold.unlink()
        await self.wait_until_running()

    def fill_disk(self, instance: str, is_full: bool) -> None:
        """Forbid a process to write to files, or allow it again."""
        _, maximum = resource.prlimit(self.services.pids[instance], resource.RLIMIT_FSIZE)
        resource.prlimit(self.services.pids[instance], resource.RLIMIT_FSIZE, (1 if is_full else maximum, maximum))


@asynccontextmanager
async def deployed(
    folder: Path, replicas: Replicas | None, *, with_gateway: bool, child: str = CHILD
) -> AsyncIterator[Deployment]:
    """Instances of each service on one PostgreSQL, or one of each on SQLite, with a gateway or without.

    `child` is the module that runs a service.
    """
    options = SupervisorSettings(
        command=(sys.executable, "-m", child),
        gateway=(lambda _: GATEWAY_FLAGS) if with_gateway else None,
        is_paced=False,
        extra_flags=dict.fromkeys((replicas or ONE_OF_EACH).of("lobby"), LOBBY_FLAGS),
    )
    postgres = None
    async with AsyncExitStack() as stack:
        if replicas is not None:
            postgres = stack.enter_context(postgres_server(DURABLE))
            database = await asyncio.to_thread(postgres.create_database, DATABASE)
            await migrate_database(database, PACKAGES)
            options = replace(options, database=database, replicas=replicas)
        yield await _start_deployment(stack, folder, options, postgres)


async def _start_deployment(
    stack: AsyncExitStack, folder: Path, options: SupervisorSettings, postgres: PostgresServer | None
) -> Deployment:
    proxy = await stack.enter_async_context(Proxy())
    hold_folder = folder / "hold"
    hold_folder.mkdir(parents=True)
    ports = {}
    if postgres is not None:
        for name in options.replicas.all():
            ports[name] = await proxy.open(f"database:{name}", "127.0.0.1", postgres.port)
    # As arguments, since a change of the environment crashes gRPC's threads that read it.
    options = replace(options, command=(*options.command, str(hold_folder), json.dumps(ports)))
    services = await stack.enter_async_context(running_services(folder / "data", settings=options))
    proxied = {}
    for name in (name for name in services.addresses if service_of(name) in ("engine", GATEWAY)):
        for kind in PLAYER_PORTS[service_of(name)]:
            address = services.addresses[name][kind]
            port = await proxy.open(f"players:{name}:{kind}", "127.0.0.1", int(address.rpartition(":")[2]))
            proxied[address] = f"127.0.0.1:{port}"
    network, network_error = None, ""
    if postgres is None:
        databases = Databases(*(services.folder.database_url(service) for service in ("engine", "scoring")))
    else:
        databases = Databases(postgres.url(DATABASE), postgres.url(DATABASE))
        try:
            network = await stack.enter_async_context(network_to(proxy, "127.0.0.1", postgres.port))
        except NetworkUnavailable as error:
            network_error = str(error)
    return Deployment(services, databases, proxy, postgres, proxied, hold_folder, network, network_error)
