"""Two people play while others ask the door too often, send too much, or slowly, or take back what they ask."""

import asyncio
import json
import sys
import time
import urllib.request
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random

import pytest

from croupier_client import Client, Endpoints, Tls, play_game, random_legal
from tests.door.conftest import House, another_door
from tests.door.doors import Door
from tests.door.strangers import CLOSED, TOO_MANY_REQUESTS

BEST_OF = {"best_of": 3}
RATE = 20
ASKING_ADDRESSES = 2
"""Of the strangers' addresses, so many ask for what a service would have to answer."""
DEADLINE_SECONDS = 120.0

pytestmark = [
    pytest.mark.gateway,
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux has more than one loopback address"),
]


@pytest.fixture
def limited(house: House, tmp_path: Path) -> Iterator[Door]:
    """A door that strangers of any speed ask too often."""
    few = (f"--address-requests-per-second={RATE}", f"--address-burst={RATE}", "--header-seconds=2")
    with another_door(house, tmp_path, *few) as door:
        yield door


@asynccontextmanager
async def strangers(door: Door) -> AsyncIterator[dict[str, dict[str, int]]]:
    """Strangers whom a door refuses already, for as long as the body takes; then it is known what came of it."""
    command = ("-m", "tests.door.strangers", str(door.port), str(door.authority), door.token())
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(sys.executable, *command, stdin=pipe, stdout=pipe)
    assert process.stdout is not None
    heard: dict[str, dict[str, int]] = {}
    try:
        assert await process.stdout.readline() == b"here\n"
        yield heard
        said, _ = await process.communicate(b"")
        heard |= json.loads(said)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def play_a_game(first: Client, second: Client, random: Random) -> None:
    table_id = (await first.create_table(game="thulla", seats=2, options=BEST_OF)).table.table_id
    await second.join_table(table_id=table_id)
    for client in (first, second):
        await client.set_ready(table_id=table_id)
    async with first.play(table_id) as one, second.play(table_id) as other:
        await asyncio.gather(*(play_game(table, lambda seen: random_legal(seen, random)) for table in (one, other)))
        assert one.ranking == other.ranking != ()


def asked(house: House) -> float:
    """How often the engine was asked what strangers ask, which players do not."""
    with urllib.request.urlopen(f"http://{house.services.addresses['engine']['metrics']}/metrics", timeout=10) as page:
        lines = page.read().decode().splitlines()
    counted = [line for line in lines if line.startswith("croupier_rpc_calls_total{") and "/GetView" in line]
    return sum(float(line.rpartition(" ")[2]) for line in counted)


async def test_a_quiet_table_is_played_to_its_end_and_strangers_hardly_reach_a_service(
    house: House, limited: Door
) -> None:
    assert limited.authority is not None
    endpoints = Endpoints.single(f"localhost:{limited.port}", Tls(limited.authority.read_bytes()))
    async with (
        asyncio.timeout(DEADLINE_SECONDS),
        Client(endpoints, "quiet, with a secret", "Ada") as ada,
        Client(endpoints, "quiet too, with a secret", "Bo") as bo,
    ):
        before, began = asked(house), time.monotonic()
        async with strangers(limited) as heard:
            await play_a_game(ada, bo, Random(4))
        seconds, reached = time.monotonic() - began, asked(house) - before
    print(f"{reached:.0f} of their calls in {seconds:.1f} s reached the engine, of {heard}")
    assert heard["ask"][TOO_MANY_REQUESTS] > 0
    # However fast the machine is, and however much it could bear.
    assert reached <= ASKING_ADDRESSES * RATE * (1 + seconds)
    assert heard["send_much"].keys() <= {"413", CLOSED}
    assert heard["send_slowly"].keys() <= {"408", CLOSED}
    assert heard["reset"].keys() <= {CLOSED}
