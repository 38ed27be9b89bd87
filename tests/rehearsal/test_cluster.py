"""Pods come and go as a cluster has them: names for those that are ready, and none goes before the next is there."""

import asyncio
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from rehearsal import cluster as module
from rehearsal.cluster import Cluster
from rehearsal.manifests import CannotRehearse
from rehearsal.plan import Container, Deployment, Plan, PodPlan, Probe
from rehearsal.report import PodEnd
from rehearsal.script import end_of
from tests.rehearsal.test_kubelet import listening

SECONDS = 60.0


def once(program: str) -> Container:
    return Container("once", "", ("python", "-c", program), (), {}, {})


def plan(*jobs: str) -> Plan:
    """Two pods that listen, after jobs that run these programs."""
    pod = PodPlan("x", {}, {}, (once("print('first')"),), (listening(),), {})
    return Plan(
        jobs=tuple(PodPlan("job", {}, {}, (), (once(program),), {}) for program in jobs),
        deployments=(Deployment("x", replicas=2, min_ready_seconds=0.05, pod=pod),),
        names={"x": "x"},
    )


@asynccontextmanager
async def running(what: Plan, folder: Path, notes: list[str]) -> AsyncIterator[Cluster]:
    """A cluster that is ready."""
    cluster = Cluster(what, {}, folder, Path("/opt/envoy"), notes.append, names_seconds=0)
    try:
        async with asyncio.timeout(SECONDS):
            await cluster.start()
            yield cluster
    finally:
        await cluster.stop()


def answering(addresses: Sequence[str], cluster: Cluster) -> bool:
    """Whether those whom a name has really listen."""
    (probe,) = {pod.plan.containers[0].readiness for pod in cluster.pods}
    assert isinstance(probe, Probe)
    for address in addresses:
        socket.create_connection((address, probe.port), 5).close()
    return True


async def test_a_name_has_all_that_are_ready(tmp_path: Path) -> None:
    notes: list[str] = []
    async with running(plan("pass"), tmp_path, notes) as cluster:
        found = cluster.addresses("x")
        assert found is not None
        assert len(set(found)) == 2
        assert answering(found, cluster)
        assert cluster.addresses("y") is None
    assert notes == ["job-1 is through"]
    assert (tmp_path / "x-1" / "once.log").read_text() == "first\n"


async def test_replacing_leaves_as_many_as_there_are_to_be(tmp_path: Path) -> None:
    notes: list[str] = []
    async with running(plan(), tmp_path, notes) as cluster:
        before = set(cluster.addresses("x") or ())
        replacing = asyncio.create_task(cluster.replace("x"))
        while not replacing.done():
            assert len(cluster.addresses("x") or ()) in (2, 3)
            await asyncio.sleep(0.01)
        assert [pod.name for pod in await replacing] == ["x-1", "x-2"]
        assert [pod.name for pod in cluster.pods] == ["x-3", "x-4"]
        after = set(cluster.addresses("x") or ())
        assert (len(after), after & before) == (2, set())
        # What they end with is no 0, as if they had failed.
        assert [end_of(pod) for pod in cluster.gone] == [
            PodEnd(name, ended_by_itself=True, failed={"one": 7}) for name in ("x-1", "x-2")
        ]
    assert notes == ["x-3 is ready, x-1 goes", "x-4 is ready, x-2 goes"]


async def test_one_that_is_killed_is_away_until_it_is_back(tmp_path: Path) -> None:
    async with running(plan(), tmp_path, []) as cluster:
        first, second = cluster.pods
        crashing = asyncio.create_task(cluster.crash(first, backoff_seconds=0.1))
        while len(cluster.addresses("x") or ()) == 2:  # noqa: ASYNC110 - every moment counts
            await asyncio.sleep(0.01)
        assert cluster.addresses("x") == [second.site.address]
        await crashing
        assert len(cluster.addresses("x") or ()) == 2
        assert first.containers[0].restarts == 1


async def test_what_cannot_start_ends_the_rehearsal(tmp_path: Path) -> None:
    with pytest.raises(CannotRehearse, match=r"once of job-1 ended with 1: .*no table for you"):
        async with running(plan("raise SystemExit('no table for you')"), tmp_path, []):
            raise AssertionError("it must not start")


async def test_what_does_not_get_ready_is_told_with_what_it_said_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "START_SECONDS", 0.01)
    line = r"not ready after 0.01 seconds: one of x-1, started [01] times, said last: .*; one of x-2, started"
    with pytest.raises(CannotRehearse, match=line):
        async with running(plan(), tmp_path, []):
            raise AssertionError("it must not start")
