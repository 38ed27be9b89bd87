"""A lobby whose key an engine does not know ends with one line that says so, also when the engine answers late."""

import asyncio
from asyncio.subprocess import Process
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from tests.lobby.fakes import PATIENCE_SECONDS
from tests.lobby.processes import Place
from tests.ports import reserved_port
from tests.waiting import until


@pytest.fixture
def place(tmp_path: Path, database_url: str) -> Place:
    return Place.new(tmp_path, database_url)


async def last_words(process: Process) -> list[str]:
    """The lines that the program itself wrote, once it has ended as for wrong settings."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        _, said = await process.communicate()
    assert process.returncode == 2
    return [line for line in said.decode().splitlines() if line.startswith("croupier serve lobby: ")]


@pytest.fixture
def port() -> Iterator[int]:
    """Of an engine that comes later than the lobby that is told of it."""
    with reserved_port() as port:
        yield port


async def test_a_key_that_an_engine_does_not_know(place: Place) -> None:
    async with (
        place.engine("first") as (_, right),
        place.engine("second") as (_, wrong),
        place.lobby(right, wrong) as process,
    ):
        (line,) = await last_words(process)
    assert f"the engine at {wrong} does not take this lobby's key" in line
    assert f"the public key of {place.folder}/first.pem as --lobby-public-key" in line
    assert not (place.folder / "ready").exists()


@pytest.mark.slow
async def test_an_engine_that_does_not_know_the_key_and_comes_later(place: Place, port: int) -> None:
    async with place.lobby(f"127.0.0.1:{port}") as process:
        await place.listens(process)
        async with place.engine("second", port) as (_, address):
            (line,) = await last_words(process)
    assert f"the engine at {address} does not take this lobby's key" in line


@pytest.mark.slow
async def test_an_engine_that_knows_the_key_and_comes_later(place: Place, port: int) -> None:
    async with place.lobby(f"127.0.0.1:{port}") as process, asyncio.timeout(PATIENCE_SECONDS):
        listens = await place.listens(process)
        async with place.engine("first", port) as (engine, _), grpc.aio.insecure_channel(listens) as channel:
            await until(lambda: "describe_games" in engine.calls)
            await health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest())
            process.terminate()
            _, said = await process.communicate()
    assert process.returncode == 0, said
