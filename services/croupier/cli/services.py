"""The services of a command: those of a gateway, those that run in the data folder, or its own."""

import asyncio
import os
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import grpc

from croupier.cli.faults import CommandFault, misused
from croupier.cli.launcher.addresses import joined
from croupier.cli.launcher.data_folder import running_in
from croupier.cli.launcher.supervisor import Note, SupervisorSettings, running_services
from croupier.cli.printed_command import printed_command
from croupier.runtime.server.addresses import host_and_port, is_address, is_loopback
from croupier_client.aio import Client
from croupier_client.endpoints import Endpoints, Tls
from croupier_client.errors import AlreadyExists, CroupierError, Unavailable
from croupier_client.proxy import proxy_of

SIGN_IN_SECONDS = 5.0
PROBE_SECONDS = 2.0
KEEPALIVE_SECONDS = 0.7
"""A person sees within twice this time that the connection is lost."""


def endpoints_of(addresses: Mapping[str, Mapping[str, str]]) -> Endpoints:
    """Return the endpoints of services by their addresses, which are by instance and kind."""
    lobby, engine, scoring = (joined(addresses, service, "listen") for service in ("lobby", "engine", "scoring"))
    return Endpoints(lobby, engine, scoring, websocket=joined(addresses, "engine", "websocket"))


@asynccontextmanager
async def reachable_services(
    folder: Path, server: str | None, say: Note, tls: Tls | None = None, *, insecure: bool = False
) -> AsyncIterator[Endpoints]:
    """Yield the gateway if one is named, else the services that run in the data folder, else new ones for the body.

    Raises CommandFault if services cannot be started, and for running ones that refuse players.
    """
    if server is not None:
        yield gateway(server, tls, insecure=insecure)
        return
    if running := running_in(folder):
        if running.get("mutual_tls"):
            raise misused(f"the services in {folder} take no players themselves: name their gateway with --server")
        yield endpoints_of(running["services"])
        return
    say(f"starting services for this session ({printed_command('up')} keeps some running)")
    async with running_services(folder, settings=SupervisorSettings(note=say)) as services:
        yield endpoints_of(services.addresses)


@asynccontextmanager
async def signed_in_client(
    endpoints: Endpoints, device_secret: str, name: str, device_code: str = ""
) -> AsyncIterator[Client]:
    """Yield a client whose player has signed in, by the code of another device if there is one.

    Raises CommandFault if no gateway answers soon, or if the secret belongs to another player, or CroupierError.
    """
    try:
        async with Client(endpoints, device_secret, name, keepalive_seconds=KEEPALIVE_SECONDS) as client:
            await _sign_in(client, endpoints, device_code)
            yield client
    except CroupierError as error:
        if error.code is not grpc.StatusCode.UNIMPLEMENTED:
            raise
        raise CommandFault(f"{endpoints.lobby} is the address of one service: use that of the gateway") from None


async def _sign_in(client: Client, endpoints: Endpoints, device_code: str) -> None:
    try:
        async with asyncio.timeout(SIGN_IN_SECONDS):
            await client.sign_in(device_code=device_code)
    except AlreadyExists:
        raise misused("--device-code: this machine has a player already: add --player NAME with a new name") from None
    except (TimeoutError, Unavailable) as fault:
        # A reason is that of a service or gateway which answers.
        if isinstance(fault, Unavailable) and fault.reason_name:
            raise
        raise CommandFault(await _connection_fault(endpoints)) from None


def trust(tls: bool, authority: Path | None) -> Tls | None:
    """Return the TLS settings of --tls and --ca-file; raises CommandFault for a file that cannot be read."""
    if authority is None:
        return Tls() if tls else None
    try:
        return Tls(authority.read_bytes())
    except OSError as fault:
        raise misused(f"--ca-file {authority} cannot be read: {fault.strerror}") from None


def gateway(server: str, tls: Tls | None = None, *, insecure: bool = False) -> Endpoints:
    """Return the endpoints of a gateway; raises CommandFault unless its address is host:port.

    One of another machine needs TLS, unless the person accepts that it is `insecure`.
    """
    if "://" in server:
        raise misused(f"--server {server}: leave out {server.partition('://')[0]}://, and name the port")
    if not is_address(server):
        raise misused(f"--server {server}: expected HOST:PORT, IPv6 as [HOST]:PORT, with a port from 1 to 65535")
    if tls is None and not insecure and not is_loopback(server):
        raise misused(
            f"--server {server} is another machine, and without TLS others can read and change everything: "
            "add --tls or --ca-file, or --insecure to connect all the same"
        )
    return Endpoints.single(server, tls)


async def _connection_fault(endpoints: Endpoints) -> str:
    """Return the reason why no call succeeds at a gateway, as a probe by TLS finds it."""
    address = endpoints.lobby.partition(",")[0]
    if proxy := proxy_of(address, os.environ):
        return (
            f"no services answer at {address} by way of {proxy}, the proxy that the environment names: "
            "no_proxy lists addresses that are reached without it"
        )
    host, port = host_and_port(address)
    unverified = ssl.create_default_context()
    unverified.check_hostname, unverified.verify_mode = False, ssl.CERT_NONE
    try:
        async with asyncio.timeout(PROBE_SECONDS):
            _, writer = await asyncio.open_connection(host, port, ssl=unverified)
    except (ssl.SSLError, ConnectionResetError):
        if endpoints.tls is not None:
            return f"{address} has no TLS: leave --tls and --ca-file out"
        return f"no services of croupier answer at {address}"
    except (OSError, TimeoutError):
        return f"no services answer at {address}"
    writer.transport.abort()
    if endpoints.tls is None:
        return f"{address} needs TLS: add --tls, or --ca-file with the certificate of its authority"
    return f"no trusted service answers at {address}: is --ca-file the authority of its certificate?"
