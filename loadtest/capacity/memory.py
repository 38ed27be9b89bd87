"""What the engine tells of its memory, its tables and its streams, and waiting until that is as expected."""

import asyncio
import time
from collections.abc import Callable

from loadtest.backend import Backend, BackendMissing
from loadtest.watch.scrape import Scrape, scrape

POLL_SECONDS = 0.5
ENGINE = "engine"


class EngineMemory:
    """Reads the page of the one engine; raises BackendMissing where it cannot be read."""

    def __init__(self, backend: Backend) -> None:
        self._address = backend.metrics[ENGINE]
        self.most_bytes = 0

    async def read(self) -> Scrape:
        """All figures now."""
        read = await asyncio.to_thread(scrape, self._address, time.monotonic())
        if not isinstance(read, Scrape):
            raise BackendMissing(f"the engine is gone: {read.reason}")
        self.most_bytes = max(self.most_bytes, _resident(read))
        return read

    async def resident_bytes(self) -> int:
        """The memory that the engine's process has now."""
        return _resident(await self.read())

    async def until(self, is_so: Callable[[Scrape], bool], what: str, seconds: float) -> None:
        """Wait until the figures are as they should be; raises BackendMissing naming `what` if that takes too long."""
        deadline = time.monotonic() + seconds
        while not is_so(await self.read()):
            if time.monotonic() > deadline:
                raise BackendMissing(f"{what}: not within {seconds:g} s")
            await asyncio.sleep(POLL_SECONDS)


def _resident(read: Scrape) -> int:
    return int(read.total("process_resident_memory_bytes"))
