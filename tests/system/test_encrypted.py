"""Tables at which everything is encrypted, from the player's device to the ledger, while certificates change."""

import asyncio
import json
import ssl
from functools import partial
from http.client import HTTPConnection
from pathlib import Path
from random import Random
from typing import Any

import grpc
import pytest
from cryptography import x509

from croupier.cli.data_folder import DataFolder
from croupier.cli.front_door import DoorChoice
from croupier.cli.reach import endpoints_of
from croupier.cli.supervisor import Manner, Services, running_services
from croupier.runtime.certificates import CertificateAndKey, new_certificate
from croupier.runtime.tls import TlsFiles
from croupier_client.aio import Client
from croupier_client.aio_table import AsyncTable
from croupier_client.bots import play_game, random_legal
from croupier_client.endpoints import Endpoints, Tls
from tests.certificates import DAYS, NOW, House, der, replace
from tests.tables import has_result, opened_table
from tests.waiting import PATIENCE_SECONDS, until

DEVICE_SECRET = "a device of this test"
SERVICES = ("lobby", "engine", "scoring")
PROBED = {service: ["--health-listen=127.0.0.1:0"] for service in SERVICES}


def files(folder: DataFolder, service: str) -> TlsFiles:
    return TlsFiles(*folder.certificate_files(service))


def issue(folder: DataFolder, name: str) -> CertificateAndKey:
    """Another certificate by the authority of the folder."""
    authority = folder.path / "keys" / "tls" / "authority"
    pair = CertificateAndKey((authority / "ca.crt").read_bytes(), (authority / "ca.key").read_bytes())
    return new_certificate(pair, [name, "127.0.0.1"], DAYS, NOW)


def credentials(folder: DataFolder, caller: CertificateAndKey | None) -> grpc.ChannelCredentials:
    authority = files(folder, "door").ca.read_bytes()
    if caller is None:
        return grpc.ssl_channel_credentials(authority)
    return grpc.ssl_channel_credentials(authority, caller.key, caller.certificate)


def gateway(folder: DataFolder) -> CertificateAndKey:
    held = files(folder, "door")
    return CertificateAndKey(held.certificate.read_bytes(), held.key.read_bytes())


async def finish(client: Client, table: AsyncTable) -> None:
    """Play to the end, and wait until the engine has reported it to scoring."""
    seed = Random(1)
    await play_game(table, lambda seen: random_legal(seen, seed))
    await until(partial(has_result, client))


async def is_let_in(address: str, given: grpc.ChannelCredentials | None) -> bool:
    channel = grpc.aio.secure_channel(address, given) if given else grpc.aio.insecure_channel(address)
    async with channel:
        method: Any = channel.unary_unary("/grpc.health.v1.Health/Check")
        try:
            await method(b"", timeout=PATIENCE_SECONDS)
        except grpc.aio.AioRpcError as refused:
            if refused.code() is grpc.StatusCode.UNAVAILABLE:
                return False
            raise
        return True


async def check_ports(services: Services) -> None:
    """Only whoever has a certificate of this deployment is let in, but for probes."""
    folder, at = services.folder, services.addresses
    ports = [at[service][kind] for service in SERVICES for kind in ("listen", "control") if kind in at[service]]
    assert len(ports) == 5
    callers = (None, credentials(folder, None), credentials(folder, House().issue("door")))
    for address in ports:
        assert await is_let_in(address, credentials(folder, gateway(folder)))
        assert [await is_let_in(address, caller) for caller in callers] == [False] * len(callers)
    for service in SERVICES:
        assert await is_let_in(at[service]["health"], None)


async def test_a_table_is_played_where_every_service_asks_for_certificates(tmp_path: Path) -> None:
    manner = Manner(mutual_tls=True, grace_seconds=0, extra_flags=PROBED)
    async with running_services(tmp_path, manner=manner) as services:
        await check_ports(services)
        given = credentials(services.folder, gateway(services.folder))
        async with (
            Client(endpoints_of(services.addresses), DEVICE_SECRET, "Ada", credentials=given) as client,
            client.play(await opened_table(client)) as table,
        ):
            await finish(client, table)
        logs = "".join(services.folder.log_file(service).read_text() for service in SERVICES)
    assert "BEGIN" not in logs


async def shown(address: str, folder: DataFolder) -> bytes:
    """The certificate that a service shows to those who come now."""
    own = files(folder, "door")
    context = ssl.create_default_context(cafile=own.ca)
    context.load_cert_chain(own.certificate, own.key)
    context.set_alpn_protocols(["h2"])
    host, _, port = address.rpartition(":")
    _, writer = await asyncio.open_connection(host, int(port), ssl=context)
    certificate: bytes = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
    writer.transport.abort()
    return certificate


async def shows(address: str, folder: DataFolder, new: CertificateAndKey) -> bool:
    return await shown(address, folder) == der(new.certificate)


def certificates_of_gateway(admin: str) -> str:
    connection = HTTPConnection(admin, timeout=PATIENCE_SECONDS)
    connection.request("GET", "/certs")
    used = json.loads(connection.getresponse().read())
    connection.close()
    return json.dumps(used)


async def renew_all(services: Services) -> None:
    """New certificates for all four, and then one that is broken, which the engine must not use."""
    folder, at = services.folder, services.addresses
    new = {service: issue(folder, service) for service in (*SERVICES, "door")}
    for service, certificate in new.items():
        replace(files(folder, service), certificate)
    for service in SERVICES:
        await until(partial(shows, at[service]["listen"], folder, new[service]))
    serial = f"{x509.load_pem_x509_certificate(new['door'].certificate).serial_number:x}"
    await until(lambda: serial in certificates_of_gateway(at["door"]["admin"]))
    content = files(folder, "engine").certificate.read_bytes()
    files(folder, "engine").certificate.write_text("broken")
    await until(lambda: "cannot be used, the old one is kept" in folder.log_file("engine").read_text())
    assert await shows(at["engine"]["control"], folder, new["engine"])
    files(folder, "engine").certificate.write_bytes(content)


@pytest.mark.slow
@pytest.mark.gateway
async def test_a_table_goes_on_at_the_gateway_with_new_certificates_and_a_new_engine(tmp_path: Path) -> None:
    choice = DoorChoice(tls=True)
    manner = Manner(mutual_tls=True, door=choice.flags, grace_seconds=0)
    async with running_services(tmp_path, manner=manner) as services:
        trusted = choice.authority(services.folder)
        assert trusted is not None
        endpoints = Endpoints.single(services.addresses["door"]["listen"], Tls(trusted.read_bytes()))
        async with (
            Client(endpoints, DEVICE_SECRET, "Ada") as client,
            client.play(await opened_table(client)) as table,
        ):
            assert await table.your_turn()
            await renew_all(services)
            assert set(services.restarts.values()) == {0}
            # A new engine, to which the gateway and the lobby connect by what they have now.
            services.kill("engine")
            await finish(client, table)
            await opened_table(client)
        assert services.restarts == {"scoring": 0, "engine": 1, "lobby": 0, "door": 0}
