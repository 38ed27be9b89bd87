"""Games over TLS from the player's device to the ledger, while certificates change."""

import asyncio
import dataclasses
import socket
import ssl
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import grpc
import pytest
from cryptography import x509

from croupier.cli.launcher.data_folder import DataFolder
from croupier.cli.launcher.gateway import GatewayChoice
from croupier.cli.launcher.supervisor import Services, SupervisorSettings, running_services
from croupier.cli.services import endpoints_of
from croupier.runtime.tls.certificates import CertificateAndKey, new_certificate
from croupier.runtime.tls.tls import TlsFiles
from croupier_client.aio import Client
from croupier_client.aio_table import AsyncTable
from croupier_client.bots import choose_random_action, play_game
from croupier_client.endpoints import Endpoints, Tls
from tests.certificates import DAYS, NOW, Authority, der, replace
from tests.tables import has_result, opened_table
from tests.waiting import TIMEOUT_SECONDS, until

DEVICE_SECRET = "a device of this test"
SERVICES = ("lobby", "engine", "scoring")
PROBED = {service: ["--health-listen=127.0.0.1:0"] for service in SERVICES}


def files(folder: DataFolder, service: str) -> TlsFiles:
    return TlsFiles(*folder.certificate_files(service))


def issue(folder: DataFolder, name: str) -> CertificateAndKey:
    """Issue another certificate by the authority of the folder."""
    authority = folder.path / "keys" / "tls" / "authority"
    pair = CertificateAndKey((authority / "ca.crt").read_bytes(), (authority / "ca.key").read_bytes())
    return new_certificate(pair, [name, "127.0.0.1"], DAYS, NOW)


@dataclasses.dataclass(frozen=True)
class CallerTls(Tls):
    """TLS with a certificate of the caller, as the gateway has it and players have not."""

    caller: CertificateAndKey | None = None

    def credentials(self) -> grpc.ChannelCredentials:
        if self.caller is None:
            return super().credentials()
        return grpc.ssl_channel_credentials(self.authorities, self.caller.key, self.caller.certificate)


def tls_of(folder: DataFolder, caller: CertificateAndKey | None) -> CallerTls:
    return CallerTls(files(folder, "gateway").ca.read_bytes(), caller)


def gateway(folder: DataFolder) -> CertificateAndKey:
    held = files(folder, "gateway")
    return CertificateAndKey(held.certificate.read_bytes(), held.key.read_bytes())


async def finish(client: Client, table: AsyncTable) -> None:
    """Play to the end, and wait until the engine has reported it to scoring."""
    seed = Random(1)
    await play_game(table, lambda seen: choose_random_action(seen, seed))
    await until(partial(has_result, client))


async def is_accepted(address: str, tls: Tls | None) -> bool:
    channel = grpc.aio.secure_channel(address, tls.credentials()) if tls else grpc.aio.insecure_channel(address)
    async with channel:
        method: Any = channel.unary_unary("/grpc.health.v1.Health/Check")
        try:
            await method(b"", timeout=TIMEOUT_SECONDS)
        except grpc.aio.AioRpcError as refused:
            if refused.code() is grpc.StatusCode.UNAVAILABLE:
                return False
            raise
        return True


async def check_ports(services: Services) -> None:
    """Assert that ports accept callers with a certificate of this deployment only, except for probes."""
    folder, at = services.folder, services.addresses
    ports = [at[service][kind] for service in SERVICES for kind in ("listen", "control") if kind in at[service]]
    assert len(ports) == 5
    callers = (None, tls_of(folder, None), tls_of(folder, Authority().issue("gateway")))
    for address in ports:
        assert await is_accepted(address, tls_of(folder, gateway(folder)))
        assert [await is_accepted(address, caller) for caller in callers] == [False] * len(callers)
    for service in SERVICES:
        assert await is_accepted(at[service]["health"], None)


async def test_a_game_is_played_where_every_service_requires_certificates(tmp_path: Path) -> None:
    settings = SupervisorSettings(mutual_tls=True, grace_seconds=0, extra_flags=PROBED, is_paced=False)
    async with running_services(tmp_path, settings=settings) as services:
        await check_ports(services)
        tls = tls_of(services.folder, gateway(services.folder))
        async with (
            Client(dataclasses.replace(endpoints_of(services.addresses), tls=tls), DEVICE_SECRET, "Ada") as client,
            client.play_table(await opened_table(client)) as table,
        ):
            await finish(client, table)
        logs = "".join(services.folder.log_file(service).read_text() for service in SERVICES)
    assert "BEGIN" not in logs


async def presented_certificate(address: str, folder: DataFolder) -> bytes:
    """Return the certificate that a service presents to new connections."""
    own = files(folder, "gateway")
    context = ssl.create_default_context(cafile=own.ca)
    context.load_cert_chain(own.certificate, own.key)
    context.set_alpn_protocols(["h2"])
    host, _, port = address.rpartition(":")
    _, writer = await asyncio.open_connection(host, int(port), ssl=context)
    certificate: bytes = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
    writer.transport.abort()
    return certificate


async def presents(address: str, folder: DataFolder, new: CertificateAndKey) -> bool:
    return await presented_certificate(address, folder) == der(new.certificate)


def certificates_of_gateway(admin: str) -> str:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(TIMEOUT_SECONDS)
        connection.connect(admin)
        connection.sendall(b"GET /certs HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
        with connection.makefile() as answer:
            return answer.read()


async def renew_all(services: Services) -> None:
    """Renew the certificates of all four, and then write a broken one, which the engine must not use."""
    folder, at = services.folder, services.addresses
    new = {service: issue(folder, service) for service in (*SERVICES, "gateway")}
    for service, certificate in new.items():
        replace(files(folder, service), certificate)
    for service in SERVICES:
        await until(partial(presents, at[service]["listen"], folder, new[service]))
    await until(partial(presents, at["engine"]["websocket"], folder, new["engine"]))
    serial = f"{x509.load_pem_x509_certificate(new['gateway'].certificate).serial_number:x}"
    await until(lambda: serial in certificates_of_gateway(at["gateway"]["admin"]))
    content = files(folder, "engine").certificate.read_bytes()
    files(folder, "engine").certificate.write_text("broken")
    await until(lambda: "cannot be used, the old one is kept" in folder.log_file("engine").read_text())
    assert await presents(at["engine"]["control"], folder, new["engine"])
    files(folder, "engine").certificate.write_bytes(content)


@pytest.mark.slow
@pytest.mark.gateway
async def test_a_game_continues_at_the_gateway_with_new_certificates_and_a_new_engine(tmp_path: Path) -> None:
    choice = GatewayChoice(tls=True)
    settings = SupervisorSettings(mutual_tls=True, gateway=choice.flags, grace_seconds=0, is_paced=False)
    async with running_services(tmp_path, settings=settings) as services:
        trusted = choice.authority(services.folder)
        assert trusted is not None
        endpoints = Endpoints.single(services.addresses["gateway"]["listen"], Tls(trusted.read_bytes()))
        async with (
            Client(endpoints, DEVICE_SECRET, "Ada") as client,
            client.play_table(await opened_table(client)) as table,
        ):
            assert await table.wait_for_turn()
            await renew_all(services)
            assert set(services.restarts.values()) == {0}
            # Gateway and lobby connect to a new engine with their new certificates.
            services.kill("engine")
            await finish(client, table)
            await opened_table(client)
        assert services.restarts == {"scoring": 0, "engine": 1, "lobby": 0, "gateway": 0}
