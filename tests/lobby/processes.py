"""Lobbies as processes of their own, and engines of the tests that they speak with."""

import asyncio
import json
import sys
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from prometheus_client import CollectorRegistry

from croupier.runtime.identity import ENGINE_CONTROL_AUDIENCE, TokenVerifier, load_public_key, write_new_key_pair
from croupier.runtime.interceptor import Authenticator, CallInterceptor
from croupier.runtime.metrics import RpcMetrics
from croupier.runtime.server import listen
from croupier_api.v1 import engine_pb2_grpc
from tests.lobby.fakes import FakeEngine, FakeEngineServicer, SilentLogger, real_now

START_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Place:
    """A folder with the keys of two lobbies, and a lobby's database."""

    folder: Path
    database_url: str

    @classmethod
    def new(cls, folder: Path, database_url: str) -> "Place":
        for name in ("first", "second"):
            write_new_key_pair(folder / f"{name}.pem", folder / f"{name}.pub")
        return cls(folder, database_url)

    @asynccontextmanager
    async def engine(self, lobby: str, port: int = 0) -> AsyncIterator[tuple[FakeEngine, str]]:
        """An engine that knows the key of one of the lobbies, and where it listens."""
        engine = FakeEngine()
        verifier = TokenVerifier(load_public_key(self.folder / f"{lobby}.pub"), ENGINE_CONTROL_AUDIENCE, real_now)
        listener = await listen(
            f"127.0.0.1:{port}",
            [],
            lambda server: engine_pb2_grpc.add_EngineControlServiceServicer_to_server(
                FakeEngineServicer(engine), server
            ),
            CallInterceptor(Authenticator(verifier), RpcMetrics(CollectorRegistry()), SilentLogger()),
        )
        yield engine, listener.address
        await listener.server.stop(None)

    async def start(self, engines: Sequence[str], address: str = "127.0.0.1:0", name: str = "ready") -> Process:
        """Start a lobby with the first key; `name` is that of its ready file."""
        (self.folder / name).unlink(missing_ok=True)
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "croupier.lobby", "--database", self.database_url),
            *("--signing-key", f"{self.folder}/first.pem", "--engine-control", ",".join(engines)),
            *("--listen", address, "--metrics-listen", "127.0.0.1:0", "--ready-file", f"{self.folder}/{name}"),
            # Few words: nobody reads them before the end.
            *("--reconcile-seconds", "1", "--drain-seconds", "10", "--log-level", "error"),
            stderr=asyncio.subprocess.PIPE,
        )

    @asynccontextmanager
    async def lobby(self, *engines: str) -> AsyncIterator[Process]:
        """A lobby for as long as the body takes."""
        process = await self.start(engines)
        try:
            yield process
        finally:
            await kill(process)

    async def listens(self, process: Process, name: str = "ready") -> str:
        """Where a lobby listens, once it does."""
        async with asyncio.timeout(START_SECONDS):
            while not (self.folder / name).exists():
                assert process.returncode is None
                await asyncio.sleep(0.02)
        return str(json.loads((self.folder / name).read_text())["listen"])


async def kill(process: Process) -> None:
    """End a process without any farewell; what it said is read, so that it is not held up."""
    if process.returncode is None:
        process.kill()
    await process.communicate()
