"""An engine that is killed in the middle of many tables loses nothing that it acknowledged."""

import asyncio
import secrets
from collections.abc import Sequence
from pathlib import Path

from croupier.cli.demo import play_all
from croupier.cli.demo_plan import DemoPlan
from croupier.cli.reach import endpoints_of
from croupier.cli.supervisor import Manner, running_services
from croupier_api.v1.engine_pb2 import TableUpdate
from croupier_client.aio_table import AsyncTable

DEADLINE_SECONDS = 120.0
TABLES = 20
KILLED_AT = (150, 800)
"""Entries seen at all tables together; there are about 1,500."""


async def test_twenty_tables_survive_an_engine_that_is_killed_twice(tmp_path: Path) -> None:
    seed = secrets.token_hex(8)
    print(f"the seed of the players is {seed}; put it in place of secrets.token_hex to repeat their decisions")
    seen = 0

    async with (
        asyncio.timeout(DEADLINE_SECONDS),
        running_services(tmp_path, manner=Manner(grace_seconds=0)) as services,
    ):

        def count(_tables: Sequence[AsyncTable], _update: TableUpdate) -> None:
            nonlocal seen
            seen += 1
            if seen in KILLED_AT:
                services.kill("engine")

        played = await play_all(DemoPlan("thulla", 4, TABLES, {}, seed), endpoints_of(services.addresses), count)
        assert services.restarts == {"scoring": 0, "engine": len(KILLED_AT), "lobby": 0}
    assert played.violations == ()
    assert played.checks_made["proofs"] == TABLES
    assert played.checks_made["acknowledgements"] > max(KILLED_AT)
