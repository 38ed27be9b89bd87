"""Where a fault happens: the deployment, the load on it, and how long the fault lasts."""

import asyncio
from dataclasses import dataclass
from random import Random

from loadtest.faults.deployment import Deployment
from loadtest.faults.load import FaultLoad


@dataclass(frozen=True, slots=True)
class Scene:
    """What a fault works on; `scale` shortens what lasts, with `gateway` all players connect to the gateway."""

    deployment: Deployment
    load: FaultLoad
    random: Random
    scale: float
    gateway: bool

    async def last(self, seconds: float) -> None:
        """Let a fault last; `seconds` are those of a full run."""
        await asyncio.sleep(seconds * self.scale)

    @property
    def engines(self) -> list[str]:
        """The names of the engines."""
        return self.deployment.instances("engine")

    async def down(self, service: str, seconds: float) -> None:
        """Kill all instances of a service and keep them down."""
        await self.deployment.keep_down(self.deployment.instances(service), seconds * self.scale)
