"""Two people play while others ask the door too often, send too much, or slowly."""

import asyncio
import http.client
import sys
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random

import pytest

from croupier_client import Client, Endpoints, Tls, play_game, random_legal
from tests.door.conftest import House, another_door
from tests.door.doors import Door, counted
from tests.waiting import PATIENCE_SECONDS, until

RATE = 20
DEADLINE_SECONDS = 120.0
SIGN_IN = b"POST /v1/sign-in HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n"

pytestmark = [
    pytest.mark.gateway,
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux has more than one loopback address"),
]


@pytest.fixture
def limited(house: House, tmp_path: Path) -> Iterator[Door]:
    """A door that strangers of any speed ask too often."""
    few = (f"--address-requests-per-second={RATE}", f"--address-burst={RATE}", "--header-seconds=2")
    with another_door(house, tmp_path, *few, "--request-seconds=8") as door:
        yield door


def ask(door: Door) -> int:
    return door.ask("GET", "/v1/tables/0/view", token=door.token()).status


def send_much(door: Door) -> int:
    return door.ask("POST", "/v1/sign-in", {"device_secret": "a" * 70_000}).status


def trickle(beginning: bytes, drop: bytes, door: Door) -> int:
    """Send slowly; the status that ends it, if any does."""
    ends = time.monotonic() + PATIENCE_SECONDS
    with door.raw() as connection:
        connection.settimeout(0.2)
        connection.sendall(beginning)
        while time.monotonic() < ends:
            connection.sendall(drop)
            with suppress(TimeoutError):
                return int(connection.recv(4096).split()[1])
    return 0


CLOSED = 1
"""In place of a status: the door closed the connection without a word."""
SLOWLY = (partial(trickle, SIGN_IN, b"x-a: b\r\n"), partial(trickle, SIGN_IN + b"content-length: 60000\r\n\r\n", b" "))
STRANGERS: tuple[Callable[[Door], int], ...] = (*[ask] * 8, *[send_much] * 4, *SLOWLY * 50)


@asynccontextmanager
async def strangers(door: Door) -> AsyncIterator[Counter[int]]:
    """Strangers, whom a door refuses already, for as long as the body takes; counts what they are answered."""
    heard: Counter[int] = Counter()
    ended = threading.Event()

    def bother(deed: Callable[[Door], int]) -> None:
        while not ended.is_set():
            try:
                heard[deed(door)] += 1
            except (OSError, IndexError, http.client.HTTPException):
                heard[CLOSED] += 1

    with ThreadPoolExecutor(len(STRANGERS)) as threads:
        for deed in STRANGERS:
            threads.submit(bother, deed)
        try:
            await until(lambda: heard[429] and heard[408])
            yield heard
        finally:
            ended.set()


async def play_a_game(first: Client, second: Client, random: Random) -> None:
    table_id = (await first.create_table(game="thulla", seats=2, options={"best_of": 3})).table.table_id
    await second.join_table(table_id=table_id)
    for client in (first, second):
        await client.set_ready(table_id=table_id)
    async with first.play(table_id) as one, second.play(table_id) as other:
        await asyncio.gather(*(play_game(table, lambda seen: random_legal(seen, random)) for table in (one, other)))
        assert one.ranking == other.ranking != ()


async def test_a_quiet_table_is_played_to_its_end_and_strangers_hardly_reach_a_service(
    house: House, limited: Door
) -> None:
    def asked() -> float:
        return counted(house.services, "engine", "croupier_rpc_calls_total")["GetView"]

    assert limited.authority is not None
    endpoints = Endpoints.single(f"localhost:{limited.port}", Tls(limited.authority.read_bytes()))
    async with (
        asyncio.timeout(DEADLINE_SECONDS),
        Client(endpoints, "quiet, with a secret", "Ada") as ada,
        Client(endpoints, "quiet too, with a secret", "Bo") as bo,
    ):
        before, began = asked(), time.monotonic()
        async with strangers(replace(limited, caller="127.0.0.2")) as heard:
            await play_a_game(ada, bo, Random(4))
        seconds, reached = time.monotonic() - began, asked() - before
    # However fast the machine is, and however much it could bear.
    assert reached <= RATE * (1 + seconds)
    assert heard.keys() <= {404, 408, 413, 429, CLOSED}
