"""The load test against real services: clean ones, ones with a defect, and ones that are not there."""

import asyncio
import re
import socket
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from croupier.cli.supervisor import Manner, running_services

DEADLINE_SECONDS = 50.0
ROOT = Path(__file__).parents[2]


class Outcome(NamedTuple):
    """How a run of the load test ended."""

    code: int
    text: str

    @property
    def violations(self) -> set[str]:
        """The names in the report's line."""
        line = next(line for line in self.text.splitlines() if line.startswith("violations"))
        return set(re.findall(r"([a-z_]+) \d+", line))

    def number(self, pattern: str) -> int:
        found = re.search(pattern, self.text)
        assert found is not None, self.text
        return int(found[1])


async def load(*flags: str) -> Outcome:
    """Run the load test; a failing assertion shows its seed and report."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "loadtest", *flags),
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        async with asyncio.timeout(DEADLINE_SECONDS):
            output, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert process.returncode is not None
    return Outcome(process.returncode, output.decode())


async def load_with_defect(folder: Path, defect: str, flags: Sequence[str]) -> Outcome:
    command = (sys.executable, "-m", "tests.loadtest.broken_engine", defect)
    async with running_services(folder, manner=Manner(command=command)) as services:
        where = [f"--{name}={addresses['listen']}" for name, addresses in services.addresses.items()]
        return await load(*where, *flags)


async def test_a_short_run_on_clean_services_finds_nothing() -> None:
    run = await load("--tables=3", "--seconds=4", "--probed=0.2")
    assert run.code == 0, run.text
    assert "0 violations" in run.text
    assert run.number(r"(\d+) finished") >= 3
    assert run.number(r"(\d+) views") > run.number(r"(\d+) replays") > 0
    assert run.number(r"(\d+) on purpose") > 20
    assert run.number(r"(\d+) score sheets") == run.number(r"(\d+) replays")
    assert "failed" not in run.text


@pytest.mark.parametrize(
    ("defect", "found"),
    [
        ("leak", "hidden_card_seen"),
        ("accept", "illegal_accepted"),
        ("lose", "acknowledged_lost"),
        ("skip", "sequence_gap"),
        ("hush", "stream_silent"),
    ],
)
async def test_a_defect_of_the_engine_is_found(tmp_path: Path, defect: str, found: str) -> None:
    run = await load_with_defect(tmp_path, defect, ["--tables=1", "--seconds=1", "--probed=0.5", "--patience=2"])
    assert run.code == 1, run.text
    assert found in run.violations, run.text
    assert re.search(rf"first {found} at table \S+, sequence \d+: ", run.text), run.text


async def test_services_that_are_not_there_are_told_in_one_line() -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{nobody.getsockname()[1]}"
        run = await load(f"--host={address}", "--tables=1", "--seconds=1")
    assert run.code == 2
    seed, fault = run.text.splitlines()
    assert seed.startswith("seed")
    assert address in fault
