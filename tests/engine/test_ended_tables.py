"""The stream of ended tables has each end in time, also those that become visible late."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing

import pytest

from croupier.engine.storage.port import TableChange, append_durably
from croupier.engine.storage.sql_store import SqlTableStore
from croupier.engine.tables import ended_tables as module
from croupier.engine.tables.ended_tables import OVERLAP_MILLISECONDS, EndedTables, ended_tables
from tests.engine.databases import archive_finished, entry, opened
from tests.engine.fakes import START
from tests.engine.play import within_timeout

LAST = TableChange(0, finished=True)
ENDED = START + 60_000


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "POLL_SECONDS", 0.001)


async def end(store: SqlTableStore, table_id: str, at: int = ENDED) -> None:
    await opened(store, table_id)
    await append_durably(store, table_id, [entry(2, at=at)], LAST)


async def next_ends(stream: AsyncIterator[EndedTables]) -> EndedTables:
    while not (ended := await within_timeout(anext(stream))).table_ids:
        pass
    return ended


async def test_each_end_is_streamed_once(store: SqlTableStore) -> None:
    await opened(store, "playing")
    await end(store, "t1")
    async with aclosing(ended_tables(store, ENDED, asyncio.Event().is_set)) as stream:
        assert await next_ends(stream) == EndedTables(["t1"], ENDED)
        await end(store, "t3", ENDED + 2)
        assert await next_ends(stream) == EndedTables(["t3"], ENDED + 2)
        # Its commit took longer.
        await end(store, "t2", ENDED + 1)
        assert await next_ends(stream) == EndedTables(["t2"], ENDED + 2)
        await end(store, "t4", ENDED + OVERLAP_MILLISECONDS * 3)
        assert await next_ends(stream) == EndedTables(["t4"], ENDED + OVERLAP_MILLISECONDS * 3)


async def test_a_resumed_stream_misses_nothing(store: SqlTableStore) -> None:
    await end(store, "long ago", ENDED - OVERLAP_MILLISECONDS - 1)
    await end(store, "t1")
    async with aclosing(ended_tables(store, ENDED, asyncio.Event().is_set)) as stream:
        assert await next_ends(stream) == EndedTables(["t1"], ENDED)
    await end(store, "late", ENDED - OVERLAP_MILLISECONDS)
    async with aclosing(ended_tables(store, ENDED, asyncio.Event().is_set)) as stream:
        assert await next_ends(stream) == EndedTables(["late", "t1"], ENDED)


async def test_many_ends_come_in_messages_of_limited_size_also_of_archived_tables(
    store: SqlTableStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_TABLES", 2)
    for number in range(5):
        await end(store, f"t{number}", ENDED + number // 3)
    assert await archive_finished(store, ENDED + 1, now=ENDED) == 3
    async with aclosing(ended_tables(store, ENDED, asyncio.Event().is_set)) as stream:
        pages = [await next_ends(stream) for _ in range(3)]
    assert [page.table_ids for page in pages] == [["t0", "t1"], ["t2", "t3"], ["t4"]]


async def test_a_quiet_stream_has_heartbeats_and_ends_with_the_engine(store: SqlTableStore) -> None:
    stopping = asyncio.Event()
    async with aclosing(ended_tables(store, ENDED, stopping.is_set)) as stream:
        assert await within_timeout(anext(stream)) == EndedTables([], ENDED)
        stopping.set()
        assert await within_timeout(anext(stream, None)) is None
