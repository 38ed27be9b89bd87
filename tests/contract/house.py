"""A real engine process on loopback with keys of its own, and the words that tests speak with it."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
import uuid
from collections.abc import AsyncIterator, Awaitable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import grpc

from croupier.runtime.identity import (
    ENGINE_CONTROL_AUDIENCE,
    PLAYER_AUDIENCE,
    TokenIssuer,
    load_private_key,
    write_new_key_pair,
)
from croupier.runtime.schema_versions import migrate_database
from croupier_api.v1 import engine_pb2 as pb
from croupier_api.v1 import table_pb2
from croupier_api.v1.engine_pb2_grpc import EngineControlServiceStub, EngineServiceStub
from tests.waiting import PATIENCE_SECONDS

if TYPE_CHECKING:
    # The stubs for asyncio exist for the type checker only.
    from croupier_api.v1.engine_pb2_grpc import EngineControlServiceAsyncStub, EngineServiceAsyncStub

CALL_SECONDS = PATIENCE_SECONDS
SERVICE = "/croupier_api.v1.EngineService/"
CONTROL = "/croupier_api.v1.EngineControlService/"
Metadata = tuple[tuple[str, str], ...]
Stream: TypeAlias = Any
"""A call of Play: the stubs do not know that what is written may be bytes, nor what is read."""


def now() -> int:
    """Milliseconds since 1970 UTC."""
    return time.time_ns() // 1_000_000


@dataclass
class Engine:
    """An engine process on a folder with its keys, its database and its log."""

    folder: Path
    process: subprocess.Popen[bytes] | None = None
    flags: tuple[str, ...] = ()

    @classmethod
    def new(cls, folder: Path) -> "Engine":
        for name in ("lobby", "engine"):
            write_new_key_pair(folder / f"{name}.pem", folder / f"{name}.pub")
        engine = cls(folder)
        asyncio.run(migrate_database(engine.database, ["croupier.engine"]))
        return engine

    @property
    def database(self) -> str:
        """The URL of its own database."""
        return f"sqlite:///{self.folder}/engine.db"

    def start(self, *more: str) -> "Engine":
        """Start the process, with more flags from now on, and wait until it is ready; what it logs goes to one file."""
        self.flags += more
        self.ready_file.unlink(missing_ok=True)
        command = [
            *(sys.executable, "-m", "croupier.engine"),
            *("--database", self.database, "--scoring-control", "127.0.0.1:9"),
            *("--lobby-public-key", f"{self.folder}/lobby.pub", "--signing-key", f"{self.folder}/engine.pem"),
            *("--listen", "127.0.0.1:0", "--control-listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0"),
            *("--ready-file", str(self.ready_file), "--log-level", "debug", "--drain-seconds", "10", *self.flags),
        ]
        with self.log_path.open("ab") as log:
            self.process = subprocess.Popen(command, stderr=log, stdout=log)
        until = time.monotonic() + PATIENCE_SECONDS
        while not self.ready_file.exists():
            assert self.process.poll() is None, self.log_path.read_text()
            assert time.monotonic() < until, "the engine did not get ready"
            time.sleep(0.02)
        return self

    def kill(self) -> None:
        """End the process as a loss of power would."""
        self._end(signal.SIGKILL)

    def stop(self) -> int:
        """End the process in order; gives its exit code."""
        return self._end(signal.SIGTERM)

    def _end(self, how: signal.Signals) -> int:
        if self.process is None:
            return 0
        os.kill(self.process.pid, how)
        code = self.process.wait(PATIENCE_SECONDS)
        self.process = None
        return code

    @property
    def ready_file(self) -> Path:
        return self.folder / "ready.json"

    @property
    def log_path(self) -> Path:
        return self.folder / "engine.log"

    def address(self, name: str) -> str:
        return str(json.loads(self.ready_file.read_text())[name])

    def metrics_page(self) -> str:
        with urllib.request.urlopen(f"http://{self.address('metrics')}/metrics", timeout=CALL_SECONDS) as page:
            return str(page.read().decode())

    def metrics(self) -> dict[str, float]:
        """The values of all metrics by their names with labels."""
        lines = [line.rpartition(" ") for line in self.metrics_page().splitlines() if not line.startswith("#")]
        return {name: float(value) for name, _, value in lines}

    def player(self, player_id: str, audience: str = PLAYER_AUDIENCE, key: str = "lobby") -> Metadata:
        issuer = TokenIssuer(load_private_key(self.folder / f"{key}.pem"), audience, 60, now)
        return (("authorization", f"Bearer {issuer.issue(player_id, 'Name')[0]}"),)

    def lobby(self) -> Metadata:
        return self.player("lobby", ENGINE_CONTROL_AUDIENCE)


async def rest_of(stream: Stream) -> list[Any]:
    """Every message that is still to come of a stream that ends."""
    messages = []
    while (message := await stream.read()) is not grpc.aio.EOF:
        messages.append(message)
    return messages


@dataclass
class House:
    """Channels to a running engine."""

    engine: Engine
    players_channel: Any
    control_channel: Any
    players: "EngineServiceAsyncStub"
    control: "EngineControlServiceAsyncStub"

    async def prepare(self, table_id: str, **changes: Any) -> None:
        asked: dict[str, Any] = {"game": "thulla", "seats": 2, "clock": table_pb2.Clock(action_seconds=60)}
        request = pb.PrepareTableRequest(table_id=table_id, **(asked | changes))
        await self.control.PrepareTable(request, metadata=self.engine.lobby(), timeout=CALL_SECONDS)

    async def open(self, table_id: str, seats: Sequence[table_pb2.SeatInfo]) -> None:
        request = pb.OpenTableRequest(table_id=table_id, seats=seats, client_seeds=[b""] * len(seats))
        await self.control.OpenTable(request, metadata=self.engine.lobby(), timeout=CALL_SECONDS)

    async def new_table(self, *seats: table_pb2.SeatInfo, **changes: Any) -> str:
        """A table in play, by default of anna and ben."""
        table_id = uuid.uuid4().hex
        taken = seats or (person("anna"), person("ben"))
        await self.prepare(table_id, seats=len(taken), **changes)
        await self.open(table_id, taken)
        return table_id

    async def view(self, table_id: str, player_id: str) -> pb.Snapshot:
        answer = await self.players.GetView(
            pb.GetViewRequest(table_id=table_id), metadata=self.engine.player(player_id), timeout=CALL_SECONDS
        )
        return answer.snapshot

    async def submit(self, table_id: str, player_id: str, action: table_pb2.Action, request_id: str = "") -> int:
        request = pb.SubmitActionRequest(table_id=table_id, request_id=request_id or uuid.uuid4().hex, action=action)
        answer = await self.players.SubmitAction(request, metadata=self.engine.player(player_id), timeout=CALL_SECONDS)
        return answer.sequence

    async def turn(self, table_id: str) -> tuple[str, pb.Snapshot]:
        """Which person's turn it is, with what he sees; computer players are waited for."""
        watch = self.players.WatchTable(
            pb.WatchTableRequest(table_id=table_id), metadata=self.engine.player("eve"), timeout=CALL_SECONDS
        )
        while await watch.read() is not grpc.aio.EOF:
            for player_id in ("anna", "ben"):
                view = await self.view(table_id, player_id)
                if view.HasField("legal_actions"):
                    watch.cancel()
                    return player_id, view
        raise AssertionError("nobody is to act")

    def play(self, player_id: str) -> Stream:
        """An open Play stream."""
        metadata = self.engine.player(player_id)
        return self.players_channel.stream_stream(
            SERVICE + "Play",
            lambda request: request if isinstance(request, bytes) else request.SerializeToString(),
            pb.PlayResponse.FromString,
        )(metadata=metadata, timeout=CALL_SECONDS)

    def raw(self, method: str, request: bytes, metadata: Metadata) -> Awaitable[Any]:
        """A call, of any method of the port that it belongs to, with one message of any bytes."""
        channel = self.control_channel if method.startswith(CONTROL) else self.players_channel
        call: Awaitable[Any] = channel.unary_unary(method)(request, metadata=metadata, timeout=CALL_SECONDS)
        return call

    async def play_seat(self, table_id: str, player_id: str, after: int | None = None, most: int = 10_000) -> list[int]:
        """Take the last legal action over Play until the game is over, or so often.

        Returns the sequences that were acknowledged.
        """
        acknowledged: list[int] = []
        call = self.play(player_id)
        await call.write(pb.PlayRequest(watch=pb.WatchTableRequest(table_id=table_id, after_sequence=after)))
        while (message := await call.read()) is not grpc.aio.EOF:
            if message.HasField("answer"):
                assert message.answer.WhichOneof("outcome") == "sequence", message
                acknowledged.append(message.answer.sequence)
                if len(acknowledged) >= most:
                    call.cancel()
                    return acknowledged
            legal = message.legal_actions if message.HasField("legal_actions") else message.snapshot.legal_actions
            if legal.actions:
                action = pb.SubmitActionRequest(request_id=uuid.uuid4().hex, action=legal.actions[-1])
                await call.write(pb.PlayRequest(action=action))
        assert await call.code() is grpc.StatusCode.OK
        return acknowledged


def person(player_id: str, name: str = "") -> table_pb2.SeatInfo:
    """A seat with a person."""
    return table_pb2.SeatInfo(player_id=player_id, name=name or player_id.capitalize())


def computer(kind: str = "random") -> table_pb2.SeatInfo:
    """A seat with a computer player."""
    return table_pb2.SeatInfo(name="Computer", bot=kind)


@asynccontextmanager
async def visit(engine: Engine) -> AsyncIterator[House]:
    """Open channels to an engine that runs."""
    async with (
        grpc.aio.insecure_channel(engine.address("listen")) as players,
        grpc.aio.insecure_channel(engine.address("control")) as control,
    ):
        yield House(engine, players, control, EngineServiceStub(players), EngineControlServiceStub(control))
