"""What pods use while they are under load."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rehearsal.pods import Pod
from rehearsal.processes import Use, uses

SAMPLE_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class PodUse:
    """What one pod used: memory at its most, processors in cores on average while it was under load."""

    name: str
    owner: str
    memory_bytes: int
    cores: float


class Meter:
    """Looks at all pods every second."""

    def __init__(self) -> None:
        self._memory: dict[str, int] = {}
        self._cpu: dict[str, dict[int, float]] = {}
        self._at_first: dict[str, float] = {}
        self._samples: dict[str, int] = {}

    async def run(self, pods: Sequence[Pod]) -> None:
        """Look until cancelled; `pods` may change meanwhile."""
        while True:
            self.look(pods, await asyncio.to_thread(uses))
            await asyncio.sleep(SAMPLE_SECONDS)

    def look(self, pods: Sequence[Pod], found: Mapping[int, Mapping[int, Use]]) -> None:
        """Take what each process used until now."""
        for pod in pods:
            now = {pid: use for session in pod.sessions for pid, use in found.get(session, {}).items()}
            if not now:
                continue
            memory = sum(use.memory_bytes for use in now.values())
            self._memory[pod.name] = max(memory, self._memory.get(pod.name, 0))
            # What a process has used that is gone stays counted.
            known = self._cpu.setdefault(pod.name, {})
            known.update({pid: use.cpu_seconds for pid, use in now.items()})
            self._at_first.setdefault(pod.name, sum(known.values()))
            self._samples[pod.name] = self._samples.get(pod.name, 0) + 1

    def result(self, pods: Sequence[Pod]) -> list[PodUse]:
        """What each of these pods used."""
        return [
            PodUse(one.name, one.plan.owner, self._memory[one.name], self._cores(one.name))
            for one in pods
            if one.name in self._memory
        ]

    def _cores(self, name: str) -> float:
        seconds = (self._samples[name] - 1) * SAMPLE_SECONDS
        return (sum(self._cpu[name].values()) - self._at_first[name]) / seconds if seconds else 0.0
