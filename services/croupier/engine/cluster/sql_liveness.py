"""The heartbeats of engines in their database."""

from collections.abc import Sequence

from sqlalchemy import delete, func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from croupier.engine.cluster.liveness import (
    DEAD_AFTER_MILLISECONDS,
    OUTAGE_RETENTION_MILLISECONDS,
    RECONNECT_MILLISECONDS,
    LivenessReport,
)
from croupier.engine.core.compensation import Outage
from croupier.engine.storage.schema import DEADLINES, ENGINES, OUTAGES
from croupier.runtime.database import Database
from croupier.runtime.upsert import insert_into

_ANY_OPEN = select(DEADLINES.c.table_id).limit(1)


class SqlLivenessStore:
    """Each engine has a row while it is alive; another that finds the row too old records the outage."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._report = LivenessReport(0, (), 0)
        self._omitted_at = 0
        """The time of the last heartbeat that was not needed."""
        self._version: int | None = None
        """The version of the database for which `_has_open_tables` holds."""
        self._has_open_tables = True

    async def record_heartbeat(self, engine_id: str, now: int) -> LivenessReport:
        """Record an engine's heartbeat and the outages that it reveals; return all known outages."""
        if await self._is_needed():
            self._report = await self._record_heartbeat(engine_id, now)
        else:
            self._omitted_at = now
            self._report = self._report._replace(certain_until=now)
        return self._report

    async def _is_needed(self) -> bool:
        """Return whether a clock may run: not if the only engine of a database has no open tables.

        If that engine dies, the outage begins at its last recorded heartbeat, but counts for a seat only since its turn
        began. So the heartbeats before a table was opened need no record.
        """
        version = self._database.version
        if version is None or self._report.engines != 1:
            return True
        if version != self._version:
            async with self._database.reading() as connection:
                self._has_open_tables = (await connection.execute(_ANY_OPEN)).scalar() is not None
            self._version = version
        return self._has_open_tables

    async def _record_heartbeat(self, engine_id: str, now: int) -> LivenessReport:
        async with self._database.writing_heartbeats() as connection:
            # Its own row first: engines wait for no other rows, so they never deadlock.
            before = await _record_heartbeat(connection, engine_id, now)
            if before is not None:
                before = max(before, self._omitted_at)
            dead = [(engine_id, before)] if before is not None and before < now - DEAD_AFTER_MILLISECONDS else []
            await _record_outages(connection, [*dead, *await _remove_dead_engines(connection, engine_id, now)], now)
            living = select(func.min(ENGINES.c.heartbeat_at), func.count())
            earliest, engines = (await connection.execute(living)).one()
            known = select(OUTAGES.c.began, OUTAGES.c.ended)
            rows = await connection.execute(known.where(OUTAGES.c.ended > now - OUTAGE_RETENTION_MILLISECONDS))
            return LivenessReport(min(now, earliest), tuple(Outage(*row) for row in rows), engines)

    async def leave(self, engine_id: str, now: int) -> None:
        """Record that an engine stops."""
        async with self._database.writing_heartbeats() as connection:
            left = await connection.execute(delete(ENGINES).where(ENGINES.c.engine_id == engine_id))
            if left.rowcount:
                await _record_outages(connection, [(engine_id, now)], now)


async def _record_heartbeat(connection: AsyncConnection, engine_id: str, now: int) -> int | None:
    """Record a heartbeat, and return the time of the one before."""
    query = select(ENGINES.c.heartbeat_at).where(ENGINES.c.engine_id == engine_id)
    before = (await connection.execute(query)).scalar()
    heartbeat = insert_into(connection.dialect.name, ENGINES).values(engine_id=engine_id, heartbeat_at=now)
    await connection.execute(
        heartbeat.on_conflict_do_update(
            index_elements=["engine_id"], set_={"heartbeat_at": heartbeat.excluded.heartbeat_at}
        )
    )
    return before


async def _remove_dead_engines(connection: AsyncConnection, engine_id: str, now: int) -> list[tuple[str, int]]:
    """Remove the other engines whose heartbeats are too old; return each with the time of its last one."""
    silent = (ENGINES.c.heartbeat_at < now - DEAD_AFTER_MILLISECONDS) & (ENGINES.c.engine_id != engine_id)
    query = select(ENGINES.c.engine_id, ENGINES.c.heartbeat_at).where(silent).with_for_update(skip_locked=True)
    dead = [(name, heartbeat_at) for name, heartbeat_at in await connection.execute(query)]
    if dead:
        await connection.execute(delete(ENGINES).where(ENGINES.c.engine_id.in_([name for name, _ in dead])))
    return dead


async def _record_outages(connection: AsyncConnection, dead: Sequence[tuple[str, int]], now: int) -> None:
    """Record an outage of each engine, from its last heartbeat until its players have reconnected."""
    if not dead:
        return
    rows = [{"engine_id": name, "began": since, "ended": now + RECONNECT_MILLISECONDS} for name, since in dead]
    outages = insert_into(connection.dialect.name, OUTAGES).values(rows)
    await connection.execute(outages.on_conflict_do_nothing())
    old = OUTAGES.c.ended < now - OUTAGE_RETENTION_MILLISECONDS
    await connection.execute(delete(OUTAGES).where(old))
