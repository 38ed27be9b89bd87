"""The liveness of engines, and the outages that follow from missing heartbeats.

Every engine records a heartbeat each second. An engine that stops, dies or cannot reach the database causes an outage,
which is recorded, so that no player's time runs out because of it: see core/compensation.py.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple, Protocol

from croupier.engine.core.compensation import Outage
from croupier.engine.tables.turn_scheduler import Liveness
from croupier.engine.tasks import repeat
from croupier.runtime.errors import Unavailable
from croupier.runtime.identity.tokens import Clock
from croupier.runtime.observation.logs import Logger

HEARTBEAT_SECONDS = 1.0
DEAD_AFTER_MILLISECONDS = 3_000
"""An engine without heartbeat for so long has died, or cannot reach the database."""
RECONNECT_MILLISECONDS = 5_000
"""The time that players have to reconnect to another engine after one has died or left."""
CUT_OFF_MILLISECONDS = 10_000
"""The time without a heartbeat after which an engine hands all streams over: longer than the outage that others record,
and than most restarts of a database, in which players just wait."""
OUTAGE_RETENTION_MILLISECONDS = 2 * 86_400_000
"""Longer than the time of any seat for an action."""


class LivenessReport(NamedTuple):
    """The known outages, and the number of living engines.

    The outages before `certain_until` (milliseconds since 1970 UTC) are complete.
    """

    certain_until: int
    outages: tuple[Outage, ...]
    engines: int


class LivenessStore(Protocol):
    """The port to the heartbeats of all engines. Every method is safe to repeat."""

    async def record_heartbeat(self, engine_id: str, now: int) -> LivenessReport:
        """Record an engine's heartbeat and the outages that it reveals; return all known outages."""

    async def leave(self, engine_id: str, now: int) -> None:
        """Record that an engine stops."""


class EngineLiveness(Liveness):
    """An engine's own heartbeat, and the outages of all engines as far as it knows."""

    def __init__(
        self, store: LivenessStore, engine_id: str, is_serving: Callable[[], bool], clock: Clock, logger: Logger
    ) -> None:
        self._store = store
        self._engine_id = engine_id
        self._is_serving = is_serving
        self._clock = clock
        self._logger = logger
        self._lock = asyncio.Lock()
        self._has_left = False
        self._heartbeat_at = -DEAD_AFTER_MILLISECONDS
        self.report = LivenessReport(0, (), 1)

    @property
    def outages(self) -> tuple[Outage, ...]:
        return self.report.outages

    @property
    def engines(self) -> int:
        """The number of living engines at the last heartbeat."""
        return self.report.engines

    @property
    def is_cut_off(self) -> bool:
        """Whether this engine, one of several, has sent no heartbeat for so long that its players should leave."""
        return self.engines > 1 and self._clock() - self._heartbeat_at >= CUT_OFF_MILLISECONDS

    async def is_certain_of(self, moment: int) -> bool:
        if self.report.certain_until < moment:
            async with self._lock:
                if self.report.certain_until < moment:  # One query answers for all that waited.
                    await self._send_heartbeat()
        return self.report.certain_until >= moment

    async def is_alive(self) -> bool:
        if self._has_recent_heartbeat():
            return True
        with suppress(Exception):
            async with asyncio.timeout(HEARTBEAT_SECONDS):
                await self.send_heartbeat()
        return self._has_recent_heartbeat()

    def _has_recent_heartbeat(self) -> bool:
        return self._clock() - self._heartbeat_at < DEAD_AFTER_MILLISECONDS

    async def send_heartbeat(self) -> None:
        """Send a heartbeat, unless this engine has left or cannot serve; raises what the store raises."""
        async with self._lock:
            await self._send_heartbeat()

    async def _send_heartbeat(self) -> None:
        # An engine whose commits hang cannot serve its players, which is an outage.
        if not self._has_left and self._is_serving():
            now = self._clock()
            self.report = await self._store.record_heartbeat(self._engine_id, now)
            self._heartbeat_at = now

    async def run(self) -> None:
        """Send a heartbeat every second; runs until cancelled. After a failure the next one records the gap."""
        await repeat(self.send_heartbeat, HEARTBEAT_SECONDS, self._logger, "heartbeat failed")

    async def leave(self) -> None:
        """Record that this engine stops, and send no more heartbeats; if that fails, others notice it later."""
        self._has_left = True
        try:
            # After a heartbeat in progress, which would otherwise add the engine again.
            async with self._lock:
                await self._store.leave(self._engine_id, self._clock())
        except Exception as error:
            # No failure may prevent the stop.
            if not isinstance(error, Unavailable):
                self._logger.error("the stop of this engine was not recorded", exc_info=error)
