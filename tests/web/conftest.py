"""All services behind one gateway with TLS, the built TypeScript client, and a page of an allowed origin."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from clients.typescript.build import TABLE, build
from croupier.cli.launcher.background import BackgroundServices, started_services


@dataclass(frozen=True, slots=True)
class WebDeployment:
    """Running services, the ports of gateway and page, and the gateway's certificate with its authority."""

    services: BackgroundServices
    port: int
    page_port: int
    certificate: Path
    authority: Path

    @property
    def address(self) -> str:
        return f"https://localhost:{self.port}"


class _Files(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 - the name is the library's
        """Log nothing."""


@contextmanager
def served_page() -> Iterator[int]:
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Files, directory=str(TABLE / "dist"))) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(scope="session", autouse=True)
def built() -> None:
    build()


@pytest.fixture(scope="session")
def deployment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebDeployment]:
    """Start the services of `croupier up --tls`, with a gateway that allows pages from http://127.0.0.1 only."""
    folder = tmp_path_factory.mktemp("deployment")
    keys = folder / "keys"
    with served_page() as page_port:
        flags = {"gateway": [f"--allowed-origins=http://127.0.0.1:{page_port}"]}
        with started_services(folder, gateway=["--tls"], extra_flags=flags) as services:
            port = int(services.addresses["gateway"]["listen"].rpartition(":")[2])
            yield WebDeployment(
                services, port, page_port, keys / "gateway.certificate.pem", keys / "gateway.authority.pem"
            )
