"""All services behind one gateway with TLS everywhere, for all tests of this folder."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import grpc
import pytest

from croupier.cli.launcher.background import BackgroundServices, started_services
from croupier_client import Endpoints, Tls
from tests.gateway.harness import Gateway

ORIGIN = "https://play.example"
REQUEST_SECONDS = 8
FLAGS = (
    f"--allowed-origins={ORIGIN}",
    "--header-seconds=2",
    f"--request-seconds={REQUEST_SECONDS}",
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
        gateway = Gateway(services.addresses["gateway"]["listen"], authority, services.folder.signing_key("lobby"))
        signed_in = gateway.ask("POST", "/v1/sign-in", {"device_secret": "a secret of these tests"}).json
        yield GatewayDeployment(services, replace(gateway, player_id=signed_in["player"]["player_id"]))


@pytest.fixture
def channel(deployment: GatewayDeployment) -> Iterator[grpc.Channel]:
    """Open a channel to the gateway."""
    assert deployment.endpoints.tls is not None
    with grpc.secure_channel(deployment.endpoints.lobby, deployment.endpoints.tls.credentials()) as channel:
        yield channel
