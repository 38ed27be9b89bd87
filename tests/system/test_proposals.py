"""Four people at a table of the real services agree to play a hand again, though the engine dies in between."""

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from croupier.cli.reach import endpoints_of
from croupier.cli.supervisor import Manner, running_services
from croupier_client import AsyncTable, BlockingClient, Client, Endpoints
from croupier_client.errors import FailedPrecondition

DEADLINE_SECONDS = 120.0
NAMES = ("Ada", "Ben", "Cleo", "Dan")


async def seated(endpoints: Endpoints, stack: AsyncExitStack) -> list[AsyncTable]:
    """A table of Solo as each of the four follows it."""
    clients = [await stack.enter_async_context(Client(endpoints, f"the device of {name}", name)) for name in NAMES]
    table_id = (await clients[0].create_table(game="solo", seats=4)).table.table_id
    for client in clients[1:]:
        await client.join_table(table_id=table_id)
    for client in clients:
        await client.set_ready(table_id=table_id)
    return [await stack.enter_async_context(client.play(table_id)) for client in clients]


async def until_proposed(table: AsyncTable, name: str | None) -> None:
    while (table.proposal.name if table.proposal else None) != name:
        await table.changed(timeout_seconds=DEADLINE_SECONDS)


def vote_blocking(endpoints: Endpoints, table_id: str, name: str) -> int:
    """Another program of the same player agrees."""
    with BlockingClient(endpoints, f"the device of {name}", name) as client, client.play(table_id) as table:
        return table.vote(agree=True)


@pytest.mark.slow
async def test_a_hand_is_played_again_though_the_engine_was_killed(tmp_path: Path) -> None:
    async with (
        asyncio.timeout(DEADLINE_SECONDS),
        running_services(tmp_path, manner=Manner(grace_seconds=0)) as services,
        AsyncExitStack() as stack,
    ):
        endpoints = endpoints_of(services.addresses)
        tables = await seated(endpoints, stack)
        dealt = [table.view for table in tables]
        (acting,) = (table for table in tables if table.to_act)
        await acting.act(acting.legal_actions.actions[0])
        proposed = await tables[0].propose("restart_same")
        for table in tables:
            await until_proposed(table, "restart_same")
        services.kill("engine")
        assert await tables[1].vote(agree=True) == proposed + 1
        assert await asyncio.to_thread(vote_blocking, endpoints, tables[2].table_id, NAMES[2]) == proposed + 2
        assert await tables[3].vote(agree=True) == proposed + 3
        for table, before in zip(tables, dealt, strict=True):
            await until_proposed(table, None)
            assert (table.sequence, table.view) == (proposed + 4, before)
        assert services.restarts["engine"] == 1
        again = await tables[3].propose("restart_new")
        await until_proposed(tables[2], "restart_new")
        await tables[2].vote(agree=False)
        await until_proposed(tables[3], None)
        assert tables[3].sequence == again + 1
        with pytest.raises(FailedPrecondition, match="nothing is proposed"):
            await tables[3].vote(agree=True)
