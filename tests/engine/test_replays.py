"""Replays of finished tables: built once, kept compressed, and stored with an archived table."""

import asyncio
import gzip
import tracemalloc
from collections.abc import Sequence
from random import Random

import pytest

from croupier.engine.core.replay import replay_parts
from croupier.engine.storage.port import StoredTable
from croupier.engine.storage.sql_store import SqlTableStore
from croupier.engine.tables.registry import Tables
from croupier.runtime.errors import IllegalNow, NotFound, Unavailable
from tests.engine.databases import archive_finished
from tests.engine.fakes import EngineHarness
from tests.engine.folds import write_replay
from tests.engine.play import act_once, make_config, open_table, play_on, replay_of, within_timeout
from tests.engine.test_archive import ENDED, finished
from tests.engine.timing import HeldCall
from tests.waiting import settled

CALLS = 100


def builds(engine: EngineHarness) -> float:
    """Return the number of replays that were folded from logs."""
    return engine.count("croupier_replays_built_total")


async def ended_tables(engine: EngineHarness, *table_ids: str) -> list[str]:
    replays = []
    for table_id in table_ids:
        table = await open_table(engine, make_config(table_id=table_id))
        await play_on(table, Random(1))
        replays.append(write_replay(table.config, table.entries))
    return replays


async def read(tables: Tables, table_id: str = "t1", player_id: str = "stranger") -> str:
    return "".join(replay_parts((await within_timeout(replay_of(tables, table_id, player_id))).compressed))


@pytest.mark.parametrize("members", [1, 40])
def test_a_long_replay_has_parts_of_whole_lines_in_bounded_memory(members: int) -> None:
    """Of one gzip member, as an earlier version stored it, or of many."""
    source = Random(1)
    lines = [f'{{"seq":{number},"key":"{source.getrandbits(96):x}"}}\n' for number in range(20_000)]
    size = -(-len(lines) // members)
    replay = b"".join(
        gzip.compress("".join(lines[start : start + size]).encode()) for start in range(0, len(lines), size)
    )
    assert "".join(replay_parts(replay)) == "".join(lines)
    tracemalloc.start()
    for part in replay_parts(replay):
        assert part.endswith("\n")
        held, _ = tracemalloc.get_traced_memory()
        assert held < len(replay) / 2
    tracemalloc.stop()


@pytest.mark.parametrize("is_in_memory", [True, False])
async def test_a_replay_is_built_once_and_loads_no_table(engine: EngineHarness, is_in_memory: bool) -> None:
    (replay,) = await ended_tables(engine, "t1")
    tables = engine.tables()
    if is_in_memory:
        await tables.get("t1")
    log_reads = engine.store.log_reads
    readers = [read(tables, player_id=f"p{number}") for number in range(CALLS)]
    assert set(await asyncio.gather(*readers)) == {replay}
    assert await read(tables) == replay
    assert builds(engine) == 1
    assert engine.store.log_reads == log_reads + (not is_in_memory)
    await tables.get("t1")
    assert engine.store.log_reads == log_reads + 2 * (not is_in_memory)


async def test_a_stored_replay_is_read_without_the_log(engine: EngineHarness) -> None:
    (replay,) = await ended_tables(engine, "t1")
    await read(engine.tables())
    await within_timeout(engine.background.close(1))
    restarted, log_reads = engine.tables(), engine.store.log_reads
    assert await read(restarted) == replay
    assert (engine.store.log_reads, builds(engine)) == (log_reads, 1)


async def test_no_replay_before_the_end_and_no_log_is_read_for_it(engine: EngineHarness) -> None:
    table = await open_table(engine, make_config())
    await act_once(table, Random(1))
    tables, log_reads = engine.tables(), engine.store.log_reads
    with pytest.raises(IllegalNow) as refusal:
        await read(tables, player_id="p0")
    assert refusal.value.reason_name == "TABLE_NOT_FINISHED"
    assert engine.store.log_reads == log_reads
    await tables.get("t1")
    with pytest.raises(IllegalNow):
        await read(tables)
    for table_id in ("t2", "nowhere"):
        await engine.store.prepare(make_config(table_id="t2"), 0)
        with pytest.raises(NotFound):
            await read(tables, table_id)


async def test_a_query_from_before_the_end_refuses_no_replay_after_it(
    engine: EngineHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, tables = await open_table(engine, make_config()), engine.tables()
    query = HeldCall(engine.store, "find", monkeypatch)
    early = asyncio.create_task(replay_of(tables, "t1", "stranger"))
    await query.until_read()
    await play_on(table, Random(1))
    reading = asyncio.create_task(read(tables, player_id="p0"))
    await settled()
    query.release()
    assert await within_timeout(reading) == write_replay(table.config, table.entries)
    await within_timeout(early)


async def test_a_table_that_is_deleted_meanwhile_has_no_replay(engine: EngineHarness) -> None:
    await ended_tables(engine, "t1")
    engine.store.tables["t1"].entries.clear()
    tables = engine.tables()
    for _ in range(2):
        with pytest.raises(NotFound):
            await read(tables)
    assert engine.store.replays == {}


async def test_an_unreadable_log_has_no_replay_here(engine: EngineHarness) -> None:
    await ended_tables(engine, "t1")
    tables = engine.tables()
    engine.store.tables["t1"].entries[0] = engine.store.tables["t1"].entries[1]
    engine.store.unreadable.add("t1")
    with pytest.raises(Unavailable) as refusal:
        await read(tables)
    assert refusal.value.reason_name == "TABLE_TOO_NEW"


async def test_the_least_recently_read_replays_leave_memory(engine: EngineHarness) -> None:
    await ended_tables(engine, "t1", "t2", "t3")
    stored = [StoredTable("finished", make_config(table_id=name)) for name in ("t1", "t2", "t3")]
    sizes = [
        len((await engine.replays(engine.load_queue()).get(table, is_urgent=False)).compressed) for table in stored
    ]
    await within_timeout(engine.background.close(1))
    engine.store.replays.clear()
    cache = engine.replays(engine.load_queue(), max(sizes) * 2)

    async def built(indices: Sequence[int]) -> float:
        before = builds(engine)
        for index in indices:
            await cache.get(stored[index], is_urgent=False)
        return builds(engine) - before

    assert await built((0, 1, 0, 1)) == 2
    assert await built((0, 2, 0, 2)) == 1
    assert engine.count("croupier_replay_cache_bytes") == sizes[0] + sizes[2]
    assert await built((1,)) == 1
    assert await built((2,)) == 0
    assert await built((0,)) == 1


@pytest.mark.parametrize("asks_later", [True, False])
async def test_a_replay_that_a_player_asks_for_takes_precedence(engine: EngineHarness, asks_later: bool) -> None:
    names = [f"t{number}" for number in range(3)]
    await ended_tables(engine, *names)
    queue = engine.load_queue(2)
    cache = engine.replays(queue)
    stored = [StoredTable("finished", make_config(table_id=name)) for name in names]
    async with queue.turn("a load of a stranger"):
        waiting = [asyncio.create_task(cache.get(table, is_urgent=False)) for table in stored]
        if asks_later:
            await settled()
        await within_timeout(cache.get(stored[2], is_urgent=True))
        assert not waiting[0].done()
    await within_timeout(asyncio.gather(*waiting))


async def test_a_replay_is_stored_with_an_archived_table_only(store: SqlTableStore) -> None:
    await finished(store)
    await store.store_replay("t1", b"replay")
    assert [await store.find_replay(table_id) for table_id in ("t1", "nowhere")] == [None, None]
    assert await archive_finished(store, ENDED + 1) == 1
    assert await store.find_replay("t1") is None
    await store.store_replay("t1", b"replay")
    assert await store.find_replay("t1") == b"replay"
