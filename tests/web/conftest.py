"""All services behind one door with TLS, a page of another origin that may call there, and the client that it needs."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from croupier.cli.background import BackgroundServices, started_services
from tests.web.built_client import FOLDER, build


@dataclass(frozen=True, slots=True)
class House:
    """Services, and where their door and the page are; `certificate` is the door's, and `authority` vouches for it."""

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
        """Nobody reads it."""


@contextmanager
def served_page() -> Iterator[int]:
    """The page, as any web server serves it; gives the port."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Files, directory=str(FOLDER))) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(scope="session", autouse=True)
def built() -> None:
    """The client, for Node.js and browsers."""
    build()


@pytest.fixture(scope="session")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """What `croupier up --tls` runs, with a door that pages from http://127.0.0.1 may call, and no other page."""
    folder = tmp_path_factory.mktemp("house")
    keys = folder / "keys"
    with served_page() as page_port:
        flags = {"door": [f"--allowed-origins=http://127.0.0.1:{page_port}"]}
        with started_services(folder, door=["--tls"], extra_flags=flags) as services:
            port = int(services.addresses["door"]["listen"].rpartition(":")[2])
            yield House(services, port, page_port, keys / "door.certificate.pem", keys / "door.authority.pem")
