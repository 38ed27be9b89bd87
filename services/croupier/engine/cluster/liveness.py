"""Which engines are there, and when players had nobody to talk to.

Every engine notes each second that it is there. Where one stops saying so, stops, or cannot reach the database, an
outage is noted, and nobody's time runs out because of it: see core/compensation.py.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple, Protocol

from croupier.engine.core.compensation import Outage
from croupier.runtime.identity import Clock
from croupier.runtime.logs import Logger

ATTEND_SECONDS = 1.0
GONE_MILLISECONDS = 3_000
"""An engine that was not heard of for so long has died, or cannot reach the database."""
RETURN_MILLISECONDS = 5_000
"""How long players have to find another engine after one has gone."""
REMEMBERED_MILLISECONDS = 2 * 86_400_000
"""Longer than any seat has for an action."""


class LivenessReport(NamedTuple):
    """What the roll of engines says.

    Of the time up to `certain_until` (milliseconds since 1970 UTC), all outages are known.
    """

    certain_until: int
    outages: tuple[Outage, ...]


class LivenessStore(Protocol):
    """The port. Every method is safe to repeat."""

    async def attend(self, engine_id: str, now: int) -> LivenessReport:
        """Note that an engine is there, and what that says of it and of others: outages."""

    async def leave(self, engine_id: str, now: int) -> None:
        """Note that an engine stops."""


class EngineLiveness:
    """An engine's own attendance, and what it knows of the others'."""

    def __init__(
        self, store: LivenessStore, engine_id: str, is_serving: Callable[[], bool], clock: Clock, logger: Logger
    ) -> None:
        self._store = store
        self._engine_id = engine_id
        self._is_serving = is_serving
        self._clock = clock
        self._logger = logger
        self._asking = asyncio.Lock()
        self._has_left = False
        self._heartbeat_at = -GONE_MILLISECONDS
        self.roll = LivenessReport(0, ())

    @property
    def outages(self) -> tuple[Outage, ...]:
        """The outages known so far, in no order."""
        return self.roll.outages

    async def is_certain_of(self, moment: int) -> bool:
        """Whether every outage before a moment is known; raises what the store raises."""
        if self.roll.certain_until < moment:
            async with self._asking:
                if self.roll.certain_until < moment:  # Whoever waited got the answer for all.
                    await self._attend()
        return self.roll.certain_until >= moment

    async def is_alive(self) -> bool:
        """Whether other engines consider this one alive; sends a heartbeat at once if the last is old."""
        if self._has_recent_heartbeat():
            return True
        with suppress(Exception):
            async with asyncio.timeout(ATTEND_SECONDS):
                await self.attend()
        return self._has_recent_heartbeat()

    def _has_recent_heartbeat(self) -> bool:
        return self._clock() - self._heartbeat_at < GONE_MILLISECONDS

    async def attend(self) -> None:
        """Note that this engine is there, unless it has left or cannot serve; raises what the store raises."""
        async with self._asking:
            await self._attend()

    async def _attend(self) -> None:
        # An engine that answers nobody, because what it stores does not come through, is not there for its players.
        if not self._has_left and self._is_serving():
            now = self._clock()
            self.roll = await self._store.attend(self._engine_id, now)
            self._heartbeat_at = now

    async def run(self) -> None:
        """Attend every second; runs until cancelled."""
        while True:
            try:
                await self.attend()
            except Exception as error:  # noqa: BLE001 - whatever it was, it is tried again, and the gap is noted then
                self._logger.warning("attendance cannot be noted", error=type(error).__name__)
            await asyncio.sleep(ATTEND_SECONDS)

    async def leave(self) -> None:
        """Note that this engine stops, and attend no more; if that cannot be, others notice it a little later."""
        self._has_left = True
        try:
            # What is being noted of its presence comes first, or others would miss an engine that has long gone.
            async with self._asking:
                await self._store.leave(self._engine_id, self._clock())
        except Exception as error:  # noqa: BLE001 - stopping goes on, whatever it was
            self._logger.warning("that this engine stops cannot be noted", error=type(error).__name__)
