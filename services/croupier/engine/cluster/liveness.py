"""The liveness of engines, and the outages that follow from missing heartbeats.

Every engine records a heartbeat each second. An engine that stops, dies or cannot reach the database causes an outage,
which is recorded, so that no player's time runs out because of it: see core/compensation.py.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import NamedTuple, Protocol

from sqlalchemy import Connection, delete, select

from croupier.engine.core.compensation import Outage
from croupier.engine.core.living_games import EngineGames, LivingGames, decode_engine_games
from croupier.engine.storage.schema import ENGINES, OUTAGES, TABLES
from croupier.engine.tables.turn_scheduler import Liveness
from croupier.runtime.database.database import Database
from croupier.runtime.database.upsert import insert_into
from croupier.runtime.errors import Unavailable
from croupier.runtime.identity.tokens import Clock
from croupier.runtime.observation.logs import Logger
from croupier.runtime.server.tasks import repeat

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
_ANY_OPEN = select(TABLES.c.table_id).where(TABLES.c.status == "open").limit(1)


class LivenessReport(NamedTuple):
    """The known outages, and the ids of the living engines.

    The outages before `certain_until` (milliseconds since 1970 UTC) are complete.
    """

    certain_until: int
    outages: tuple[Outage, ...]
    living: frozenset[str]


class LivenessStore(Protocol):
    """The port to the heartbeats of all engines. Every method is safe to repeat."""

    async def record_heartbeat(self, engine_id: str, now: int) -> LivenessReport:
        """Record an engine's heartbeat and the outages that it reveals; return all known outages."""

    async def living_games(self, now: int) -> LivingGames:
        """Return the games of the living engines, first of this one."""

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
        self.report = LivenessReport(0, (), frozenset((engine_id,)))

    @property
    def outages(self) -> tuple[Outage, ...]:
        return self.report.outages

    @property
    def living(self) -> frozenset[str]:
        """The ids of the living engines at the last heartbeat."""
        return self.report.living

    @property
    def engines(self) -> int:
        """The number of living engines at the last heartbeat."""
        return len(self.living)

    @property
    def is_cut_off(self) -> bool:
        """Whether this engine, one of several, has sent no heartbeat for so long that its players should leave."""
        return self.engines > 1 and self._clock() - self._heartbeat_at >= CUT_OFF_MILLISECONDS

    async def living_games(self) -> LivingGames:
        """Return the games of the living engines; raises Unavailable."""
        return await self._store.living_games(self._clock())

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


class SqlLivenessStore(LivenessStore):
    """Each engine has a row while it is alive; another that finds the row too old records the outage."""

    def __init__(self, database: Database, games: EngineGames, *, is_alone: bool = False) -> None:
        """`games` are those of this engine; `is_alone` says whether no other may use the database."""
        self._database = database
        self._games = games
        self._is_alone = is_alone
        self._report = LivenessReport(0, (), frozenset())
        self._omitted_at = 0
        """The time of the last heartbeat that was not needed."""

    async def record_heartbeat(self, engine_id: str, now: int) -> LivenessReport:
        report = await self._database.write(self._record_heartbeat, engine_id, now)
        if report is None:
            self._omitted_at = now
        self._report = report or self._report._replace(certain_until=now)
        return self._report

    def _record_heartbeat(self, connection: Connection, engine_id: str, now: int) -> LivenessReport | None:
        """Return None if the heartbeat needs no record, because no clock runs: a single engine has no open tables.

        If that engine dies, the outage begins at its last recorded heartbeat, but counts for a seat only since its turn
        began. So the heartbeats before a table was opened need no record.
        """
        if self._is_alone and len(self._report.living) == 1 and connection.scalar(_ANY_OPEN) is None:
            return None
        # Its own row first: engines wait for no other rows, so they never deadlock.
        before = _record_heartbeat(connection, engine_id, now, self._games)
        if before is not None:
            before = max(before, self._omitted_at)
        dead = [(engine_id, before)] if before is not None and before < now - DEAD_AFTER_MILLISECONDS else []
        _record_outages(connection, [*dead, *_remove_dead_engines(connection, engine_id, now)], now)
        heartbeats = connection.execute(select(ENGINES.c.engine_id, ENGINES.c.heartbeat_at))
        living = {name: heartbeat_at for name, heartbeat_at in heartbeats.all()}  # noqa: C416 - for the types
        known = select(OUTAGES.c.began, OUTAGES.c.ended).where(OUTAGES.c.ended > now - OUTAGE_RETENTION_MILLISECONDS)
        return LivenessReport(
            min(now, *living.values()), tuple(Outage(*row) for row in connection.execute(known)), frozenset(living)
        )

    async def living_games(self, now: int) -> LivingGames:
        if self._is_alone:
            return LivingGames((self._games,))
        living = ENGINES.c.heartbeat_at >= now - DEAD_AFTER_MILLISECONDS
        query = select(ENGINES.c.games_digest, ENGINES.c.games).where(living).distinct()
        rows = await self._database.read(lambda connection: connection.execute(query).all())
        return LivingGames((self._games, *[decode_engine_games(*row) for row in rows]))

    async def leave(self, engine_id: str, now: int) -> None:
        await self._database.write(_leave, engine_id, now)


def _leave(connection: Connection, engine_id: str, now: int) -> None:
    left = connection.execute(delete(ENGINES).where(ENGINES.c.engine_id == engine_id))
    if left.rowcount:
        _record_outages(connection, [(engine_id, now)], now)


def _record_heartbeat(connection: Connection, engine_id: str, now: int, games: EngineGames) -> int | None:
    """Record a heartbeat, and return the time of the one before."""
    query = select(ENGINES.c.heartbeat_at).where(ENGINES.c.engine_id == engine_id)
    before: int | None = connection.scalar(query)
    values = {
        "engine_id": engine_id,
        "heartbeat_at": now,
        "games_digest": games.digest,
        "games": games.encode(),
    }
    heartbeat = insert_into(connection.dialect.name, ENGINES).values(values)
    connection.execute(
        heartbeat.on_conflict_do_update(
            index_elements=["engine_id"], set_={"heartbeat_at": heartbeat.excluded.heartbeat_at}
        )
    )
    return before


def _remove_dead_engines(connection: Connection, engine_id: str, now: int) -> list[tuple[str, int]]:
    """Remove the other engines whose heartbeats are too old; return each with the time of its last one."""
    silent = (ENGINES.c.heartbeat_at < now - DEAD_AFTER_MILLISECONDS) & (ENGINES.c.engine_id != engine_id)
    query = select(ENGINES.c.engine_id, ENGINES.c.heartbeat_at).where(silent).with_for_update(skip_locked=True)
    dead = [(name, heartbeat_at) for name, heartbeat_at in connection.execute(query)]
    if dead:
        connection.execute(delete(ENGINES).where(ENGINES.c.engine_id.in_([name for name, _ in dead])))
    return dead


def _record_outages(connection: Connection, dead: Sequence[tuple[str, int]], now: int) -> None:
    """Record an outage of each engine, from its last heartbeat until its players have reconnected."""
    if not dead:
        return
    rows = [{"engine_id": name, "began": since, "ended": now + RECONNECT_MILLISECONDS} for name, since in dead]
    outages = insert_into(connection.dialect.name, OUTAGES).values(rows)
    connection.execute(outages.on_conflict_do_nothing())
    old = OUTAGES.c.ended < now - OUTAGE_RETENTION_MILLISECONDS
    connection.execute(delete(OUTAGES).where(old))
