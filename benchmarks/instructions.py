"""Instructions of a move in the engine, counted by callgrind: other load on the machine hardly changes them."""

import asyncio
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from benchmarks.in_process_moves import MOVES, TABLES
from benchmarks.measurement import Row
from benchmarks.python_build import python_build
from croupier.runtime.database.schema_versions import migrate_database
from croupier_client.sockets import GRPC, WEBSOCKET

PROGRAM = "valgrind"
INSTALL = "apt-get install valgrind"
FULL_SPEED, HUMAN_PACE = "full speed", "human pace"
MOVES_AT_ONCE: Mapping[str, int] = {FULL_SPEED: TABLES, HUMAN_PACE: 1}
"""At full speed a commit has a move of each table, at human pace one move."""
RECORDED_BUILD = "CPython 3.11.7 on x86_64, without --enable-optimizations, without --with-lto"
RECORDED: Mapping[tuple[str, str], int] = {
    (GRPC, FULL_SPEED): 378_000,
    (GRPC, HUMAN_PACE): 443_000,
    (WEBSOCKET, FULL_SPEED): 337_000,
    (WEBSOCKET, HUMAN_PACE): 401_000,
}
"""Instructions of a move by transport and pace, with that Python; other builds need up to a ninth more or less."""
TIMEOUT_SECONDS = 600


async def compare() -> list[Row]:
    """Count the instructions of a move for each transport and pace; without valgrind the only row says so."""
    if not shutil.which(PROGRAM):
        return [Row("instructions", "skipped", f"{PROGRAM} is not installed: {INSTALL}")]
    return [row(*variant, await instructions_of_a_move(*variant), python_build()) for variant in RECORDED]


def row(transport: str, pace: str, instructions: float, build: str) -> Row:
    """Return the row of a variant; a ratio only if the recorded figure is of this build of Python."""
    ratios = [instructions / RECORDED[transport, pace]] if build == RECORDED_BUILD else []
    figures = f"{instructions:9,.0f} instructions a move"
    return Row("instructions", f"SQLite, {transport}, {pace}", figures, ratios, "to the recorded")


async def instructions_of_a_move(transport: str, pace: str) -> float:
    """Return the instructions of a move in user space, of all threads; raises RuntimeError, TimeoutError."""
    with tempfile.TemporaryDirectory() as folder:
        database, counted = f"sqlite:///{folder}/engine.db", Path(folder, "callgrind.out")
        await migrate_database(database, ["croupier.engine"])
        await _count(f"--callgrind-out-file={counted}", database, str(MOVES_AT_ONCE[pace]), transport)
        return total(counted.read_text()) / (TABLES * MOVES)


async def _count(to_file: str, *arguments: str) -> None:
    process = await asyncio.create_subprocess_exec(
        *(PROGRAM, "--quiet", "--tool=callgrind", "--instr-atstart=no", to_file),
        *(sys.executable, "-m", "benchmarks.in_process_moves", *arguments),
        # Hashes of texts are the same in every run.
        env={**os.environ, "PYTHONHASHSEED": "0"},
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(TIMEOUT_SECONDS):
            _, errors = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
    if process.returncode:
        raise RuntimeError(f"{PROGRAM} ended with {process.returncode}: {errors.decode(errors='replace')[-2000:]}")


def total(counted: str) -> int:
    """Return the number of instructions in a file of callgrind; raises ValueError if there are none."""
    found = re.search(r"^totals: (\d+)$", counted, re.MULTILINE)
    if not found or not int(found[1]):
        raise ValueError("callgrind has counted no instructions")
    return int(found[1])
