"""Two versions of the engine side by side, as in a roll-out: new games and rules wait until all engines know them."""

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, TypeVar

import pytest

from croupier.cli.launcher.replicas import Replicas
from croupier.cli.launcher.supervisor import Services, SupervisorSettings, running_services
from croupier.cli.services import endpoints_of
from croupier_api.v1 import tables_pb2
from croupier_client import Client, RetryPolicy, Unavailable, choose_random_action, play_game
from croupier_loadtest.monitor.monitor import Scrape, scrape
from tests.system.newer_engine import NEW_OPTION
from tests.waiting import TIMEOUT_SECONDS, until

pytestmark = [pytest.mark.postgres, pytest.mark.slow]
PACKAGES = ("croupier.engine", "croupier.lobby", "croupier.scoring")
CALLS = "croupier_rpc_calls_total"
TABLES = 4
SPECS: tuple[dict[str, Any], ...] = ({"game": "one_ten"}, {"game": "thulla", "options": {NEW_OPTION.name: True}})
"""Both engines know the rules of the first; only the newer one knows the option of the second."""
Answer = TypeVar("Answer")


@pytest.fixture
def database_url(new_database: Callable[..., str]) -> str:
    return new_database(*PACKAGES)


@asynccontextmanager
async def side_by_side(folder: Path, database: str) -> AsyncIterator[tuple[Services, Client, Client]]:
    """Yield the services, with an older and a newer engine, and the clients of two players."""
    settings = SupervisorSettings(
        command=(sys.executable, "-m", "tests.system.newer_engine"),
        database=database,
        replicas=Replicas(engine=2),
        is_paced=False,
    )
    async with AsyncExitStack() as stack:
        services = await stack.enter_async_context(running_services(folder, settings=settings))
        endpoints = endpoints_of(services.addresses)
        ada = await stack.enter_async_context(Client(endpoints, "the device of Ada", "Ada"))
        ben = await stack.enter_async_context(Client(endpoints, "the device of Ben", "Ben"))
        yield services, ada, ben


async def accepted(call: Callable[[], Awaitable[Answer]]) -> Answer:
    """Return the answer to a call, which is repeated while an engine is asked that does not know enough."""
    async with asyncio.timeout(TIMEOUT_SECONDS):
        while True:
            try:
                return await call()
            except Unavailable as error:
                if error.reason_name != "TABLE_TOO_NEW":
                    raise
                await asyncio.sleep(error.retry_after_seconds or 0)


def refusals_of(services: Services, instance: str, method: str) -> float:
    """Return how many calls an engine has refused with UNAVAILABLE."""
    page = scrape(services.addresses[instance]["metrics"], 0)
    assert isinstance(page, Scrape)
    labels = {"code": "UNAVAILABLE", "method": f"/croupier_internal.v1.EngineControlService/{method}"}
    calls = (value for (name, labelled), value in page.samples.items() if (name, dict(labelled)) == (CALLS, labels))
    return sum(calls)


async def play(table: tables_pb2.Table, *clients: Client) -> None:
    """Play a table to its end."""

    async def play_seat(client: Client, random: Random) -> None:
        async with client.play_table(table.table_id) as followed:
            await play_game(followed, lambda seen: choose_random_action(seen, random))

    async with asyncio.timeout(TIMEOUT_SECONDS):
        await asyncio.gather(*(play_seat(client, Random(number)) for number, client in enumerate(clients)))


async def test_what_only_the_newer_engine_knows_is_played_there(tmp_path: Path, database_url: str) -> None:
    async with side_by_side(tmp_path, database_url) as (services, ada, ben):
        for spec in SPECS * TABLES:
            table = (await accepted(partial(ada.create_table, seat_count=2, **spec))).table
            await ben.join_table(table_id=table.table_id)
            for client in (ada, ben):
                await client.set_ready(table_id=table.table_id)

            async def is_open(table_id: str = table.table_id) -> bool:
                state = (await ada.get_table(table_id=table_id)).table.state
                assert state != tables_pb2.TABLE_STATE_CLOSED
                return state == tables_pb2.TABLE_STATE_PLAYING

            await until(is_open)
        await play(table, ada, ben)
        assert refusals_of(services, "engine", "PrepareTable") > 0
        assert refusals_of(services, "engine", "OpenTable") > 0
        assert refusals_of(services, "engine-2", "PrepareTable") == 0


async def test_a_game_or_version_that_only_the_newer_engine_knows_is_not_offered(
    tmp_path: Path, database_url: str
) -> None:
    async with side_by_side(tmp_path, database_url) as (services, ada, _):
        impatient = RetryPolicy(total_seconds=1, stream_seconds=1)
        async with Client(endpoints_of(services.addresses), "the device of Cleo", "Cleo", policy=impatient) as cleo:
            for _ in range(TABLES):
                offered = {game.game: game.rules_version for game in (await ada.list_games()).games}
                assert "toy" not in offered
                assert offered["one_ten"] == 1
                table = (await ada.create_table(game="one_ten", seat_count=2)).table
                assert table.rules_version == 1
                calls = (cleo.create_table, cleo.wait_for_match)
                for call in calls:
                    with pytest.raises(Unavailable) as refusal:
                        await call(game="toy", seat_count=2)
                    assert refusal.value.reason_name == "TABLE_TOO_NEW"
