"""A table at which everything is encrypted, from the player's device to the ledger, while certificates change."""

import asyncio
from pathlib import Path
from typing import Any

import grpc

from croupier.cli.data_folder import DataFolder
from croupier.cli.reach import endpoints_of
from croupier.cli.supervisor import Manner, Services, running_services
from croupier_client.aio import Client
from tests.certificates import LONG_AGO, House, der, replace
from tests.system.encrypted import (
    DEADLINE_SECONDS,
    SERVICES,
    credentials,
    door,
    files,
    finish,
    issue,
    shown,
    until_shown,
)
from tests.tables import opened_table

DEVICE_SECRET = "a device of this test"
PROBED = {service: ["--health-listen=127.0.0.1:0"] for service in SERVICES}
MANNER = Manner(mutual_tls=True, grace_seconds=0, extra_flags=PROBED)


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
        async with player(services) as client, client.play(await opened_table(client)) as table:
            assert await table.your_turn()
            before = table.sequence
            await renew_all(services)
            assert services.restarts == dict.fromkeys(services.addresses, 0)
            assert table.sequence >= before
            await finish(client, table)
            # By now the lobby and the engine call others by their new certificates.
            await opened_table(client)
        logs = "".join(folder.log_file(service).read_text() for service in SERVICES)
        assert "BEGIN" not in logs
