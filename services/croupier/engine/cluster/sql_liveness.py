"""The heartbeats of engines in their database."""

from collections.abc import Sequence

from sqlalchemy import Connection, delete, func, select

from croupier.engine.cluster.liveness import (
    DEAD_AFTER_MILLISECONDS,
    OUTAGE_RETENTION_MILLISECONDS,
    RECONNECT_MILLISECONDS,
    LivenessReport,
    LivenessStore,
)
from croupier.engine.core.compensation import Outage
from croupier.engine.storage.schema import DEADLINES, ENGINES, OUTAGES
from croupier.runtime.database.database import Database
from croupier.runtime.database.upsert import insert_into

_ANY_OPEN = select(DEADLINES.c.table_id).limit(1)


class SqlLivenessStore(LivenessStore):
    """Each engine has a row while it is alive; another that finds the row too old records the outage."""

    def __init__(self, database: Database, *, is_alone: bool = False) -> None:
        """`is_alone` is whether no other engine may use the database."""
        self._database = database
        self._is_alone = is_alone
        self._report = LivenessReport(0, (), 0)
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
        if self._is_alone and self._report.engines == 1 and connection.scalar(_ANY_OPEN) is None:
            return None
        # Its own row first: engines wait for no other rows, so they never deadlock.
        before = _record_heartbeat(connection, engine_id, now)
        if before is not None:
            before = max(before, self._omitted_at)
        dead = [(engine_id, before)] if before is not None and before < now - DEAD_AFTER_MILLISECONDS else []
        _record_outages(connection, [*dead, *_remove_dead_engines(connection, engine_id, now)], now)
        earliest, engines = connection.execute(select(func.min(ENGINES.c.heartbeat_at), func.count())).one()
        known = select(OUTAGES.c.began, OUTAGES.c.ended).where(OUTAGES.c.ended > now - OUTAGE_RETENTION_MILLISECONDS)
        return LivenessReport(min(now, earliest), tuple(Outage(*row) for row in connection.execute(known)), engines)

    async def leave(self, engine_id: str, now: int) -> None:
        await self._database.write(_leave, engine_id, now)


def _leave(connection: Connection, engine_id: str, now: int) -> None:
    left = connection.execute(delete(ENGINES).where(ENGINES.c.engine_id == engine_id))
    if left.rowcount:
        _record_outages(connection, [(engine_id, now)], now)


def _record_heartbeat(connection: Connection, engine_id: str, now: int) -> int | None:
    """Record a heartbeat, and return the time of the one before."""
    query = select(ENGINES.c.heartbeat_at).where(ENGINES.c.engine_id == engine_id)
    before: int | None = connection.scalar(query)
    heartbeat = insert_into(connection.dialect.name, ENGINES).values(engine_id=engine_id, heartbeat_at=now)
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
