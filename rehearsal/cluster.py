"""The control plane: so many pods of each kind, names for those that are ready, replacement one by one."""

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from secrets import randbelow

from rehearsal.manifests import CannotRehearse
from rehearsal.plan import Deployment, Plan, PodPlan
from rehearsal.pods import Pod
from rehearsal.resolver import PORT, Cached, Resolver
from rehearsal.site import Secrets, Site

START_SECONDS = 240.0
Note = Callable[[str], None]


class Cluster:
    """All pods of a plan, in a network and a folder of their own."""

    def __init__(
        self, plan: Plan, secrets: Secrets, folder: Path, envoy: Path, note: Note, names_seconds: float
    ) -> None:
        """`note` hears in a line what people should know; names may be `names_seconds` old."""
        self.pods: list[Pod] = []
        self.gone: list[Pod] = []
        self._plan, self._secrets, self._folder, self._envoy, self._note = plan, secrets, folder, envoy, note
        self._network = f"127.{64 + randbelow(190)}.{randbelow(256)}"
        self._resolver = Resolver(Cached(self.addresses, names_seconds))
        self._jobs: list[Pod] = []
        self._numbers: Counter[str] = Counter()
        self._lives: set[asyncio.Task[None]] = set()
        self._change = asyncio.Event()
        self._fault: BaseException | None = None

    @property
    def resolver(self) -> str:
        """Where names are told, host:port."""
        return f"{self._network}.1:{PORT}"

    def addresses(self, name: str) -> Sequence[str] | None:
        """The pods behind a name that are ready; None for a name that is none."""
        owner = self._plan.names.get(name)
        return None if owner is None else [pod.site.address for pod in self.of(owner) if pod.is_serving]

    def of(self, owner: str) -> list[Pod]:
        """The pods of a deployment that are not going."""
        return [pod for pod in self.pods if pod.plan.owner == owner and not pod.is_terminating]

    async def start(self) -> None:
        """Start everything at once, as one `kubectl apply` does, and wait until all is ready."""
        await self._resolver.open(self.resolver)
        self._jobs = [self._new_pod(one) for one in self._plan.jobs]
        for job in self._jobs:
            self._keep(self._run_job(job))
        for deployment in self._plan.deployments:
            for _ in range(deployment.replicas):
                self._add(deployment)
        await self._until(lambda: all(len(self._ready(one)) >= one.replicas for one in self._plan.deployments))

    async def _run_job(self, pod: Pod) -> None:
        pod.site.folder.mkdir(parents=True)
        pod.site.make_volumes(pod.plan, self._secrets)
        for container in pod.plan.containers:
            await pod.run_once(container)
        self._note(f"{pod.name} is through")

    def _ready(self, deployment: Deployment) -> list[Pod]:
        return [pod for pod in self.of(deployment.name) if pod.is_serving]

    def _new_pod(self, plan: PodPlan) -> Pod:
        self._numbers[plan.owner] += 1
        name = f"{plan.owner}-{self._numbers[plan.owner]}"
        # The first address is the resolver's.
        address = f"{self._network}.{1 + self._numbers.total()}"
        site = Site(address, self._folder / name, self.resolver, self._envoy)
        return Pod(name, plan, site, self._secrets, self._changed)

    def _add(self, deployment: Deployment) -> Pod:
        pod = self._new_pod(deployment.pod)
        self.pods.append(pod)
        self._keep(pod.live())
        return pod

    def _keep(self, life: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(life)
        self._lives.add(task)
        task.add_done_callback(self._has_ended)

    def _has_ended(self, task: asyncio.Task[None]) -> None:
        self._lives.discard(task)
        if not task.cancelled() and (fault := task.exception()) is not None:
            self._fault = fault
        self._changed()

    def _changed(self) -> None:
        self._change.set()
        self._change = asyncio.Event()

    async def _until(self, is_so: Callable[[], bool]) -> None:
        """Wait; raises CannotRehearse if something could not be started, or it takes too long."""
        try:
            async with asyncio.timeout(START_SECONDS):
                while not is_so():
                    if self._fault is not None:
                        raise self._fault
                    await self._change.wait()
        except TimeoutError:
            waiting = [pod.why_not_ready() for pod in self.pods if not pod.is_serving and not pod.is_terminating]
            raise CannotRehearse(f"not ready after {START_SECONDS:g} seconds: {'; '.join(waiting)}") from None

    async def _until_serving(self, pod: Pod) -> None:
        await self._until(lambda: pod.is_serving)

    async def replace(self, name: str) -> list[Pod]:
        """Replace every pod of a deployment, as a new version of it would; gives the old ones, which have ended."""
        deployment = next(one for one in self._plan.deployments if one.name == name)
        old, endings = self.of(name), []
        for pod in old:
            new = self._add(deployment)
            await self._until_serving(new)
            await asyncio.sleep(deployment.min_ready_seconds)
            self._note(f"{new.name} is ready, {pod.name} goes")
            endings.append(asyncio.create_task(self._end(pod)))
        await asyncio.gather(*endings)
        return old

    async def _end(self, pod: Pod) -> None:
        await pod.end()
        self.pods.remove(pod)
        self.gone.append(pod)
        self._changed()

    async def crash(self, pod: Pod, backoff_seconds: float) -> None:
        """Kill a pod's first container without warning, and wait until it is ready again."""
        pod.containers[0].crash(backoff_seconds)
        await self._until(lambda: not pod.is_serving)
        await self._until_serving(pod)

    async def stop(self) -> None:
        """End everything at once."""
        lives = list(self._lives)
        for life in lives:
            life.cancel()
        await asyncio.gather(*lives, return_exceptions=True)
        await asyncio.gather(*(pod.kill() for pod in (*self._jobs, *self.pods)))
        self._resolver.close()
