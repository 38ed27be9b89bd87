"""Containers are kept as the kubelet keeps them: ready by their probes, started again, ended within their grace."""

import asyncio
import os
import re
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from croupier.runtime.addresses import free_port
from rehearsal.kubelet import RunningContainer
from rehearsal.manifests import CannotRehearse
from rehearsal.plan import Container, PodPlan, Probe
from rehearsal.pods import Pod
from rehearsal.site import Site

SECONDS = 60.0
LISTENS = """
import signal, socket, sys
server = socket.create_server((sys.argv[1].split(":")[0], int(sys.argv[1].split(":")[1])))
signal.signal(signal.SIGTERM, lambda *_: sys.exit(7) if sys.argv[2] == "ends" else None)
while True:
    signal.pause()
"""


def listening(how: str = "ends") -> Container:
    """A container that is ready when it listens."""
    number = free_port()
    return Container(
        name="one",
        image="",
        command=("python", "-c", LISTENS),
        arguments=(f"0.0.0.0:{number}", how),
        environment={},
        mounts={},
        readiness=Probe("tcpSocket", number, ("",), 0.05, 2, 1),
    )


@dataclass
class Kept:
    """A container that is kept, and everything that changes about it."""

    container: RunningContainer
    changes: asyncio.Event = field(default_factory=asyncio.Event)

    async def until(self, is_so: Callable[[], bool]) -> None:
        async with asyncio.timeout(SECONDS):
            while not is_so():
                self.changes.clear()
                await self.changes.wait()


@asynccontextmanager
async def kept(container: Container, folder: Path) -> AsyncIterator[Kept]:
    changes = asyncio.Event()
    site = Site("127.0.0.1", folder, "127.0.0.1:1", Path("/opt/envoy"))
    one = Kept(RunningContainer(container, site, {}, changes.set), changes)
    living = asyncio.create_task(one.container.keep())
    try:
        yield one
    finally:
        await one.container.kill()
        await living


async def test_it_is_ready_when_its_probe_says_so_and_ends_when_it_is_told(tmp_path: Path) -> None:
    async with kept(listening(), tmp_path) as one:
        await one.until(lambda: one.container.is_ready)
        await one.container.end(grace_seconds=SECONDS, pre_stop_seconds=0)
        assert not one.container.was_killed
        await one.until(lambda: not one.container.is_ready)
    assert (one.container.ended_with, one.container.restarts) == (7, 0)


async def test_one_that_does_not_end_is_killed_when_its_grace_is_over(tmp_path: Path) -> None:
    async with kept(listening("stays"), tmp_path) as one:
        await one.until(lambda: one.container.is_ready)
        await one.container.end(grace_seconds=0.3, pre_stop_seconds=0)
        assert one.container.was_killed
    assert one.container.ended_with == -signal.SIGKILL


async def test_it_serves_on_for_its_pre_stop(tmp_path: Path) -> None:
    async with kept(listening(), tmp_path) as one:
        await one.until(lambda: one.container.is_ready)
        ending = asyncio.create_task(one.container.end(grace_seconds=SECONDS, pre_stop_seconds=SECONDS))
        await asyncio.sleep(0.3)
        assert one.container.is_ready
        ending.cancel()


async def test_one_that_crashes_is_not_ready_and_comes_back(tmp_path: Path) -> None:
    async with kept(listening(), tmp_path) as one:
        await one.until(lambda: one.container.is_ready)
        one.container.crash(backoff_seconds=0)
        await one.until(lambda: not one.container.is_ready)
        await one.until(lambda: one.container.is_ready)
        assert (one.container.restarts, len(one.container.sessions)) == (1, 2)


async def test_one_that_is_not_alive_is_started_again(tmp_path: Path) -> None:
    nobody = Probe("tcpSocket", free_port(), ("",), 0.05, 2, 1)
    async with kept(replace(listening(), liveness=nobody), tmp_path) as one:
        await one.until(lambda: one.container.restarts > 0 or one.container.is_ready)
        await one.until(lambda: one.container.restarts > 0)


async def test_one_that_does_not_start_in_time_is_started_again(tmp_path: Path) -> None:
    nobody = Probe("exec", 0, ("false",), 0.05, 2, 1)
    async with kept(replace(listening(), startup=nobody), tmp_path) as one:
        async with asyncio.timeout(SECONDS):
            while not one.container.restarts:  # noqa: ASYNC110 - it never gets ready, of which it would tell
                await asyncio.sleep(0.02)
        assert not one.container.is_ready


async def test_variables_of_the_manifest_reach_the_program(tmp_path: Path) -> None:
    command = ("python", "-c", "import os; print(os.environ['WHO'])")
    plan = PodPlan("job", {}, {}, (), (), {})
    pod = Pod("job-1", plan, Site("127.0.0.1", tmp_path, "127.0.0.1:1", Path("/x")), {}, lambda: None)
    once = replace(listening(), name="once", command=command, arguments=(), environment={"WHO": "somebody"})
    await pod.run_once(once)
    assert (tmp_path / "once.log").read_text() == "somebody\n"
    with pytest.raises(CannotRehearse, match=r"once of job-1 ended with 1: .*KeyError: 'WHO'"):
        await pod.run_once(replace(once, environment={}))


async def test_nothing_of_a_pod_outlives_it(tmp_path: Path) -> None:
    plan = PodPlan("x", {}, {}, (), (listening("stays"),), {"temporary": ()})
    serves = asyncio.Event()
    pod = Pod("x-1", plan, Site("127.0.0.1", tmp_path / "x-1", "127.0.0.1:1", Path("/x")), {}, serves.set)
    living = asyncio.create_task(pod.live())
    await asyncio.wait_for(serves.wait(), SECONDS)
    (session,) = pod.sessions
    await pod.kill()
    await living
    with pytest.raises(ProcessLookupError):
        os.kill(session, 0)


async def test_a_pod_says_why_it_is_not_ready(tmp_path: Path) -> None:
    fails = replace(listening(), command=("python", "-c", "raise SystemExit('no key')"), arguments=())
    pod = Pod(
        "x-1", PodPlan("x", {}, {}, (), (fails,), {}), Site("", tmp_path / "x-1", "", Path("/x")), {}, lambda: None
    )
    living = asyncio.create_task(pod.live())
    async with asyncio.timeout(SECONDS):
        while not pod.containers[0].restarts:  # noqa: ASYNC110 - it never gets ready, of which it would tell
            await asyncio.sleep(0.02)
    assert re.fullmatch(r"one of x-1, started [12] times, said last: (no key ?)+", pod.why_not_ready())
    await pod.kill()
    living.cancel()
