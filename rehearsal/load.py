"""The load test against the rehearsed door, as a process of its own."""

import asyncio
import json
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from croupier.runtime.leash import leashed
from loadtest.scenarios import SCENARIOS
from loadtest.swarm.order import Order
from rehearsal.manifests import CannotRehearse
from rehearsal.processes import ended, signal_session
from rehearsal.provisions import PLAYERS_NAME

SCENARIO = "upheaval"
NOT_RUN = 2
BEGIN_SECONDS = 120.0
END_SECONDS = 900.0
"""For the last games and the referee; they have limits of their own, which are shorter."""
ROOT = Path(__file__).parents[1]


@dataclass(frozen=True, slots=True)
class Wanted:
    """How much load there is to be."""

    tables: int
    seconds: float
    seed: int
    mix: str = ""
    manners: str = ""
    """Who plays how, if not as the scenario says."""

    @property
    def arrival_seconds(self) -> float:
        """How long people take to come, before the seconds count."""
        order = Order(SCENARIO, self.tables, self.seconds, self.seed, "", "", "")
        return SCENARIOS[SCENARIO].arrival_seconds(sum(order.people().values()))


@dataclass
class Load:
    """The load test while it runs."""

    wanted: Wanted
    folder: Path
    began: float = 0.0
    """When its seconds begin to count, in seconds since 1970 UTC."""
    _process: asyncio.subprocess.Process | None = None
    _said: list[str] = field(default_factory=list)
    _listening: asyncio.Task[None] | None = None

    @property
    def _result_file(self) -> Path:
        return self.folder / "result.json"

    async def begin(self, door: str, authority: Path) -> None:
        """Let people come; raises CannotRehearse if they are not let in."""
        wanted = self.wanted
        self._result_file.unlink(missing_ok=True)
        flags = [f"--tables={wanted.tables}", f"--seconds={wanted.seconds:g}", f"--seed={wanted.seed}"]
        way = [f"--host={door}", f"--ca-file={authority}", f"--results={self.folder.absolute()}"]
        who = [f"--{name}={value}" for name in ("mix", "manners") if (value := getattr(wanted, name))]
        self._process = await asyncio.create_subprocess_exec(
            *leashed([sys.executable, "-m", "loadtest", SCENARIO, *flags, *way, *who]),
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        begun = asyncio.Event()
        self._listening = asyncio.create_task(self._listen(begun))
        try:
            async with asyncio.timeout(BEGIN_SECONDS):
                await begun.wait()
        except TimeoutError:
            self._said.append(f"nobody played after {BEGIN_SECONDS:g} seconds")
        if not self.began:
            raise CannotRehearse(f"the load test did not begin: {' '.join(self._said)}")

    async def _listen(self, begun: asyncio.Event) -> None:
        assert self._process is not None
        assert self._process.stderr is not None
        async for line in self._process.stderr:
            text = line.decode(errors="replace").strip()
            self._said = [*self._said[-20:], text]
            if text.startswith(f"{SCENARIO}: "):
                self.began = time.time() + self.wanted.arrival_seconds
                begun.set()
        begun.set()

    async def result(self) -> tuple[int, Mapping[str, Any]]:
        """Wait for its end; gives its exit code and what it found. Raises CannotRehearse if it found nothing."""
        assert self._process is not None
        if not await ended(self._process, self.wanted.seconds + END_SECONDS):
            raise CannotRehearse(f"the load test did not end within {END_SECONDS:g} seconds after its last")
        code = self._process.returncode
        assert code is not None
        if code == NOT_RUN or not self._result_file.exists():
            raise CannotRehearse(f"the load test ended with {code}: {' '.join(self._said)}")
        found: Mapping[str, Any] = json.loads(self._result_file.read_text())
        return code, found

    async def abandon(self) -> None:
        """End it at once; its children end with it."""
        if self._process is not None:
            signal_session(self._process, signal.SIGKILL)
            await self._process.wait()
        if self._listening is not None:
            await self._listening


def door_for_players(resolver: str, port: int) -> str:
    """What players call the load balancer before the doors, as gRPC takes it."""
    return f"dns://{resolver}/{PLAYERS_NAME}:{port}"
