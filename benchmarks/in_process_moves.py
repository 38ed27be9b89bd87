"""Moves of an engine on SQLite in one process, without a transport, while callgrind counts their instructions.

`python -m benchmarks.in_process_moves DATABASE MOVES_AT_ONCE`, below valgrind: see benchmarks.instructions.
"""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from benchmarks.loads import LONG_MATCH, SEATS
from croupier.engine.__main__ import seed_source
from croupier.engine.api.action_codec import encode_action
from croupier.engine.api.servicer import EngineServicer
from croupier.engine.api.stream_codec import encode_acceptance
from croupier.engine.assembly import Engine, assemble
from croupier.engine.core.fold import TableState, advance
from croupier.engine.core.log import ClockConfig, SeatConfig, TableConfig
from croupier.engine.settings import EngineSettings
from croupier.games.bots import random_of
from croupier.games.interface import SeatActed
from croupier.runtime.admission.admission import Admission
from croupier.runtime.admission.limits import Limits, limits_of
from croupier.runtime.database.database import open_database
from croupier.runtime.identity.links import links_by
from croupier.runtime.identity.tokens import Caller
from croupier.runtime.observation.logs import configure_logs
from croupier.runtime.server import grpc_server
from croupier.runtime.server.call import Call
from croupier.runtime.server.service import now_milliseconds
from croupier.runtime.server.tasks import end_tasks
from croupier.runtime.server.tuning import tune_process
from croupier_api.v1 import engine_pb2 as pb

TABLES = 25
WARM_UP_MOVES, MOVES = 8, 20
"""The moves of each table before the counter starts, and while it counts."""
HOUR = ClockConfig(3_600_000, 0, 0)
WRITING_STEPS = 3
"""The steps of the event loop in which streams write the messages of a request that is finished."""
TIMEOUT_SECONDS = 60


class Serving:
    """The requests that the servicer has not finished."""

    def __init__(self) -> None:
        self._unfinished = 0
        self._none = asyncio.Event()

    def begin(self) -> None:
        """Count a request."""
        self._unfinished += 1
        self._none.clear()

    def finish(self) -> None:
        """Count the end of a request."""
        self._unfinished -= 1
        if not self._unfinished:
            self._none.set()

    async def wait(self) -> None:
        """Wait until all requests are finished and their messages are written; raises TimeoutError."""
        async with asyncio.timeout(TIMEOUT_SECONDS):
            await self._none.wait()
        for _ in range(WRITING_STEPS):
            await asyncio.sleep(0)


class Stream:
    """The context of a call whose client is this process."""

    def __init__(self, serving: Serving) -> None:
        self._requests = asyncio.Queue[bytes]()
        self._serving = serving
        self._answer: bytes | None = None

    def send(self, request: bytes, answer: bytes = b"") -> None:
        """Send a request to the servicer; it is finished with the message that ends with an answer."""
        self._serving.begin()
        self._answer = answer
        self._requests.put_nowait(request)

    async def read(self) -> bytes:
        """Return the next request."""
        return await self._requests.get()

    async def send_initial_metadata(self, _metadata: object) -> None:
        """Do nothing: there are no headers."""

    async def write(self, message: bytes) -> None:
        """Finish the request that a message answers; no client reads."""
        if self._answer is not None and message.endswith(self._answer):
            self._answer = None
            self._serving.finish()


class Move(NamedTuple):
    """A request of a seat's stream, its answer, and the sequence of the table after it."""

    stream: Stream
    request: bytes
    answer: bytes
    sequence: int


def moves_of(config: TableConfig, table: TableState, streams: Sequence[Stream], random: Random) -> Iterator[Move]:
    """Yield random moves of a table, computed by the rules alone."""
    for number in range(WARM_UP_MOVES + MOVES):
        seat = table.seats_to_act[0]
        action = random_of(table.legal_actions(seat), random.randrange)
        answer = encode_acceptance(str(number), table.sequence + 1)
        table = advance(config, table, table.at, SeatActed(seat, action))[-1].after
        submitted = pb.SubmitActionRequest(request_id=str(number), action=encode_action(action))
        yield Move(streams[seat], pb.PlayTableRequest(action=submitted).SerializeToString(), answer, table.sequence)


class Driver:
    """Opens tables with a stream for each seat, and plays."""

    def __init__(self, engine: Engine, servicer: EngineServicer, limits: Limits) -> None:
        self._engine = engine
        self._servicer = servicer
        self._limits = limits
        self._serving = Serving()
        self.playing: list[asyncio.Task[None]] = []

    async def open(self, number: int) -> list[Move]:
        """Open a table and its streams; returns its moves."""
        players, tables = [f"p{number}-{seat}" for seat in range(SEATS)], self._engine.tables
        table_id = f"table{number}"
        await tables.prepare(table_id, LONG_MATCH["game"], SEATS, LONG_MATCH["options"], HOUR)
        await tables.open(table_id, [SeatConfig(player, player) for player in players], [b""] * SEATS)
        streams = [self._stream(player, table_id) for player in players]
        await self._serving.wait()
        table = await tables.get(table_id)
        return list(moves_of(table.config, table.state, streams, Random(number)))

    def _stream(self, player: str, table_id: str) -> Stream:
        stream, caller = Stream(self._serving), Caller(player, player, "192.0.2.0/24")
        stream.send(pb.PlayTableRequest(watch=pb.WatchTableRequest(table_id=table_id)).SerializeToString())
        call = Call(caller, Admission(caller, self._limits), stream)
        self.playing.append(asyncio.create_task(self._servicer.PlayTable(None, call)))
        return stream

    async def play(self, moves: Sequence[Move], at_once: int) -> None:
        """Play moves, so many at once, which must be of different tables."""
        for start in range(0, len(moves), at_once):
            for move in moves[start : start + at_once]:
                move.stream.send(move.request, move.answer)
            await self._serving.wait()

    async def check(self, last: Sequence[Move]) -> None:
        """Check that each table has taken its last move; raises RuntimeError."""
        for number, move in enumerate(last):
            if (found := (await self._engine.tables.get(f"table{number}")).state.sequence) != move.sequence:
                raise RuntimeError(f"table {number} has {found} entries instead of {move.sequence}")


def count_instructions(*, is_on: bool) -> None:
    """Start or stop the counter of callgrind, below which this process runs; raises CalledProcessError."""
    command = ["vgdb", f"--pid={os.getpid()}", "instrumentation", "on" if is_on else "off"]
    control = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    # Valgrind obeys while this process computes; a waiting one would have to be traced, which containers may forbid.
    while control.poll() is None:
        pass
    if control.returncode:
        raise subprocess.CalledProcessError(control.returncode, command)


async def play(settings: EngineSettings, at_once: int) -> int:
    """Play all tables, the second part of the moves while callgrind counts; returns 0."""
    database, limits = open_database(settings.database), limits_of(settings, time.monotonic_ns)
    scoring: Any = None  # No game ends.
    logger = configure_logs("engine", settings.log_level)
    engine = assemble(settings, database, scoring, seed_source("moves"), now_milliseconds, limits.network, logger)
    await engine.clock.measure()
    committing = asyncio.create_task(engine.store.commits.run())
    links = links_by(Ed25519PrivateKey.generate(), 1, engine.clock)
    driver = Driver(engine, EngineServicer(engine.tables, links, engine.clock, engine.metrics), limits)
    tables = [await driver.open(number) for number in range(TABLES)]
    moves = [move for each in zip(*tables, strict=True) for move in each]
    await driver.play(moves[: TABLES * WARM_UP_MOVES], at_once)
    count_instructions(is_on=True)
    await driver.play(moves[TABLES * WARM_UP_MOVES :], at_once)
    count_instructions(is_on=False)
    await driver.check(moves[-TABLES:])
    await end_tasks([*driver.playing, committing])
    await database.close()
    return 0


def main(database: str, at_once: str) -> int:
    """Play on a migrated SQLite database with so many moves under way."""
    unused = Path("unused")
    settings = EngineSettings(
        database=database,
        lobby_public_key=unused,
        signing_key=unused,
        scoring_control="unused:1",
        log_level="error",
        bot_processes=0,
        table_entries_per_second=0,
        player_calls_per_second=0,
        network_units_per_second=0,
    )
    tune_process(settings.gc_thresholds, settings.scheduling)
    return grpc_server.run(play(settings, int(at_once)))


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
