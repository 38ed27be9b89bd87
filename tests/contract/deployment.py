"""An engine process on loopback with its own keys, and a client for its two ports."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import urllib.request
import uuid
from collections.abc import AsyncIterator, Awaitable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import grpc
from google.protobuf.duration_pb2 import Duration

from croupier.cli.launcher.addresses import UNPACED
from croupier.runtime.database.schema_versions import migrate_database
from croupier.runtime.identity.tokens import (
    ENGINE_CONTROL_AUDIENCE,
    PLAYER_AUDIENCE,
    TokenIssuer,
    load_private_key,
    write_new_key_pair,
)
from croupier.runtime.server.service import now_milliseconds
from croupier_api.v1 import actions_pb2, engine_pb2_grpc, tables_pb2
from croupier_api.v1 import engine_pb2 as pb
from croupier_internal.v1 import engine_control_pb2 as control_pb
from croupier_internal.v1 import engine_control_pb2_grpc
from tests.processes import wait_for_file
from tests.waiting import TIMEOUT_SECONDS

CALL_SECONDS = TIMEOUT_SECONDS
SERVICE = "/croupier_api.v1.EngineService/"
CONTROL = "/croupier_internal.v1.EngineControlService/"
TIME_CONTROL = tables_pb2.TimeControl(action_time=Duration(seconds=60), reserve_time=Duration(), bot_delay=Duration())
PUBLIC = tables_pb2.TableAccess(visibility=tables_pb2.VISIBILITY_EVERYONE, watch_policy=tables_pb2.WATCH_POLICY_ANYONE)
PASS = actions_pb2.Action(pass_turn=actions_pb2.PassAction())
NO_ACTIONS = actions_pb2.LegalActions()
Metadata = tuple[tuple[str, str], ...]
Stream: TypeAlias = Any
"""A call of PlayTable, to which a test may write bytes too."""


@dataclass
class EngineProcess:
    """An engine process with a folder for its keys, its database and its log."""

    folder: Path
    process: subprocess.Popen[bytes] | None = None
    flags: tuple[str, ...] = ()

    @classmethod
    def new(cls, folder: Path) -> "EngineProcess":
        for name in ("lobby", "engine"):
            write_new_key_pair(folder / f"{name}.pem", folder / f"{name}.pub")
        engine = cls(folder)
        asyncio.run(migrate_database(engine.database, ["croupier.engine"]))
        return engine

    @property
    def database(self) -> str:
        return f"sqlite:///{self.folder}/engine.db"

    def start(self, *more: str) -> "EngineProcess":
        """Start the process with more flags, which later starts keep, and wait until it is ready."""
        self.flags += more
        self.ready_file.unlink(missing_ok=True)
        command = [
            *(sys.executable, "-m", "croupier.engine"),
            *("--database", self.database, "--scoring-control", "127.0.0.1:9"),
            *("--lobby-public-key", f"{self.folder}/lobby.pub", "--signing-key", f"{self.folder}/engine.pem"),
            *("--listen", "127.0.0.1:0", "--control-listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0"),
            *("--websocket-listen", "127.0.0.1:0"),
            *("--ready-file", str(self.ready_file), "--log-level", "debug", "--drain-seconds", "10"),
            *UNPACED,
            *self.flags,
        ]
        with self.log_path.open("ab") as log:
            self.process = subprocess.Popen(command, stderr=log, stdout=log)
        wait_for_file(self.ready_file, self.process, self.log_path)
        return self

    def kill(self) -> None:
        """End the process with SIGKILL, as a loss of power would."""
        self._end(signal.SIGKILL)

    def stop(self) -> int:
        return self._end(signal.SIGTERM)

    def _end(self, number: signal.Signals) -> int:
        if self.process is None:
            return 0
        os.kill(self.process.pid, number)
        code = self.process.wait(TIMEOUT_SECONDS)
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
        """Return the values of all metrics by their names with labels."""
        lines = [line.rpartition(" ") for line in self.metrics_page().splitlines() if not line.startswith("#")]
        return {name: float(value) for name, _, value in lines}

    def player(self, player_id: str, audience: str = PLAYER_AUDIENCE, key: str = "lobby") -> Metadata:
        issuer = TokenIssuer(load_private_key(self.folder / f"{key}.pem"), audience, 60, now_milliseconds)
        return (("authorization", f"Bearer {issuer.issue(player_id, 'Name')[0]}"),)

    def lobby(self) -> Metadata:
        return self.player("lobby", ENGINE_CONTROL_AUDIENCE)


async def rest_of(stream: Stream) -> list[Any]:
    """Return all further messages of a stream that ends."""
    messages = []
    while (message := await stream.read()) is not grpc.aio.EOF:
        messages.append(message)
    return messages


@dataclass
class EngineClient:
    engine: EngineProcess
    players_channel: Any
    control_channel: Any
    players: "engine_pb2_grpc.EngineServiceAsyncStub"
    control: "engine_control_pb2_grpc.EngineControlServiceAsyncStub"

    async def prepare(self, table_id: str, **changes: Any) -> None:
        asked: dict[str, Any] = {"game": "thulla", "seat_count": 2, "time_control": TIME_CONTROL}
        request = control_pb.PrepareTableRequest(table_id=table_id, **(asked | changes))
        await self.control.PrepareTable(request, metadata=self.engine.lobby(), timeout=CALL_SECONDS)

    async def open(self, table_id: str, seats: Sequence[tables_pb2.PlayedSeat]) -> None:
        request = control_pb.OpenTableRequest(
            table_id=table_id, seats=seats, client_seeds=[b""] * len(seats), access=PUBLIC
        )
        await self.control.OpenTable(request, metadata=self.engine.lobby(), timeout=CALL_SECONDS)

    async def new_table(self, *seats: tables_pb2.PlayedSeat, **changes: Any) -> str:
        """Open a table, by default with anna and ben, and return its id."""
        table_id = uuid.uuid4().hex
        chosen_seats = seats or (person("anna"), person("ben"))
        await self.prepare(table_id, seat_count=len(chosen_seats), **changes)
        await self.open(table_id, chosen_seats)
        return table_id

    async def view(self, table_id: str, player_id: str) -> pb.Snapshot:
        answer = await self.players.GetView(
            pb.GetViewRequest(table_id=table_id), metadata=self.engine.player(player_id), timeout=CALL_SECONDS
        )
        return answer.snapshot

    async def submit(self, table_id: str, player_id: str, action: actions_pb2.Action, request_id: str = "") -> int:
        request = pb.SubmitActionRequest(table_id=table_id, request_id=request_id or uuid.uuid4().hex, action=action)
        answer = await self.players.SubmitAction(request, metadata=self.engine.player(player_id), timeout=CALL_SECONDS)
        return answer.sequence

    async def turn(self, table_id: str) -> tuple[str, pb.Snapshot]:
        """Return the person whose turn it is and their view, after the bots have acted."""
        watch = self.players.WatchTable(
            pb.WatchTableRequest(table_id=table_id), metadata=self.engine.player("eve"), timeout=CALL_SECONDS
        )
        while await watch.read() is not grpc.aio.EOF:
            for player_id in ("anna", "ben"):
                view = await self.view(table_id, player_id)
                if view.HasField("legal_actions"):
                    watch.cancel()
                    return player_id, view
        raise AssertionError("no person is to act")

    def play(self, player_id: str) -> Stream:
        metadata = self.engine.player(player_id)
        return self.players_channel.stream_stream(
            SERVICE + "PlayTable",
            lambda request: request if isinstance(request, bytes) else request.SerializeToString(),
            pb.PlayTableResponse.FromString,
        )(metadata=metadata, timeout=CALL_SECONDS)

    async def play_table(self, table_id: str, player_id: str, after: int | None = None) -> Stream:
        stream = self.play(player_id)
        await stream.write(pb.PlayTableRequest(watch=pb.WatchTableRequest(table_id=table_id, after_sequence=after)))
        return stream

    def raw(self, method: str, request: bytes, metadata: Metadata) -> Awaitable[Any]:
        """Call any method, on the port that it belongs to, with any bytes as its message."""
        channel = self.control_channel if method.startswith(CONTROL) else self.players_channel
        call: Awaitable[Any] = channel.unary_unary(method)(request, metadata=metadata, timeout=CALL_SECONDS)
        return call

    async def play_seat(
        self, table_id: str, player_id: str, after: int | None = None, limit: int = 10_000
    ) -> list[int]:
        """Take the last legal action over PlayTable until the game is over, or `limit` times.

        Returns the sequences that were acknowledged.
        """
        acknowledged: list[int] = []
        call = await self.play_table(table_id, player_id, after)
        while (message := await call.read()) is not grpc.aio.EOF:
            if message.HasField("answer"):
                assert message.answer.WhichOneof("outcome") == "sequence", message
                acknowledged.append(message.answer.sequence)
                if len(acknowledged) >= limit:
                    call.cancel()
                    return acknowledged
            event = message.table_event
            kind = event.WhichOneof("event_kind")
            legal = getattr(event, kind).legal_actions if kind in ("snapshot", "update", "turn_state") else NO_ACTIONS
            if legal.actions:
                action = pb.SubmitActionRequest(request_id=uuid.uuid4().hex, action=legal.actions[-1])
                await call.write(pb.PlayTableRequest(action=action))
        assert await call.code() is grpc.StatusCode.OK
        return acknowledged


def person(player_id: str, name: str = "") -> tables_pb2.PlayedSeat:
    return tables_pb2.PlayedSeat(player_id=player_id, name=name or player_id.capitalize())


def bot_seat(kind: str = "random") -> tables_pb2.PlayedSeat:
    return tables_pb2.PlayedSeat(name="Computer", bot=kind)


@asynccontextmanager
async def connected(engine: EngineProcess) -> AsyncIterator[EngineClient]:
    async with (
        grpc.aio.insecure_channel(engine.address("listen")) as players,
        grpc.aio.insecure_channel(engine.address("control")) as control,
    ):
        players_stub = engine_pb2_grpc.EngineServiceStub(players)
        control_stub = engine_control_pb2_grpc.EngineControlServiceStub(control)
        yield EngineClient(engine, players, control, players_stub, control_stub)
