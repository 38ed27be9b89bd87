"""A table at which everything is encrypted, from the player's device to the ledger, while certificates change."""

import asyncio
import ssl
from datetime import datetime
from pathlib import Path
from random import Random
from typing import Any

import grpc

from croupier.cli.data_folder import DataFolder
from croupier.cli.reach import endpoints_of
from croupier.cli.supervisor import Manner, Services, running_services
from croupier.runtime.certificates import CertificateAndKey, new_certificate
from croupier.runtime.tls import TlsFiles
from croupier_client.aio import Client
from croupier_client.aio_table import AsyncTable
from croupier_client.bots import play_game, random_legal
from tests.certificates import DAYS, LONG_AGO, NOW, House, der, replace

DEADLINE_SECONDS = 60.0
DEVICE_SECRET = "a device of this test"
SERVICES = ("lobby", "engine", "scoring")
PROBED = {service: ["--health-listen=127.0.0.1:0"] for service in SERVICES}
MANNER = Manner(mutual_tls=True, grace_seconds=0, extra_flags=PROBED)


def files(folder: DataFolder, service: str) -> TlsFiles:
    return TlsFiles(*folder.certificate_files(service))


def issue(folder: DataFolder, name: str, now: datetime = NOW) -> CertificateAndKey:
    """Another certificate by the authority of the folder."""
    authority = folder.path / "keys" / "tls" / "authority"
    pair = CertificateAndKey((authority / "ca.crt").read_bytes(), (authority / "ca.key").read_bytes())
    return new_certificate(pair, [name, "127.0.0.1"], DAYS, now)


def credentials(folder: DataFolder, caller: CertificateAndKey | None) -> grpc.ChannelCredentials:
    authority = files(folder, "door").ca.read_bytes()
    if caller is None:
        return grpc.ssl_channel_credentials(authority)
    return grpc.ssl_channel_credentials(authority, caller.key, caller.certificate)


def door(folder: DataFolder) -> CertificateAndKey:
    held = files(folder, "door")
    return CertificateAndKey(held.certificate.read_bytes(), held.key.read_bytes())


def player(services: Services) -> Client:
    """As the front door would come, which stands between players and services."""
    given = credentials(services.folder, door(services.folder))
    return Client(endpoints_of(services.addresses), DEVICE_SECRET, "Ada", credentials=given)


def ports(services: Services) -> list[str]:
    kinds = [(service, kind) for service in SERVICES for kind in ("listen", "control")]
    return [services.addresses[service][kind] for service, kind in kinds if kind in services.addresses[service]]


async def is_let_in(address: str, given: grpc.ChannelCredentials | None) -> bool:
    channel = grpc.aio.secure_channel(address, given) if given else grpc.aio.insecure_channel(address)
    async with channel:
        method: Any = channel.unary_unary("/grpc.health.v1.Health/Check")
        try:
            await method(b"", timeout=DEADLINE_SECONDS)
        except grpc.aio.AioRpcError as refused:
            if refused.code() is grpc.StatusCode.UNAVAILABLE:
                return False
            raise
        return True


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


async def until_shown(address: str, folder: DataFolder, new: CertificateAndKey) -> None:
    while await shown(address, folder) != der(new.certificate):  # noqa: ASYNC110 - another process reads it
        await asyncio.sleep(0.1)


async def until_said(folder: DataFolder, service: str, words: str) -> None:
    while words not in folder.log_file(service).read_text():  # noqa: ASYNC110 - another process writes it
        await asyncio.sleep(0.1)


async def renew_all(services: Services) -> None:
    """New certificates for all three, and one that is broken, which the engine must not take."""
    new = {service: issue(services.folder, service) for service in SERVICES}
    for service in SERVICES:
        replace(files(services.folder, service), new[service])
    for service in SERVICES:
        await until_shown(services.addresses[service]["listen"], services.folder, new[service])
    files(services.folder, "engine").certificate.write_text("broken")
    await until_said(services.folder, "engine", "cannot be used, the old one is kept")
    assert await shown(services.addresses["engine"]["control"], services.folder) == der(new["engine"].certificate)


async def begin(client: Client) -> str:
    table_id = (await client.create_table(game="thulla", seats=3)).table.table_id
    for _ in range(2):
        await client.add_bot(table_id=table_id)
    await client.set_ready(table_id=table_id)
    return table_id


async def finish(client: Client, table: AsyncTable) -> None:
    """Play to the end, and wait until the engine has told scoring."""
    seed = Random(1)
    await play_game(table, lambda seen: random_legal(seen, seed))
    while not (await client.list_results()).results:  # noqa: ASYNC110 - another process tells it
        await asyncio.sleep(0.1)


async def test_a_table_is_played_while_everything_is_encrypted_and_certificates_change(tmp_path: Path) -> None:
    async with (
        asyncio.timeout(DEADLINE_SECONDS),
        running_services(tmp_path, manner=MANNER) as services,
    ):
        folder = services.folder
        wrong = (None, House().issue("door"), issue(folder, "door", LONG_AGO))
        callers = (None, *(credentials(folder, certificate) for certificate in wrong))
        assert len(ports(services)) == 5
        for address in ports(services):
            assert await is_let_in(address, credentials(folder, door(folder)))
            assert [await is_let_in(address, caller) for caller in callers] == [False] * len(callers)
        for service in SERVICES:
            assert await is_let_in(services.addresses[service]["health"], None)
        async with player(services) as client, client.play(await begin(client)) as table:
            assert await table.your_turn()
            before = table.sequence
            await renew_all(services)
            assert services.restarts == dict.fromkeys(services.addresses, 0)
            assert table.sequence >= before
            await finish(client, table)
            # By now the lobby and the engine call others by their new certificates.
            await begin(client)
        logs = "".join(folder.log_file(service).read_text() for service in SERVICES)
        assert "BEGIN" not in logs
