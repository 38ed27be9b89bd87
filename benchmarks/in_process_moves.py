"""Moves of an engine on SQLite in one process, without a transport, while callgrind counts their instructions.

`python -m benchmarks.in_process_moves DATABASE MOVES_AT_ONCE grpc|websocket`, below valgrind: see instructions.py.

Of the counted instructions, those of the players are 5,000 a move, and 6,000 for each step from one group of moves at
once to the next. So requests are encoded before the counter starts, and no task waits for answers.
"""

import asyncio
import gc
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from benchmarks.in_process_streams import STREAMS, Player, Serving, Streams
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
from croupier.runtime.admission.limits import limits_of
from croupier.runtime.database.database import open_database
from croupier.runtime.identity.links import links_by
from croupier.runtime.observation.logs import Logger, configure_logs
from croupier.runtime.server import grpc_server
from croupier.runtime.server.service import now_milliseconds
from croupier.runtime.server.tasks import end_tasks
from croupier.runtime.server.tuning import tune_process
from croupier_api.v1 import engine_pb2 as pb

TABLES = 25
WARM_UP_MOVES, MOVES = 8, 20
"""The moves of each table before the counter starts, and while it counts."""
WRITING_STEPS = 3
"""The steps of the event loop in which streams write the messages of requests that are finished."""
HOUR = ClockConfig(3_600_000, 0, 0)


class Move(NamedTuple):
    """A request of a player as it is on the wire, its answer, and the sequence of the table after it."""

    player: Player
    wired: bytes
    answer: bytes
    sequence: int


def moves_of(config: TableConfig, table: TableState, players: Sequence[Player], random: Random) -> Iterator[Move]:
    """Yield random moves of a table, computed by the rules alone."""
    for number in range(WARM_UP_MOVES + MOVES):
        seat = table.seats_to_act[0]
        action = random_of(table.legal_actions(seat), random.randrange)
        answer = encode_acceptance(str(number), table.sequence + 1)
        table = advance(config, table, table.at, SeatActed(seat, action))[-1].after
        submitted = pb.SubmitActionRequest(request_id=str(number), action=encode_action(action))
        request = pb.PlayTableRequest(action=submitted).SerializeToString()
        yield Move(players[seat], players[seat].wired(request), answer, table.sequence)


class Driver:
    """Opens tables with a stream for each seat, and plays."""

    def __init__(self, engine: Engine, streams: Streams) -> None:
        self._engine = engine
        self._streams = streams
        self._serving = Serving()

    async def open(self, number: int) -> list[Move]:
        """Open a table and its streams; returns its moves."""
        names, tables = [f"p{number}-{seat}" for seat in range(SEATS)], self._engine.tables
        table_id = f"table{number}"
        await tables.prepare(table_id, LONG_MATCH["game"], SEATS, LONG_MATCH["options"], HOUR)
        await tables.open(table_id, [SeatConfig(name, name) for name in names], [b""] * SEATS)
        players = [self._streams.open(self._serving, name, table_id) for name in names]
        while self._serving.unfinished:
            await asyncio.sleep(0)
        table = await tables.get(table_id)
        return list(moves_of(table.config, table.state, players, Random(number)))

    async def play(self, moves: Sequence[Move], at_once: int) -> None:
        """Play moves, so many at once, which must be of different tables."""
        batches = iter([moves[start : start + at_once] for start in range(0, len(moves), at_once)])
        played = asyncio.Event()

        def play_next() -> None:
            if (batch := next(batches, None)) is None:
                played.set()
                return
            for move in batch:
                move.player.send(move.wired, move.answer)

        self._serving.then = play_next
        play_next()
        await played.wait()
        for _ in range(WRITING_STEPS):
            await asyncio.sleep(0)

    async def check(self, last: Sequence[Move]) -> None:
        """Check that each table has taken its last move; raises RuntimeError."""
        for number, move in enumerate(last):
            if (found := (await self._engine.tables.get(f"table{number}")).state.sequence) != move.sequence:
                raise RuntimeError(f"table {number} has {found} entries instead of {move.sequence}")


def count_instructions(is_on: bool, /) -> None:
    """Start or stop the counter of callgrind, below which this process runs; raises CalledProcessError."""
    command = ["vgdb", f"--pid={os.getpid()}", "instrumentation", "on" if is_on else "off"]
    control = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    # Valgrind obeys while this process computes; a waiting one would have to be traced, which containers may forbid.
    while control.poll() is None:
        pass
    if control.returncode:
        raise subprocess.CalledProcessError(control.returncode, command)


async def play(
    settings: EngineSettings, logger: Logger, at_once: int, transport: str, count: Callable[[bool], None]
) -> int:
    """Play all tables, the second part of the moves while `count` is on; returns 0."""
    database, limits = open_database(settings.database), limits_of(settings, time.monotonic_ns)
    scoring: Any = None  # No game ends.
    engine = assemble(settings, database, scoring, seed_source("moves"), now_milliseconds, limits.network, logger)
    await engine.clock.measure()
    committing = asyncio.create_task(engine.store.commits.run())
    links = links_by(Ed25519PrivateKey.generate(), 1, engine.clock)
    streams = STREAMS[transport](EngineServicer(engine.tables, links, engine.clock, engine.metrics), limits, logger)
    driver = Driver(engine, streams)
    tables = [await driver.open(number) for number in range(TABLES)]
    moves = [move for each in zip(*tables, strict=True) for move in each]
    await driver.play(moves[: TABLES * WARM_UP_MOVES], at_once)
    # Otherwise a pass over all objects is counted or not by chance: 10,000 instructions a move.
    gc.collect()
    count(True)
    await driver.play(moves[TABLES * WARM_UP_MOVES :], at_once)
    count(False)
    await driver.check(moves[-TABLES:])
    await end_tasks([*streams.playing, committing])
    await database.close()
    return 0


def settings_of(database: str) -> EngineSettings:
    """Return the settings of an engine without limits on a database."""
    unused = Path("unused")
    return EngineSettings(
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


def main(database: str, at_once: str, transport: str) -> int:
    """Play on a migrated SQLite database with so many moves under way."""
    settings = settings_of(database)
    logger = configure_logs("engine", settings.log_level)
    tune_process(settings.gc_thresholds, settings.scheduling)
    return grpc_server.run(play(settings, logger, int(at_once), transport, count_instructions))


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
