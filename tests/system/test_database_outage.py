"""An outage of the database leaves a few lines in each log, none of them an error, and games continue."""

import asyncio
import json
from collections import Counter
from pathlib import Path

import pytest

from croupier.cli.launcher.background import BackgroundServices, started_services
from croupier.cli.services import endpoints_of
from croupier.runtime.database.schema_versions import migrate_database
from croupier_client.aio import Client
from croupier_loadtest.postgres import postgres_server
from tests.tables import QUICK_BOTS, opened_table
from tests.waiting import until

PACKAGES = ("croupier.scoring", "croupier.engine", "croupier.lobby")
TABLES = 4
MAX_LINES = 60
"""Refused calls are sampled; without that a table alone would write hundreds."""


def lines_of(services: BackgroundServices, service: str) -> list[dict[str, str]]:
    lines = services.folder.log_file(service).read_text().splitlines()
    # A line that is no JSON is one of a library, such as a traceback of asyncio.
    return [json.loads(line) for line in lines]


FAIL, SUCCEED = "calls to the database fail", "calls to the database succeed again"


def logged(services: BackgroundServices, event: str) -> int:
    """Return how often the engine has logged an event: of an outage once for each reason."""
    return sum(line["event"] == event for line in lines_of(services, "engine"))


async def logged_again(services: BackgroundServices, event: str, times: int) -> None:
    """Wait until the engine has logged an event more often."""
    await until(lambda: logged(services, event) > times)


@pytest.mark.postgres
@pytest.mark.slow
async def test_two_outages_leave_warnings_only(tmp_path: Path) -> None:
    with postgres_server() as server:
        url = server.create_database("croupier")
        await migrate_database(url, PACKAGES)
        with started_services(tmp_path, database=url) as services:
            async with Client(endpoints_of(services.addresses), "the secret of a device") as client:
                for _ in range(TABLES):
                    await opened_table(client, 4, time_control=QUICK_BOTS)
                for _ in range(2):
                    failed, succeeded = logged(services, FAIL), logged(services, SUCCEED)
                    server.stop()
                    await logged_again(services, FAIL, failed)
                    await asyncio.to_thread(server.start)
                    await logged_again(services, SUCCEED, succeeded)
                await opened_table(client, 4, time_control=QUICK_BOTS)
            for service in ("lobby", "engine", "scoring"):
                lines = lines_of(services, service)
                assert {line["level"] for line in lines} <= {"info", "warning"}
                assert len(lines) < MAX_LINES
                warnings = Counter((line["event"], line.get("reason")) for line in lines if line["level"] == "warning")
                assert max(warnings.values()) <= 2
