"""A lobby whose key an engine does not know ends with one line that says so, also when the engine answers late."""

import asyncio
from asyncio.subprocess import Process
from pathlib import Path

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from tests.lobby.processes import Place, free_address

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
LONG_ENOUGH_SECONDS = 20


@pytest.fixture
def place(tmp_path: Path, database_url: str) -> Place:
    return Place.new(tmp_path, database_url)


async def last_words(process: Process) -> list[str]:
    """The lines that the program itself wrote, once it has ended as for wrong settings."""
    async with asyncio.timeout(LONG_ENOUGH_SECONDS):
        _, said = await process.communicate()
    assert process.returncode == 2
    return [line for line in said.decode().splitlines() if line.startswith("croupier serve lobby: ")]


async def test_a_key_that_an_engine_does_not_know(place: Place) -> None:
    right, wrong = free_address(), free_address()
    async with place.engine(right, "first"), place.engine(wrong, "second"), place.lobby(right, wrong) as process:
        (line,) = await last_words(process)
    assert f"the engine at {wrong} does not take this lobby's key" in line
    assert f"the public key of {place.folder}/first.pem as --lobby-public-key" in line
    assert not (place.folder / "ready").exists()


async def test_an_engine_that_does_not_know_the_key_and_comes_later(place: Place) -> None:
    address = free_address()
    async with place.lobby(address) as process, asyncio.timeout(LONG_ENOUGH_SECONDS):
        await place.listens(process)
        async with place.engine(address, "second"):
            (line,) = await last_words(process)
    assert f"the engine at {address} does not take this lobby's key" in line


async def test_an_engine_that_knows_the_key_and_comes_later(place: Place) -> None:
    address = free_address()
    async with place.lobby(address) as process, asyncio.timeout(LONG_ENOUGH_SECONDS):
        listens = await place.listens(process)
        async with place.engine(address, "first") as engine, grpc.aio.insecure_channel(listens) as channel:
            while "describe_games" not in engine.calls:  # noqa: ASYNC110 - another process asks
                await asyncio.sleep(0.02)
            await health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest())
            process.terminate()
            _, said = await process.communicate()
    assert process.returncode == 0, said
