"""The services that are put under load: those that run somewhere, or processes of our own for the time of a run."""

import signal
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from croupier.cli.background import started_services
from croupier.cli.faults import CommandFault
from croupier.cli.reach import endpoints_of
from croupier.cli.replicas import Replicas
from croupier_client import Endpoints


class BackendMissing(Exception):
    """The services cannot be put under load; the text is one line for people."""


@dataclass(frozen=True, slots=True)
class Backend:
    """Services under load: where they are, and where their instances serve metrics, by name."""

    endpoints: Endpoints
    metrics: Mapping[str, str]
    description: str
    folder: Path | None = None
    """Where services of our own keep their data."""


@contextmanager
def own_backend(
    database: str = "", engines: int = 1, extra_flags: Mapping[str, Sequence[str]] | None = None
) -> Iterator[Backend]:
    """Services of our own for as long as the body takes; raises BackendMissing."""
    with tempfile.TemporaryDirectory(prefix="croupier-loadtest-") as folder:
        try:
            with ExitStack() as stack:
                with _interrupts_held_back():
                    services = stack.enter_context(
                        started_services(
                            Path(folder),
                            database=database or None,
                            replicas=Replicas(engine=engines),
                            extra_flags=extra_flags or {},
                        )
                    )
                metrics = {name: where["metrics"] for name, where in services.addresses.items()}
                kind = "PostgreSQL" if database else "SQLite"
                description = f"{engines} engine{'s' if engines > 1 else ''} on {kind}, on this machine"
                yield Backend(endpoints_of(services.addresses), metrics, description, Path(folder))
        except CommandFault as fault:
            raise BackendMissing(f"the services could not be started: {' '.join(fault.message.split())}") from None


@contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """What is started meanwhile never hears of Ctrl-C, so that games can end before their services do."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
