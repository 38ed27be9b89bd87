"""Runs the load test as people do, from the command line, against services with a defect or without."""

import asyncio
import json
import resource
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from croupier.cli.reach import endpoints_of
from croupier.cli.supervisor import Manner, running_services
from tests.loadtest.broken_services import command_of

ROOT = Path(__file__).parents[2]
RUN_SECONDS = 240.0
RESULTS = "results"


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run of the load test ended, and what it left in its folder."""

    code: int
    said: str
    complained: str
    folder: Path

    @property
    def result(self) -> Mapping[str, Any]:
        """What result.json holds; nothing if there is none."""
        file = self.folder / "result.json"
        found: Mapping[str, Any] = json.loads(file.read_text()) if file.exists() else {}
        return found

    @property
    def named(self) -> frozenset[str]:
        """The invariants that broke, and the limits that were not kept."""
        broken = {one["invariant"] for one in self.result.get("violations", ())}
        return frozenset(broken | {one["name"] for one in self.result.get("checks", ()) if not one["passed"]})

    def __str__(self) -> str:
        return f"exit code {self.code}\n{self.said}\n{self.complained}"


@asynccontextmanager
async def services_with(defect: str, folder: Path) -> AsyncIterator[list[str]]:
    """Services of which one has a defect; gives the flags by which the load test finds them."""
    async with running_services(folder, manner=Manner(command=command_of(defect), grace_seconds=0)) as services:
        found = endpoints_of(services.addresses)
        flags = [f"--lobby={found.lobby}", f"--engine={found.engine}", f"--scoring={found.scoring}"]
        yield flags + [f"--metrics={name}={where['metrics']}" for name, where in services.addresses.items()]


async def run_load_test(arguments: Sequence[str], folder: Path, *, largest_file_bytes: int = 0) -> Outcome:
    """Run `python -m loadtest` with these arguments and a folder for its results, on a disk that is full if told so."""
    results = folder / RESULTS
    command = (sys.executable, "-m", "loadtest", *arguments, f"--results={results}")
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*command, cwd=ROOT, stdout=pipe, stderr=pipe)
    if largest_file_bytes:
        # Soon enough: results are written long after the program has begun.
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (largest_file_bytes, largest_file_bytes))
    try:
        async with asyncio.timeout(RUN_SECONDS):
            said, complained = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return Outcome(process.returncode or 0, said.decode(), complained.decode(), results)


async def run_with(defect: str, arguments: Sequence[str], folder: Path) -> Outcome:
    """Run the load test against services of which one has a defect."""
    async with services_with(defect, folder / "services") as flags:
        return await run_load_test([*arguments, *flags], folder)
