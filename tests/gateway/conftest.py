"""All services behind one gateway with TLS everywhere, for all tests of this folder."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from croupier.cli.launcher.background import BackgroundServices, started_services
from croupier_client import Endpoints, Tls
from tests.gateway.harness import Gateway, opened_gateway

ORIGIN = "https://play.example"
FLAGS = (
    f"--allowed-origins={ORIGIN}",
    "--header-seconds=2",
    "--request-seconds=8",
    "--address-requests-per-second=0",
    "--network-requests-per-second=0",
)


@dataclass(frozen=True, slots=True)
class GatewayDeployment:
    """Running services and their gateway."""

    services: BackgroundServices
    gateway: Gateway

    @property
    def endpoints(self) -> Endpoints:
        """Return the endpoints that a client needs."""
        assert self.gateway.authority is not None
        return Endpoints.single(f"localhost:{self.gateway.port}", Tls(self.gateway.authority.read_bytes()))


@pytest.fixture(scope="session")
def deployment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GatewayDeployment]:
    """Start all services and a gateway with TLS."""
    path = tmp_path_factory.mktemp("deployment")
    with started_services(path, gateway=["--tls"], mutual_tls=True, extra_flags={"gateway": FLAGS}) as services:
        authority = services.folder.path / "keys" / "gateway.authority.pem"
        yield GatewayDeployment(
            services, Gateway(services.addresses["gateway"]["listen"], authority, services.folder.signing_key("lobby"))
        )


@contextmanager
def another_gateway(deployment: GatewayDeployment, path: Path, *flags: str) -> Iterator[Gateway]:
    """Run another gateway for the same services, with more flags."""
    addresses, folder = deployment.services.addresses, deployment.services.folder
    services = (f"--{name}={addresses[name]['listen']}" for name in ("lobby", "engine", "scoring"))
    parts = ("certificate", "key", "ca")
    upstream = (
        f"--upstream-{part}={file}" for part, file in zip(parts, folder.certificate_files("gateway"), strict=True)
    )
    keys = folder.path / "keys"
    own = (f"--certificate={keys / 'gateway.certificate.pem'}", f"--key={keys / 'gateway.private.pem'}")
    pair = folder.signing_key("lobby"), folder.public_key("lobby")
    with opened_gateway(
        path, *services, *upstream, *own, *flags, authority=deployment.gateway.authority, keys=pair
    ) as gateway:
        yield gateway
