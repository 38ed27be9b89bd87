"""The services under load: those at given addresses, or child processes of the run."""

import signal
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from croupier.cli.faults import CommandFault
from croupier.cli.launcher.background import started_services
from croupier.cli.launcher.gateway import MISSING, is_installed
from croupier.cli.launcher.replicas import GATEWAY, Replicas
from croupier.cli.services import endpoints_of
from croupier_client import Endpoints

TRUSTING = "--trusted-proxies=1"


class BackendUnavailable(Exception):
    """The services cannot be put under load; the text is one line for people."""


@dataclass(frozen=True, slots=True)
class Backend:
    """Services under load: their endpoints, and the metrics address of each instance by name."""

    endpoints: Endpoints
    metrics: Mapping[str, str]
    description: str
    folder: Path | None = None
    """The data folder of services that the run has started."""


@contextmanager
def started_backend(
    database: str = "",
    engines: int = 1,
    extra_flags: Mapping[str, Sequence[str]] | None = None,
    *,
    has_gateway: bool = False,
) -> Iterator[Backend]:
    """Start services, with extra flags by instance, and stop them after the body; raises BackendUnavailable.

    `database` is the URL of a PostgreSQL database; if it is empty each service has SQLite. Without a gateway tables are
    played at any speed. Behind a gateway all limits of tables hold; it trusts the addresses of players that
    x-forwarded-for names.
    """
    if has_gateway and not is_installed():
        raise BackendUnavailable(MISSING)
    with tempfile.TemporaryDirectory(prefix="croupier-loadtest-") as folder:
        try:
            with ExitStack() as stack:
                with _interrupts_blocked():
                    services = stack.enter_context(
                        started_services(
                            Path(folder),
                            database=database or None,
                            replicas=Replicas(engine=engines),
                            extra_flags={**(extra_flags or {}), GATEWAY: (TRUSTING,)},
                            gateway=() if has_gateway else None,
                            is_paced=has_gateway,
                        )
                    )
                metrics = {name: addresses["metrics"] for name, addresses in services.addresses.items()}
                kind = "PostgreSQL" if database else "SQLite"
                description = f"{engines} engine{'s' if engines > 1 else ''} on {kind}, on this machine"
                endpoints = (
                    Endpoints.single(services.addresses[GATEWAY]["listen"])
                    if has_gateway
                    else endpoints_of(services.addresses)
                )
                yield Backend(endpoints, metrics, description, Path(folder))
        except CommandFault as fault:
            raise BackendUnavailable(f"the services could not be started: {' '.join(str(fault).split())}") from None


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Block SIGINT: processes started in the body inherit that, and so serve after a Ctrl-C until games have ended."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
