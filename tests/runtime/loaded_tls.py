"""Credentials of a service from files, at a fixed time."""

from datetime import datetime

from structlog.testing import CapturingLogger

from croupier.runtime.tls.tls import Tls, TlsFiles
from tests.certificates import NOW


def load(files: TlsFiles, now: datetime = NOW, logger: CapturingLogger | None = None) -> Tls:
    return Tls(files, lambda: int(now.timestamp() * 1000), logger or CapturingLogger())


def poll(tls: Tls) -> None:
    """Poll often enough to accept new files."""
    for _ in range(2):
        tls.poll()
