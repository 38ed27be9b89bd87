"""The roll of engines in their database."""

from collections.abc import Sequence

from sqlalchemy import delete, func, select
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from croupier.engine.cluster.liveness import (
    GONE_MILLISECONDS,
    REMEMBERED_MILLISECONDS,
    RETURN_MILLISECONDS,
    LivenessReport,
)
from croupier.engine.core.compensation import Outage
from croupier.engine.storage.schema import ENGINES, OUTAGES
from croupier.runtime.upsert import insert_into


class SqlLivenessStore:
    """Every engine has one row while it is there; any other that notices that it has gone notes the outage."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine

    async def attend(self, engine_id: str, now: int) -> LivenessReport:
        """Note that an engine is there, and return the outages that follow for it and for others."""
        async with self._engine.begin() as connection:
            # Its own row first: engines wait for nothing but that, and so never for each other.
            before = await _note_presence(connection, engine_id, now)
            gone = [(engine_id, before)] if before is not None and before < now - GONE_MILLISECONDS else []
            await _interrupt(connection, [*gone, *await _take_off_the_gone(connection, engine_id, now)], now)
            earliest = (await connection.execute(select(func.min(ENGINES.c.seen_at)))).scalar_one()
            known = select(OUTAGES.c.began, OUTAGES.c.ended)
            rows = await connection.execute(known.where(OUTAGES.c.ended > now - REMEMBERED_MILLISECONDS))
            return LivenessReport(min(now, earliest), tuple(Outage(*row) for row in rows))

    async def leave(self, engine_id: str, now: int) -> None:
        """Note that an engine stops."""
        async with self._engine.begin() as connection:
            left = await connection.execute(delete(ENGINES).where(ENGINES.c.engine_id == engine_id))
            if left.rowcount:
                await _interrupt(connection, [(engine_id, now)], now)


async def _note_presence(connection: AsyncConnection, engine_id: str, now: int) -> int | None:
    """When the engine was here before, if it was."""
    query = select(ENGINES.c.seen_at).where(ENGINES.c.engine_id == engine_id)
    before = (await connection.execute(query)).scalar()
    here = insert_into(connection, ENGINES).values(engine_id=engine_id, seen_at=now)
    await connection.execute(
        here.on_conflict_do_update(index_elements=["engine_id"], set_={"seen_at": here.excluded.seen_at})
    )
    return before


async def _take_off_the_gone(connection: AsyncConnection, engine_id: str, now: int) -> list[tuple[str, int]]:
    """Other engines that were not heard of for long, and when each was last."""
    silent = (ENGINES.c.seen_at < now - GONE_MILLISECONDS) & (ENGINES.c.engine_id != engine_id)
    query = select(ENGINES.c.engine_id, ENGINES.c.seen_at).where(silent).with_for_update(skip_locked=True)
    gone = [(name, seen_at) for name, seen_at in await connection.execute(query)]
    if gone:
        await connection.execute(delete(ENGINES).where(ENGINES.c.engine_id.in_([name for name, _ in gone])))
    return gone


async def _interrupt(connection: AsyncConnection, gone: Sequence[tuple[str, int]], now: int) -> None:
    """Note that these engines were missing since a moment each, until players have found others."""
    if not gone:
        return
    rows = [{"engine_id": name, "began": since, "ended": now + RETURN_MILLISECONDS} for name, since in gone]
    missing = insert_into(connection, OUTAGES).values(rows)
    await connection.execute(missing.on_conflict_do_nothing())
    old = OUTAGES.c.ended < now - REMEMBERED_MILLISECONDS
    await connection.execute(delete(OUTAGES).where(old))
