"""All services behind one door, everything encrypted, once for all tests of this folder."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from croupier.cli.background import BackgroundServices, started_services
from croupier_client import Endpoints, Tls
from tests.door.doors import Door

ORIGIN = "https://play.example"
REQUEST_SECONDS = 8
HEADER_SECONDS = 2
FLAGS = (
    f"--allowed-origins={ORIGIN}",
    f"--header-seconds={HEADER_SECONDS}",
    f"--request-seconds={REQUEST_SECONDS}",
    "--address-requests-per-second=0",
)


@dataclass(frozen=True, slots=True)
class House:
    """Services that run, and their door."""

    services: BackgroundServices
    door: Door

    @property
    def endpoints(self) -> Endpoints:
        """What the client needs to know."""
        assert self.door.authority is not None
        return Endpoints.single(f"localhost:{self.door.port}", Tls(self.door.authority.read_bytes()))


@pytest.fixture(scope="session")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """A house whose door is open."""
    path = tmp_path_factory.mktemp("house")
    with started_services(path, door=["--tls"], mutual_tls=True, extra_flags={"door": FLAGS}) as services:
        authority = services.folder.path / "keys" / "door.authority.pem"
        yield House(
            services, Door(services.addresses["door"]["listen"], authority, services.folder.signing_key("lobby"))
        )
