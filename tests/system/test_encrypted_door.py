"""A table from a device to the ledger through the front door, everything encrypted, while all certificates change."""

import asyncio
import json
from http.client import HTTPConnection
from pathlib import Path

from cryptography import x509

from croupier.cli.front_door import DoorChoice
from croupier.cli.supervisor import Manner, running_services
from croupier_client.aio import Client
from croupier_client.endpoints import Endpoints, Tls
from tests.certificates import replace
from tests.system.encrypted import DEADLINE_SECONDS, SERVICES, files, finish, issue, until_shown
from tests.tables import opened_table

DEVICE_SECRET = "a device of this test"


def certificates_of(admin: str) -> str:
    """Those that the door uses, as it tells its operator."""
    connection = HTTPConnection(admin, timeout=DEADLINE_SECONDS)
    connection.request("GET", "/certs")
    told = json.loads(connection.getresponse().read())
    connection.close()
    return json.dumps(told)


async def until_used(admin: str, certificate: bytes) -> None:
    serial = f"{x509.load_pem_x509_certificate(certificate).serial_number:x}"
    while serial not in await asyncio.to_thread(certificates_of, admin):  # noqa: ASYNC110 - another process reads it
        await asyncio.sleep(0.1)


async def test_a_table_goes_on_through_the_door_with_new_certificates_and_a_new_engine(tmp_path: Path) -> None:
    choice = DoorChoice(tls=True)
    manner = Manner(mutual_tls=True, door=choice.flags, grace_seconds=0)
    async with asyncio.timeout(DEADLINE_SECONDS), running_services(tmp_path, manner=manner) as services:
        at, folder = services.addresses, services.folder
        trusted = choice.authority(folder)
        assert trusted is not None
        endpoints = Endpoints.single(at["door"]["listen"], Tls(trusted.read_bytes()))
        async with (
            Client(endpoints, DEVICE_SECRET, "Ada") as client,
            client.play(await opened_table(client)) as table,
        ):
            assert await table.your_turn()
            new = {service: issue(folder, service) for service in (*SERVICES, "door")}
            for service, certificate in new.items():
                replace(files(folder, service), certificate)
            for service in SERVICES:
                await until_shown(at[service]["listen"], folder, new[service])
            await until_used(at["door"]["admin"], new["door"].certificate)
            # A new engine, to which the door and the lobby connect by what they have now.
            services.kill("engine")
            await finish(client, table)
        assert services.restarts == {"scoring": 0, "engine": 1, "lobby": 0, "door": 0}
