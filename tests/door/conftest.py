"""All services behind one door, everything encrypted, once for all tests of this folder."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from croupier.cli.background import BackgroundServices, started_services
from croupier_client import Endpoints, Tls
from tests.door.doors import Door, opened_door

ORIGIN = "https://play.example"
FLAGS = (
    f"--allowed-origins={ORIGIN}",
    "--header-seconds=2",
    "--request-seconds=8",
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


@contextmanager
def another_door(house: House, path: Path, *flags: str) -> Iterator[Door]:
    """Another door before the same services, with other limits."""
    addresses, folder = house.services.addresses, house.services.folder
    services = (f"--{name}={addresses[name]['listen']}" for name in ("lobby", "engine", "scoring"))
    parts = ("certificate", "key", "ca")
    upstream = (f"--upstream-{part}={file}" for part, file in zip(parts, folder.certificate_files("door"), strict=True))
    keys = folder.path / "keys"
    own = (f"--certificate={keys / 'door.certificate.pem'}", f"--key={keys / 'door.private.pem'}")
    pair = folder.signing_key("lobby"), folder.public_key("lobby")
    with opened_door(path, *services, *upstream, *own, *flags, authority=house.door.authority, keys=pair) as door:
        yield door
