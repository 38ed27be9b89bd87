"""The processes that are measured: an engine, and whatever else says in a file where it listens."""

import asyncio
import json
import os
import subprocess
import sys
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import grpc

from benchmarks.driver import SEATS
from croupier.runtime.identity import (
    ENGINE_CONTROL_AUDIENCE,
    PLAYER_AUDIENCE,
    SERVICE_TOKEN_SECONDS,
    TokenIssuer,
    load_private_key,
    write_new_key_pair,
)
from croupier.runtime.schema_versions import migrate_database
from croupier_api.v1 import engine_pb2, engine_pb2_grpc, table_pb2

# Long matches, so that actions are measured and not the opening of tables, of which a short game needs one in 80.
OPTIONS = table_pb2.GameOptions(values={"best_of": "5", "scoring": "cards", "pickup": "cutter", "stall_limit": "1000"})
START_SECONDS = 30.0
CORES = sorted(os.sched_getaffinity(0))
SERVER_CORES, DRIVER_CORES = CORES[:1], CORES[1:] or CORES


@dataclass(frozen=True, slots=True)
class RunningEngine:
    """An engine that runs: how players reach it, who they are, and how a table of theirs is opened."""

    pid: int
    address: str
    tokens: Sequence[str]
    open_table: Callable[[], Awaitable[str]]


def now_milliseconds() -> int:
    return time.time_ns() // 1_000_000


def write_keys(folder: Path) -> None:
    """Put the keys into a folder that an engine needs."""
    for service in ("lobby", "engine"):
        write_new_key_pair(folder / f"{service}.pem", folder / f"{service}.pub")


@asynccontextmanager
async def started(
    command: list[str], ready_file: Path, cores: Sequence[int] = SERVER_CORES
) -> AsyncIterator[tuple[int, str]]:
    """A process on the first core, or others, and what its ready file says; the driver keeps to the others."""
    ready_file.unlink(missing_ok=True)
    with subprocess.Popen([sys.executable, *command]) as process:
        os.sched_setaffinity(process.pid, cores)
        try:
            for _ in range(int(START_SECONDS / 0.05)):
                if ready_file.exists() and (text := ready_file.read_text()):
                    break
                await asyncio.sleep(0.05)
            else:
                raise RuntimeError("the server did not get ready")
            yield process.pid, text
        finally:
            process.terminate()


@asynccontextmanager
async def started_engine(folder: Path, database: str) -> AsyncIterator[RunningEngine]:
    """An engine on a new database, with the keys of a folder."""
    await migrate_database(database, ["croupier.engine"])
    command = [
        *("-m", "croupier.engine", "--database", database),
        *("--lobby-public-key", f"{folder}/lobby.pub", "--signing-key", f"{folder}/engine.pem"),
        *("--scoring-control", "127.0.0.1:9", "--listen", "127.0.0.1:0", "--control-listen", "127.0.0.1:0"),
        *("--metrics-listen", "127.0.0.1:0", "--ready-file", f"{folder}/engine.ready", "--log-level", "error"),
        *("--drain-seconds", "4", "--player-calls-per-second", "0"),
    ]
    key = load_private_key(folder / "lobby.pem")
    players = TokenIssuer(key, PLAYER_AUDIENCE, 3600, now_milliseconds)
    lobby = TokenIssuer(key, ENGINE_CONTROL_AUDIENCE, SERVICE_TOKEN_SECONDS * 10, now_milliseconds)
    tokens = [players.issue(f"player-{seat}", f"Player {seat}")[0] for seat in range(SEATS)]
    async with started(command, folder / "engine.ready") as (pid, text):
        addresses = json.loads(text)
        async with grpc.aio.insecure_channel(addresses["control"]) as control:
            yield RunningEngine(pid, addresses["listen"], tokens, _table_opener(control, lobby.issue("lobby")[0]))


def _table_opener(control: grpc.aio.Channel, token: str) -> Callable[[], Awaitable[str]]:
    """A function that opens a table of Thulla and gives its id."""
    stub: engine_pb2_grpc.EngineControlServiceAsyncStub = engine_pb2_grpc.EngineControlServiceStub(control)
    metadata = (("authorization", f"Bearer {token}"),)
    seats = [table_pb2.SeatInfo(player_id=f"player-{seat}", name=f"Player {seat}") for seat in range(SEATS)]

    async def open_table() -> str:
        table_id = uuid.uuid4().hex
        clock = table_pb2.Clock(action_seconds=60)
        prepare = engine_pb2.PrepareTableRequest(
            table_id=table_id, game="thulla", seats=SEATS, options=OPTIONS, clock=clock
        )
        await stub.PrepareTable(prepare, metadata=metadata)
        request = engine_pb2.OpenTableRequest(table_id=table_id, seats=seats, client_seeds=[b""] * SEATS)
        await stub.OpenTable(request, metadata=metadata)
        return table_id

    return open_table
