"""The services that are put under load: those that run somewhere, or three processes of our own."""

import signal
import socket
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from croupier.cli.background import started_services
from croupier.cli.faults import CommandFault
from croupier.cli.reach import endpoints_of
from croupier_client import Endpoints

REACH_SECONDS = 5.0
BY_NAME = "dns:///"


class BackendMissing(Exception):
    """A service cannot be reached; the text is one line for people."""


@contextmanager
def backend(endpoints: Endpoints | None) -> Iterator[Endpoints]:
    """The services at these addresses, or new ones in a folder that goes away; raises BackendMissing."""
    if endpoints is not None:
        check_reachable(endpoints)
        yield endpoints
        return
    with tempfile.TemporaryDirectory(prefix="croupier-loadtest-") as folder:
        try:
            with ExitStack() as stack:
                with _interrupts_held_back():
                    services = stack.enter_context(started_services(Path(folder)))
                yield endpoints_of(services.addresses)
        except CommandFault as fault:
            raise BackendMissing(f"the services could not be started: {fault.message}") from None


@contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """What is started meanwhile never hears of Ctrl-C, so that games can end before their services do."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def check_reachable(endpoints: Endpoints) -> None:
    """Raises BackendMissing naming the first address where nobody listens."""
    for service, addresses in endpoints.by_service().items():
        for address in addresses.removeprefix(BY_NAME).split(","):
            _check_address(service.value.lower(), address)


def _check_address(service: str, address: str) -> None:
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal():
        raise BackendMissing(f"{address} is not an address: write HOST:PORT, several with commas between")
    try:
        socket.create_connection((host.strip("[]"), int(port)), REACH_SECONDS).close()
    except OSError as fault:
        raise BackendMissing(f"no {service} service answers at {address}: {fault.strerror or fault}") from None
