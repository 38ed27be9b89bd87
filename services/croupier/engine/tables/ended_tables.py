"""The tables whose games end, as a stream for the lobby that resumes at any engine."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from typing import NamedTuple

from croupier.engine.storage.port import TableStore

POLL_SECONDS = 0.8
HEARTBEAT_POLLS = 12
"""The number of polls without an end after which a message without tables follows."""
OVERLAP_MILLISECONDS = 10_000
"""An end may become visible so long after its time: engines' clocks differ by up to 2 s, and a commit may take 4 s."""
MAX_TABLES = 500


class EndedTables(NamedTuple):
    """Tables whose games are over, and the time at which the stream resumes, in milliseconds since 1970 UTC."""

    table_ids: list[str]
    resume_at: int


async def ended_tables(
    store: TableStore, resume_at: int, is_stopping: Callable[[], bool]
) -> AsyncGenerator[EndedTables, None]:
    """Yield tables that end at or after a time, until the engine stops; raises Unavailable."""
    sent: dict[str, int] = {}
    position, quiet = (resume_at - OVERLAP_MILLISECONDS, ""), 0
    while not is_stopping():
        page = await store.ended_after(position, MAX_TABLES)
        new = {table_id: ended for ended, table_id in page if table_id not in sent}
        sent |= new
        if page:
            resume_at = max(resume_at, page[-1][0])
        quiet = 0 if new else quiet + 1
        if new or quiet == HEARTBEAT_POLLS:
            quiet = 0
            yield EndedTables(list(new), resume_at)
        if len(page) == MAX_TABLES:
            position = page[-1]
            continue
        position = (resume_at - OVERLAP_MILLISECONDS, "")
        sent = {table_id: ended for table_id, ended in sent.items() if ended >= position[0]}
        await asyncio.sleep(POLL_SECONDS)
