"""Pods: those for the start run first, one after the other, then all containers stay."""

import asyncio
import signal
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from rehearsal.kubelet import RunningContainer
from rehearsal.manifests import CannotRehearse
from rehearsal.plan import Container, PodPlan
from rehearsal.processes import signal_session, spawned
from rehearsal.site import Secrets, Site

LONGEST_LAST_LINES = 600


class Pod:
    """A pod of a kind at its site; `changed` is called whenever what it says of itself has changed."""

    def __init__(self, name: str, plan: PodPlan, site: Site, secrets: Secrets, changed: Callable[[], None]) -> None:
        self.name, self.plan, self.site = name, plan, site
        self.is_terminating = False
        self.ready_since: float | None = None
        self._secrets, self._told = secrets, changed
        self._start_process: asyncio.subprocess.Process | None = None
        self.containers = [RunningContainer(one, site, secrets, self._changed) for one in plan.containers]

    @property
    def is_serving(self) -> bool:
        """Whether names lead to it."""
        return self.ready_since is not None and not self.is_terminating

    @property
    def sessions(self) -> Sequence[int]:
        """The sessions in which its processes are, those of earlier starts among them."""
        return [session for one in self.containers for session in one.sessions]

    async def live(self) -> None:
        """Start, and stay until it is ended; raises CannotRehearse if what runs before does not succeed."""
        self.site.folder.mkdir(parents=True)
        self.site.make_volumes(self.plan, self._secrets)
        for container in self.plan.initial:
            await self.run_once(container)
        await asyncio.gather(*(one.keep() for one in self.containers))

    async def run_once(self, container: Container) -> None:
        """Run a container to its end; raises CannotRehearse with what it said last if it fails."""
        log = self.site.folder / f"{container.name}.log"
        environment = self.site.environment(container, self._secrets)
        self._start_process = await spawned(self.site.command(container), environment, log, self.site.folder)
        code = await self._start_process.wait()
        if code != 0:
            raise CannotRehearse(f"{container.name} of {self.name} ended with {code}: {_last_lines(log)}")

    def _changed(self) -> None:
        is_ready = all(one.is_ready for one in self.containers)
        if is_ready != (self.ready_since is not None):
            self.ready_since = time.monotonic() if is_ready else None
            self._told()

    def why_not_ready(self) -> str:
        """What those of its containers said last that are not ready."""
        waiting = [one for one in self.containers if not one.is_ready]
        return "; ".join(
            f"{one.container.name} of {self.name}, started {len(one.sessions)} times, said last: {_last_lines(one.log)}"
            for one in waiting
        )

    async def end(self) -> None:
        """End all its containers, each in its own manner and all within the grace of the pod."""
        self.is_terminating = True
        self._told()
        grace = self.plan.grace_seconds
        await asyncio.gather(*(one.end(grace, one.container.pre_stop_seconds) for one in self.containers))

    async def kill(self) -> None:
        """End everything of it at once."""
        self.is_terminating = True
        if self._start_process is not None:
            signal_session(self._start_process, signal.SIGKILL)
            await self._start_process.wait()
        await asyncio.gather(*(one.kill() for one in self.containers))


def _last_lines(log: Path) -> str:
    said = log.read_text(errors="replace") if log.exists() else ""
    return " ".join(said[-LONGEST_LAST_LINES:].split()) or "nothing"
