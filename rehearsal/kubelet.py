"""One container of a pod as the kubelet keeps it: started, probed, started again when it ends, ended in order."""

import asyncio
import signal
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from rehearsal.plan import Container, Probe
from rehearsal.probes import answers
from rehearsal.processes import ended, signal_session, spawned
from rehearsal.site import Secrets, Site

FIRST_BACKOFF_SECONDS = 10.0
LONGEST_BACKOFF_SECONDS = 300.0


class RunningContainer:
    """A container while its pod lives; `changed` is called when it gets ready, or is not any more."""

    def __init__(self, container: Container, site: Site, secrets: Secrets, changed: Callable[[], None]) -> None:
        self.container = container
        self.is_ready = False
        self.restarts = 0
        self.ended_with: int | None = None
        """The exit code with which it ended when it was told to."""
        self.was_killed = False
        """Whether it had to be, when the time to end by itself was over."""
        self.sessions: list[int] = []
        self._site, self._changed = site, changed
        self._command = site.command(container)
        self._environment: Mapping[str, str] = site.environment(container, secrets)
        self._process: asyncio.subprocess.Process | None = None
        self._is_ending = False
        self._backoff_seconds = 0.0

    async def keep(self) -> None:
        """Run it, and run it again whenever it ends, until it is told to."""
        while not self._is_ending:
            process = await self._start()
            probing = asyncio.create_task(self._probe(process))
            try:
                code = await process.wait()
            finally:
                probing.cancel()
                self._tell(is_ready=False)
            if self._is_ending:
                self.ended_with = code
                return
            self.restarts += 1
            await asyncio.sleep(self._backoff_seconds)
            self._backoff_seconds = self._next_backoff_seconds()

    def _next_backoff_seconds(self) -> float:
        return min(max(2 * self._backoff_seconds, FIRST_BACKOFF_SECONDS), LONGEST_BACKOFF_SECONDS)

    @property
    def log(self) -> Path:
        """Where it writes what it says."""
        return self._site.folder / f"{self.container.name}.log"

    async def _start(self) -> asyncio.subprocess.Process:
        self._process = await spawned(self._command, self._environment, self.log, self._site.folder)
        self.sessions.append(self._process.pid)
        return self._process

    async def _probe(self, process: asyncio.subprocess.Process) -> None:
        """Ask whether it has started, and from then on whether it is ready and alive."""
        if self.container.startup is not None and not await self._has_started(self.container.startup):
            signal_session(process, signal.SIGKILL)
            return
        asking = [self._ask_liveness(process, self.container.liveness), self._ask_readiness(self.container.readiness)]
        await asyncio.gather(*asking)

    async def _has_started(self, probe: Probe) -> bool:
        for _ in range(probe.failures):
            if await self._says_yes(probe):
                return True
            await asyncio.sleep(probe.period_seconds)
        return False

    async def _ask_readiness(self, probe: Probe | None) -> None:
        failures = 0
        while probe is not None:
            failures = 0 if await self._says_yes(probe) else failures + 1
            if failures in (0, probe.failures):
                self._tell(is_ready=failures == 0)
            await asyncio.sleep(probe.period_seconds)
        self._tell(is_ready=True)

    async def _ask_liveness(self, process: asyncio.subprocess.Process, probe: Probe | None) -> None:
        failures = 0
        while probe is not None and failures < probe.failures:
            await asyncio.sleep(probe.period_seconds)
            failures = 0 if await self._says_yes(probe) else failures + 1
        if probe is not None:
            signal_session(process, signal.SIGKILL)

    async def _says_yes(self, probe: Probe) -> bool:
        command = self._site.probe_command(self.container, probe.what)
        return await answers(probe, self._site.address, command, self._environment)

    def _tell(self, *, is_ready: bool) -> None:
        if is_ready != self.is_ready:
            self.is_ready = is_ready
            self._changed()

    def crash(self, backoff_seconds: float) -> None:
        """Kill it without warning; it is started again after so many seconds."""
        self._backoff_seconds = backoff_seconds
        self._signal(signal.SIGKILL)

    async def end(self, grace_seconds: float, pre_stop_seconds: float) -> None:
        """Let it serve on for its preStop, ask it to end, and kill it when the grace is over."""
        self._is_ending = True
        until = time.monotonic() + grace_seconds
        if self._process is None:
            return
        if not await ended(self._process, min(pre_stop_seconds, grace_seconds)):
            # The program alone: its children are its own business.
            self._process.send_signal(signal.SIGTERM)
        if not await ended(self._process, until - time.monotonic()):
            self.was_killed = True
        self._signal(signal.SIGKILL)

    def _signal(self, number: int) -> None:
        if self._process is not None:
            signal_session(self._process, number)

    async def kill(self) -> None:
        """End it at once."""
        self._is_ending = True
        self._signal(signal.SIGKILL)
        if self._process is not None:
            await self._process.wait()
