"""The services of a command: those of a gateway, those that run in the data folder, or its own."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from croupier.cli.faults import CommandFault, misused
from croupier.cli.launcher.addresses import joined
from croupier.cli.launcher.data_folder import running_in
from croupier.cli.launcher.supervisor import Note, SupervisorSettings, running_services
from croupier.runtime.addresses import check_address
from croupier_client.aio import Client
from croupier_client.endpoints import Endpoints, Tls

SIGN_IN_SECONDS = 8.0


def endpoints_of(addresses: Mapping[str, Mapping[str, str]]) -> Endpoints:
    """Return the endpoints of services by their addresses, which are by instance and kind."""
    lobby, engine, scoring = (joined(addresses, service, "listen") for service in ("lobby", "engine", "scoring"))
    return Endpoints(lobby, engine, scoring)


def endpoints_running_in(folder: Path) -> Endpoints | None:
    """Return the services that run in a data folder, if any; raises CommandFault for those that refuse players."""
    running = running_in(folder)
    if running and running.get("mutual_tls"):
        raise misused(f"the services in {folder} take no players themselves: name their gateway with --server")
    return endpoints_of(running["services"]) if running else None


@asynccontextmanager
async def reachable_services(
    folder: Path, server: str | None, say: Note, tls: Tls | None = None
) -> AsyncIterator[Endpoints]:
    """Yield the gateway if one is named, else the services that run in the data folder, else new ones for the body.

    Raises CommandFault if services cannot be started.
    """
    if server is not None:
        yield gateway(server, tls)
        return
    running = endpoints_running_in(folder)
    if running is not None:
        yield running
        return
    say("starting services for this session (croupier up keeps some running)")
    async with running_services(folder, settings=SupervisorSettings(note=say)) as services:
        yield endpoints_of(services.addresses)


@asynccontextmanager
async def signed_in_client(endpoints: Endpoints, device_secret: str, name: str) -> AsyncIterator[Client]:
    """Yield a client whose player has signed in; raises CommandFault if no service answers soon, or CroupierError."""
    async with Client(endpoints, device_secret, name) as client:
        try:
            async with asyncio.timeout(SIGN_IN_SECONDS):
                await client.sign_in()
        except TimeoutError:
            raise CommandFault(f"no services answer at {endpoints.lobby}") from None
        yield client


def trust(tls: bool, authority: Path | None) -> Tls | None:
    """Return the TLS settings of --tls and --ca-file; raises CommandFault for a file that cannot be read."""
    if authority is None:
        return Tls() if tls else None
    try:
        return Tls(authority.read_bytes())
    except OSError as fault:
        raise misused(f"--ca-file {authority} cannot be read: {fault.strerror}") from None


def gateway(server: str, tls: Tls | None = None) -> Endpoints:
    """Return the endpoints of a gateway; raises CommandFault unless its address is host:port."""
    try:
        check_address(server)
    except ValueError:
        raise misused(f"--server {server} cannot be read: write HOST:PORT") from None
    return Endpoints.single(server, tls)
