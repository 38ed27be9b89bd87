"""Which engines are there, and when players had nobody to talk to.

Every engine notes each second that it is there. Where one stops saying so, stops, or cannot reach the database, an
interruption is noted, and nobody's time runs out because of it: see credits.py.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple, Protocol

from croupier.engine.credits import Interruption
from croupier.runtime.identity import Clock
from croupier.runtime.logs import Logger

ATTEND_SECONDS = 1.0
GONE_MILLISECONDS = 3_000
"""An engine that was not heard of for so long has died, or cannot reach the database."""
RETURN_MILLISECONDS = 5_000
"""How long players have to find another engine after one has gone."""
REMEMBERED_MILLISECONDS = 2 * 86_400_000
"""Longer than any seat has for an action."""


class Roll(NamedTuple):
    """What the roll of engines says.

    Of the time up to `certain_until` (milliseconds since 1970 UTC), all interruptions are known.
    """

    certain_until: int
    interruptions: tuple[Interruption, ...]


class AttendanceStore(Protocol):
    """The port. Every method is safe to repeat."""

    async def attend(self, engine_id: str, now: int) -> Roll:
        """Note that an engine is there, and what that says of it and of others: interruptions."""

    async def leave(self, engine_id: str, now: int) -> None:
        """Note that an engine stops."""


class Attendance:
    """An engine's own attendance, and what it knows of the others'."""

    def __init__(
        self, store: AttendanceStore, engine_id: str, is_serving: Callable[[], bool], clock: Clock, logger: Logger
    ) -> None:
        self._store = store
        self._engine_id = engine_id
        self._is_serving = is_serving
        self._clock = clock
        self._logger = logger
        self._asking = asyncio.Lock()
        self._has_left = False
        self._noted_at = -GONE_MILLISECONDS
        self.roll = Roll(0, ())

    async def is_certain_of(self, moment: int) -> bool:
        """Whether every interruption before a moment is known; raises what the store raises."""
        if self.roll.certain_until < moment:
            async with self._asking:
                if self.roll.certain_until < moment:  # Whoever waited got the answer for all.
                    await self._attend()
        return self.roll.certain_until >= moment

    async def is_there(self) -> bool:
        """Whether others take this engine for one that is there; tried at once if that was not noted lately."""
        if self._was_noted_lately():
            return True
        with suppress(Exception):
            async with asyncio.timeout(ATTEND_SECONDS):
                await self.attend()
        return self._was_noted_lately()

    def _was_noted_lately(self) -> bool:
        return self._clock() - self._noted_at < GONE_MILLISECONDS

    async def attend(self) -> None:
        """Note that this engine is there, unless it has left or cannot serve; raises what the store raises."""
        async with self._asking:
            await self._attend()

    async def _attend(self) -> None:
        # An engine that answers nobody, because what it stores does not come through, is not there for its players.
        if not self._has_left and self._is_serving():
            now = self._clock()
            self.roll = await self._store.attend(self._engine_id, now)
            self._noted_at = now

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
