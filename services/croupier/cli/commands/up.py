"""`croupier up`: the three services of one machine and their gateway, until a signal stops them."""

import asyncio
import signal
from dataclasses import replace
from pathlib import Path

from croupier.cli.launcher.gateway import MISSING, GatewayChoice, is_installed
from croupier.cli.launcher.replicas import GATEWAY
from croupier.cli.launcher.supervisor import Note, Services, SupervisorSettings, running_services
from croupier.runtime.server.addresses import host_and_port, with_port


async def up(folder: Path, port: int, settings: SupervisorSettings, gateway: GatewayChoice | None) -> None:
    """Run the services until SIGINT, SIGTERM or SIGHUP, then drain them in order; a second signal kills them.

    Without the gateway's extra they run without it. Raises CommandFault if they cannot be started or one keeps dying.
    """
    if gateway is not None and not is_installed():
        settings.note(MISSING)
        gateway = None
    if gateway is not None:
        settings = replace(settings, gateway=gateway.flags, gateway_host=gateway.listen)
    stopping = _cancelled_by_signals(settings.note)
    try:
        async with running_services(folder, port=port, settings=settings) as services:
            _introduce(services, settings, gateway)
            await asyncio.Event().wait()
    except asyncio.CancelledError:
        if not stopping.is_set():
            raise
        settings.note("stopped; everything is kept")


def _cancelled_by_signals(say: Note) -> asyncio.Event:
    """Cancel the calling task with every signal to stop; the event is set after the first one."""
    task = asyncio.current_task()
    assert task is not None  # noqa: S101 - coroutines run in tasks
    stopping = asyncio.Event()

    def stop() -> None:
        say("killing the services" if stopping.is_set() else "stopping: calls in progress are finished first")
        stopping.set()
        task.cancel()

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, stop)
    return stopping


def _introduce(services: Services, settings: SupervisorSettings, gateway: GatewayChoice | None) -> None:
    say, folder = settings.note, services.folder.path
    where = f"with its data in {folder}" if settings.database is None else f"with its keys and logs in {folder}"
    say(f"croupier is up, {where}")
    for instance, addresses in reversed(services.addresses.items()):
        say(f"  {instance:10} {addresses['listen']:22} metrics http://{addresses['metrics']}/metrics")
    if gateway is not None:
        _introduce_gateway(services, say, gateway)
    say("Ctrl-C stops it; games go on when it is started again")


def _introduce_gateway(services: Services, say: Note, gateway: GatewayChoice) -> None:
    addresses, authority = services.addresses[GATEWAY], gateway.authority(services.folder)
    listen = addresses["listen"]
    _, port = host_and_port(listen)
    if authority is not None:
        say(f"the gateway uses TLS: clients trust it by {authority}")
    reachable = [with_port(host, port) for host in gateway.reachable]
    if "web_table" in addresses:
        say(f"play in a browser at {', '.join(f'{gateway.scheme}://{each}/' for each in reachable or [listen])}")
    say(f"players connect to {', '.join(reachable) or listen}, by gRPC, gRPC-Web, JSON or WebSocket")
    if not reachable:
        return
    say("warning: everyone in the networks of these addresses can connect; guests sign in and play within the limits")
    trusted = "--tls" if authority is None else f"--ca-file {authority.name}"
    copied = "" if authority is None else f", with a copy of {authority.name}"
    say(f"on another machine{copied}: croupier play --server {reachable[0]} {trusted}")
