"""Which services a command speaks with: those of a front door, those that run in the data folder, or its own."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from croupier.cli.addresses import joined
from croupier.cli.data_folder import running_in
from croupier.cli.faults import CommandFault, misused
from croupier.cli.supervisor import Manner, Note, running_services
from croupier.runtime.addresses import check_address
from croupier_client.aio import Client
from croupier_client.endpoints import Endpoints, Tls

SIGN_IN_SECONDS = 8.0


def endpoints_of(addresses: Mapping[str, Mapping[str, str]]) -> Endpoints:
    """Where a client finds services whose addresses are known by instance and kind."""
    lobby, engine, scoring = (joined(addresses, service, "listen") for service in ("lobby", "engine", "scoring"))
    return Endpoints(lobby, engine, scoring)


def endpoints_running_in(folder: Path) -> Endpoints | None:
    """The services that run in a data folder, None if none do; raises CommandFault for those that take no players."""
    running = running_in(folder)
    if running and running.get("mutual_tls"):
        raise misused(f"the services in {folder} take no players themselves: name their front door with --server")
    return endpoints_of(running["services"]) if running else None


@asynccontextmanager
async def reachable_services(
    folder: Path, server: str | None, say: Note, tls: Tls | None = None
) -> AsyncIterator[Endpoints]:
    """The front door if one is named, else what runs in the data folder, else services for as long as the body takes.

    Raises CommandFault if they cannot be started.
    """
    if server is not None:
        yield front_door(server, tls)
        return
    running = endpoints_running_in(folder)
    if running is not None:
        yield running
        return
    say("starting services for this session (croupier up keeps some running)")
    async with running_services(folder, manner=Manner(note=say)) as services:
        yield endpoints_of(services.addresses)


@asynccontextmanager
async def signed_in_client(endpoints: Endpoints, device_secret: str, name: str) -> AsyncIterator[Client]:
    """A client whose player has signed in; raises CommandFault if nobody answers soon, CroupierError if refused."""
    async with Client(endpoints, device_secret, name) as client:
        try:
            async with asyncio.timeout(SIGN_IN_SECONDS):
                await client.sign_in()
        except TimeoutError:
            raise CommandFault(f"no services answer at {endpoints.lobby}") from None
        yield client


def trust(tls: bool, authority: Path | None) -> Tls | None:
    """What the flags --tls and --ca-file say; raises CommandFault for a file that cannot be read."""
    if authority is None:
        return Tls() if tls else None
    try:
        return Tls(authority.read_bytes())
    except OSError as fault:
        raise misused(f"--ca-file {authority} cannot be read: {fault.strerror}") from None


def front_door(server: str, tls: Tls | None = None) -> Endpoints:
    """The one address of all services; raises CommandFault unless it is host:port."""
    try:
        check_address(server)
    except ValueError:
        raise misused(f"--server {server} cannot be read: write HOST:PORT") from None
    return Endpoints.single(server, tls)
