"""What a person at a table notices when a process behind the door, or the door itself, goes: nothing but a moment."""

import asyncio
import os
import signal
from pathlib import Path
from random import Random

import pytest

from croupier.cli.background import started_services
from croupier_client import Client, play_game, random_legal
from tests.door.conftest import House
from tests.tables import opened_table
from tests.waiting import until

pytestmark = pytest.mark.gateway
DEADLINE_SECONDS = 90.0
ACTIONS_BEFORE = 3


async def test_a_game_goes_on_when_the_door_was_killed(house: House) -> None:
    before, killed = dict(house.services.addresses["door"]), house.services.pids["door"]
    async with (
        asyncio.timeout(DEADLINE_SECONDS),
        Client(house.endpoints, "the door is killed", "Ada") as client,
        client.play(await opened_table(client)) as table,
    ):
        for _ in range(ACTIONS_BEFORE):
            assert await table.your_turn()
            await table.act(table.legal_actions.actions[0])
        house.services.kill("door")
        await play_game(table, lambda seen: random_legal(seen, Random(3)))
        assert table.ranking
    await until_told(house, "door", killed)
    assert house.services.addresses["door"] == before


async def until_told(house: House, instance: str, ended: int) -> None:
    """Wait until the services tell of another process for one that has ended; it may serve before."""
    await until(lambda: house.services.pids[instance] != ended)


def envoys(parent: int) -> list[int]:
    """The children of a process."""
    return [int(pid) for pid in Path(f"/proc/{parent}/task/{parent}/children").read_text().split()]


async def test_an_envoy_that_dies_is_started_again(house: House) -> None:
    door = house.services.pids["door"]
    [envoy] = envoys(door)
    os.kill(envoy, signal.SIGKILL)
    await until_told(house, "door", door)
    assert house.door.ask("GET", "/healthz").status == 200


@pytest.mark.slow
def test_nothing_of_the_door_stays_behind(tmp_path: Path) -> None:
    with started_services(tmp_path, door=[]) as services:
        wrapper = services.pids["door"]
        [envoy] = envoys(wrapper)
        services.process.send_signal(signal.SIGINT)
        assert services.process.wait(DEADLINE_SECONDS) == 0
        for pid in (wrapper, envoy):
            assert not Path(f"/proc/{pid}").exists()
