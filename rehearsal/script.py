"""What is rehearsed: everything starts, people play, engines are replaced one by one, one is killed, people go home."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from rehearsal.cluster import Cluster, Note
from rehearsal.load import Load, door_for_players
from rehearsal.manifests import CannotRehearse, GoneWrong
from rehearsal.options import Options
from rehearsal.plan import Plan
from rehearsal.pods import Pod
from rehearsal.prometheus import Firing, Prometheus, find_prometheus
from rehearsal.report import Act, PodEnd, Story
from rehearsal.site import Secrets
from rehearsal.usage import Meter

ENGINE, DOOR, PLAYERS_PORT = "engine", "door", "grpc"
FACTOR = 20.0
"""So many times shorter are the times of alerts: what wants five minutes shows within 15 seconds."""
CLEARING_SECONDS = 90.0
PROMETHEUS_PORT = 9090


@dataclass(frozen=True, slots=True)
class Done:
    """What was done to the services: which pods were replaced, and which was killed."""

    replaced: tuple[Pod, ...]
    crashed: Pod
    acts: tuple[Act, ...]


@dataclass
class Rehearsal:
    """One rehearsal of a plan, with its Secrets, in a folder."""

    options: Options
    plan: Plan
    secrets: Secrets = field(repr=False)
    authority: Path
    folder: Path
    envoy: Path
    note: Note

    async def story(self) -> Story:
        """Rehearse, and tell what was seen.

        Raises CannotRehearse if it could not begin, and GoneWrong if it could not go on.
        """
        started = time.monotonic()
        cluster = Cluster(
            self.plan, self.secrets, self.folder / "pods", self.envoy, self.note, self.options.names_seconds
        )
        load, meter = Load(self.options.load, self.options.results / "load"), Meter()
        try:
            async with self._watched(cluster) as (prometheus, why_not):
                await self._open(cluster, prometheus)
                opened = time.time()
                await load.begin(self._door(cluster), self.authority)
                metering = asyncio.create_task(meter.run(cluster.pods))
                with begun():
                    done = await self._acts(cluster, load)
                    code, result = await load.result()
                    metering.cancel()
                    firings = await self._cleared(prometheus, opened)
                return Story(
                    command=self.options.command,
                    seconds=time.monotonic() - started,
                    started={one.name: one.replicas for one in self.plan.deployments},
                    load_code=code,
                    load=result,
                    load_began=load.began,
                    acts=done.acts,
                    replaced=tuple(map(end_of, done.replaced)),
                    crashed=done.crashed.name,
                    restarts=_restarts([*cluster.pods, *cluster.gone], done.crashed),
                    uses=tuple(meter.result([*cluster.gone, *cluster.pods])),
                    firings=firings,
                    prometheus=why_not,
                    factor=FACTOR,
                )
        finally:
            await load.abandon()
            await cluster.stop()

    async def _open(self, cluster: Cluster, prometheus: Prometheus | None) -> None:
        """Start everything, and wait until it can be played at and looked at."""
        began = time.monotonic()
        await cluster.start()
        self.note(f"everything is ready after {time.monotonic() - began:.0f} seconds")
        if prometheus is not None:
            await prometheus.start(self.plan.rules, cluster.pods)

    def _door(self, cluster: Cluster) -> str:
        ports = next(one.pod.ports for one in self.plan.deployments if one.name == DOOR)
        return door_for_players(cluster.resolver, ports[PLAYERS_PORT])

    async def _acts(self, cluster: Cluster, load: Load) -> Done:
        """Everything that is done to the services, while people play."""
        await asyncio.sleep(max(load.began - time.time(), 0))
        old: list[Pod] = []
        acts = []
        for name in self.options.replaced:
            await asyncio.sleep(self.options.settling_seconds)
            began = time.time()
            old += await cluster.replace(name)
            acts.append(self._done(f"replacing every {name}", began))
        await asyncio.sleep(self.options.settling_seconds)
        began, victim = time.time(), cluster.of(ENGINE)[0]
        self.note(f"{victim.name} is killed")
        await cluster.crash(victim, self.options.backoff_seconds)
        return Done(tuple(old), victim, (*acts, self._done(f"killing {victim.name}", began)))

    def _done(self, name: str, began: float) -> Act:
        self.note(f"{name} took {time.time() - began:.0f} seconds")
        return Act(name, began, time.time())

    @asynccontextmanager
    async def _watched(self, cluster: Cluster) -> AsyncIterator[tuple[Prometheus | None, str]]:
        """Prometheus, if there is one, told which pods there are for as long as the body takes."""
        program = None if self.options.is_short else find_prometheus()
        if program is None:
            yield None, "not looked at: " + ("a short rehearsal" if self.options.is_short else "no Prometheus is here")
            return
        address = f"{cluster.resolver.rpartition(':')[0]}:{PROMETHEUS_PORT}"
        prometheus = Prometheus(program, self.folder / "prometheus", address, self.plan.monitors, FACTOR)
        telling = asyncio.create_task(_tell(prometheus, cluster))
        try:
            yield prometheus, "Prometheus with the overlay's targets and rules"
        finally:
            telling.cancel()
            await prometheus.stop()

    async def _cleared(self, prometheus: Prometheus | None, since: float) -> tuple[Firing, ...] | None:
        """All alerts that fired, once none does any more or time is up; None without Prometheus."""
        if prometheus is None:
            return None
        deadline = time.time() + CLEARING_SECONDS
        while True:
            found = await prometheus.firings(since, time.time())
            if all(one.until is not None for one in found) or time.time() > deadline:
                return tuple(found)
            await asyncio.sleep(1)


@contextmanager
def begun() -> Iterator[None]:
    """From here on it is the services' fault, and not that of what is missing, if it does not go on."""
    try:
        yield
    except (CannotRehearse, OSError) as fault:
        raise GoneWrong(str(fault)) from fault


async def _tell(prometheus: Prometheus, cluster: Cluster) -> None:
    """Tell Prometheus of pods that come and go, as its operator does."""
    known: list[Pod] = []
    while True:
        if prometheus.is_running and known != cluster.pods:
            known = list(cluster.pods)
            prometheus.tell(known)
        await asyncio.sleep(0.5)


def end_of(pod: Pod) -> PodEnd:
    """How a pod ended that was told to."""
    codes = {one.container.name: one.ended_with for one in pod.containers if not one.was_killed}
    return PodEnd(pod.name, len(codes) == len(pod.containers), {name: code for name, code in codes.items() if code})


def _restarts(pods: list[Pod], crashed: Pod) -> dict[str, int]:
    counted = {pod.name: sum(one.restarts for one in pod.containers) for pod in pods}
    return {name: count - (name == crashed.name) for name, count in counted.items()}
