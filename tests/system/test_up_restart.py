"""A table goes on where it was after `croupier up` was stopped and started again."""

import asyncio
import os
import signal
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest

from croupier.cli.background import BackgroundServices, started_services
from croupier.cli.reach import endpoints_of
from croupier.engine.replay import verify_replay
from croupier_api.v1 import table_pb2
from croupier_client.aio import Client
from croupier_client.aio_table import AsyncTable
from croupier_client.bots import play_game, random_legal
from tests.tables import opened_table

DEADLINE_SECONDS = 240.0
DEVICE_SECRET = "a device of this test"
ACTIONS_BEFORE = 5
UNHURRIED = table_pb2.Clock(action_seconds=3_600)


class Seen(NamedTuple):
    table_id: str
    sequence: int
    hand: tuple[int, ...]


def client(services: BackgroundServices) -> Client:
    return Client(endpoints_of(services.addresses), DEVICE_SECRET, "Ada")


def seen(table: AsyncTable) -> Seen:
    assert table.seat is not None
    return Seen(table.table_id, table.sequence, tuple(table.view.seats[table.seat].cards))


async def begin(services: BackgroundServices) -> Seen:
    """A table with computer players, left when it is the person's turn."""
    async with client(services) as player, player.play(await opened_table(player, 4, clock=UNHURRIED)) as table:
        for _ in range(ACTIONS_BEFORE):
            assert await table.your_turn()
            await table.act(table.legal_actions.actions[0])
        assert await table.your_turn()
        return seen(table)


async def finish(services: BackgroundServices, before: Seen) -> str:
    """Play the rest; returns the replay."""
    async with client(services) as player:
        async with player.play(before.table_id) as table:
            assert seen(table) == before
            seed = Random(1)
            await play_game(table, lambda view: random_legal(view, seed))
        return (await player.get_replay(table_id=before.table_id)).replay


@pytest.mark.slow
def test_a_table_goes_on_after_a_restart(tmp_path: Path) -> None:
    with started_services(tmp_path) as services:
        before = asyncio.run(asyncio.wait_for(begin(services), DEADLINE_SECONDS))
        os.kill(services.process.pid, signal.SIGINT)
        assert services.process.wait(DEADLINE_SECONDS) == 0
    with started_services(tmp_path) as services:
        replay = asyncio.run(asyncio.wait_for(finish(services, before), DEADLINE_SECONDS))
    assert verify_replay(replay).entries > before.sequence
