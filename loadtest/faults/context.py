"""The context of a fault: the deployment, the load on it, and the scale of durations."""

import asyncio
from dataclasses import dataclass
from random import Random

from loadtest.faults.deployment import Deployment
from loadtest.faults.load import FaultLoad


@dataclass(frozen=True, slots=True)
class FaultContext:
    """The context of a fault; `scale` shortens durations, with `gateway` all players connect to the gateway."""

    deployment: Deployment
    load: FaultLoad
    random: Random
    scale: float
    gateway: bool

    async def wait(self, seconds: float) -> None:
        """Wait while a fault lasts; `seconds` are those of a full run."""
        await asyncio.sleep(seconds * self.scale)

    @property
    def engines(self) -> list[str]:
        """The names of the engines."""
        return self.deployment.instances("engine")

    async def keep_down(self, service: str, seconds: float) -> None:
        """Kill all instances of a service and keep them down for a time."""
        await self.deployment.keep_down(self.deployment.instances(service), seconds * self.scale)
