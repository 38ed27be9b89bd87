"""A lobby whose key an engine does not know ends with one line that says so, also when the engine answers late."""

import asyncio
import json
import socket
import sys
from asyncio.subprocess import Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from prometheus_client import CollectorRegistry

from croupier.runtime.identity import ENGINE_CONTROL_AUDIENCE, TokenVerifier, load_public_key, write_new_key_pair
from croupier.runtime.interceptor import Authenticator, CallInterceptor
from croupier.runtime.metrics import RpcMetrics
from croupier.runtime.server import listen
from croupier_api.v1 import engine_pb2_grpc
from tests.lobby.fakes import FakeEngine, FakeEngineServicer, SilentLogger, real_now

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
LONG_ENOUGH_SECONDS = 20


@dataclass(frozen=True, slots=True)
class Place:
    """A folder with the keys of two lobbies, and a lobby's database."""

    folder: Path
    database_url: str

    @asynccontextmanager
    async def engine(self, address: str, lobby: str) -> AsyncIterator[FakeEngine]:
        """An engine that knows the key of one of the lobbies."""
        engine = FakeEngine()
        verifier = TokenVerifier(load_public_key(self.folder / f"{lobby}.pub"), ENGINE_CONTROL_AUDIENCE, real_now)
        listener = await listen(
            address,
            [],
            lambda server: engine_pb2_grpc.add_EngineControlServiceServicer_to_server(
                FakeEngineServicer(engine), server
            ),
            CallInterceptor(Authenticator(verifier), RpcMetrics(CollectorRegistry()), SilentLogger()),
        )
        yield engine
        await listener.server.stop(None)

    @asynccontextmanager
    async def lobby(self, *engines: str) -> AsyncIterator[Process]:
        """The lobby with the first key as a process."""
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "croupier.lobby", "--database", self.database_url),
            *("--signing-key", f"{self.folder}/first.pem", "--engine-control", ",".join(engines)),
            *("--listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0", "--ready-file", f"{self.folder}/ready"),
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            yield process
        finally:
            if process.returncode is None:
                process.kill()
            await process.wait()

    async def listens(self, process: Process) -> str:
        """Where the lobby listens, once it does."""
        while not (self.folder / "ready").exists():
            assert process.returncode is None
            await asyncio.sleep(0.02)
        return str(json.loads((self.folder / "ready").read_text())["listen"])


@pytest.fixture
def place(tmp_path: Path, database_url: str) -> Place:
    for name in ("first", "second"):
        write_new_key_pair(tmp_path / f"{name}.pem", tmp_path / f"{name}.pub")
    return Place(tmp_path, database_url)


def free_address() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{probe.getsockname()[1]}"


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
