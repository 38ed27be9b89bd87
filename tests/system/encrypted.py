"""What tests of encrypted houses share: certificates of a data folder, what a port shows, and a table."""

import asyncio
import ssl
from datetime import datetime
from random import Random

import grpc

from croupier.cli.data_folder import DataFolder
from croupier.runtime.certificates import CertificateAndKey, new_certificate
from croupier.runtime.tls import TlsFiles
from croupier_client.aio import Client
from croupier_client.aio_table import AsyncTable
from croupier_client.bots import play_game, random_legal
from tests.certificates import DAYS, NOW, der

DEADLINE_SECONDS = 120.0
SERVICES = ("lobby", "engine", "scoring")


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


async def finish(client: Client, table: AsyncTable) -> None:
    """Play to the end, and wait until the engine has told scoring."""
    seed = Random(1)
    await play_game(table, lambda seen: random_legal(seen, seed))
    while not (await client.list_results()).results:  # noqa: ASYNC110 - another process tells it
        await asyncio.sleep(0.1)
