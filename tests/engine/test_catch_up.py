"""Tables in memory catch up with appends of other engines."""

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping
from random import Random

import pytest

from croupier.engine.cluster.catch_up import RETRY_SECONDS
from croupier.engine.core.log import Entry
from croupier.engine.tables.registry import Tables
from croupier.engine.tables.table import Table
from croupier.games.facts import SPECTATOR
from croupier.runtime.errors import Unavailable
from croupier.runtime.server.tasks import end_tasks
from croupier_api.v1.games_pb2 import REACTION_WOW
from tests.engine.fakes import EngineHarness
from tests.engine.play import (
    act_once,
    event_of,
    live_stream,
    make_config,
    open_table,
    pending_messages,
    until_end,
    within_timeout,
)
from tests.engine.timing import HeldCall
from tests.waiting import settled


class TwoEngines:
    """An engine that catches up, and another that appends."""

    def __init__(self, engine: EngineHarness) -> None:
        self.engine = engine
        self.other = engine.another_engine()
        self.tables = engine.tables(1_000)
        self.catch_up_worker = engine.catch_up(self.tables)

    async def other_table(self, table_id: str = "t1") -> Table:
        return await open_table(self.other, make_config(table_id=table_id))

    async def behind(self, *table_ids: str) -> list[Table]:
        """Return tables in the engine's memory, with a later action at the other engine."""
        others = [await self.other_table(table_id) for table_id in table_ids]
        tables = [await self.tables.get(table_id) for table_id in table_ids]
        for table in others:
            await act_once(table, Random(1))
        return tables

    async def settle(self) -> None:
        """Run everything that is possible within a short time."""
        for _ in range(5):
            self.engine.clock.advance(20)
            await settled()


@pytest.fixture
async def engines(engine: EngineHarness) -> AsyncIterator[TwoEngines]:
    engines = TwoEngines(engine)
    catching_up = asyncio.create_task(engines.catch_up_worker.run())
    yield engines
    catching_up.cancel()


def sequences(tables: list[Table]) -> list[int]:
    return [table.state.sequence for table in tables]


async def test_streams_show_appends_of_the_other_engine(engines: TwoEngines) -> None:
    other_table = await engines.other_table()
    table = await engines.tables.get("t1")
    stream = await live_stream(table, SPECTATOR)
    random = Random(1)
    for sequence in (2, 3, 4):
        await act_once(other_table, random)
        engines.catch_up_worker.logs_extended({"t1": sequence})
        await engines.settle()
        assert [event_of(message).update.sequence for message in await pending_messages(stream)] == [sequence]
    assert table.state == other_table.state
    assert not table.is_last_writer


async def test_changed_tables_are_read_in_one_query(engines: TwoEngines, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"t{number}" for number in range(250)]
    tables = await engines.behind(*names)
    await engines.other_table("only at the other")
    await engines.other_table("known")
    await engines.tables.get("known")
    reads: list[set[str]] = []
    read = engines.engine.store.entries_beyond

    async def counted(heads: Mapping[str, int], limit: int) -> dict[str, tuple[Entry, ...]]:
        reads.append(set(heads))
        return await read(heads, limit)

    monkeypatch.setattr(engines.engine.store, "entries_beyond", counted)
    engines.catch_up_worker.logs_extended({"known": 1, "only at the other": 5, "unknown": 3})
    await engines.settle()
    for name in names:
        engines.catch_up_worker.logs_extended({name: 2})
    await engines.settle()
    assert reads == [set(names[:200]), set(names[200:])]
    assert sequences(tables) == [2] * 250


async def test_after_missed_notifications_all_logs_are_read_in_parts_until_it_succeeds(
    engines: TwoEngines, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("croupier.engine.cluster.catch_up.MAX_READ_ENTRIES", 3)
    others = [await engines.other_table(f"t{number}") for number in range(3)]
    tables = [await engines.tables.get(f"t{number}") for number in range(3)]
    for table, missed in zip(others, (1, 6, 7), strict=True):
        for _ in range(missed):
            await act_once(table, Random(1))
    engines.engine.store.reads_fail = True
    engines.catch_up_worker.notifications_missed()
    await engines.settle()
    assert sequences(tables) == [1, 1, 1]
    engines.engine.store.reads_fail = False
    engines.engine.clock.advance(round(RETRY_SECONDS * 1000))
    await engines.settle()
    assert sequences(tables) == [2, 7, 8]


@pytest.mark.parametrize("missed", [False, True])
async def test_a_table_that_was_being_loaded_catches_up(
    engines: TwoEngines, monkeypatch: pytest.MonkeyPatch, missed: bool
) -> None:
    other_table = await engines.other_table()
    load = HeldCall(engines.engine.store, "log_after", monkeypatch)
    loading = asyncio.create_task(engines.tables.get("t1"))
    await load.until_read()
    await act_once(other_table, Random(1))
    if missed:
        engines.catch_up_worker.notifications_missed()
    else:
        engines.catch_up_worker.logs_extended({"t1": 2})
    await engines.settle()
    load.release()
    table = await within_timeout(loading)
    assert table.state.sequence == 1
    await engines.settle()
    assert table.state.sequence == 2


async def test_a_table_that_is_loaded_while_others_are_read_catches_up(
    engines: TwoEngines, monkeypatch: pytest.MonkeyPatch
) -> None:
    other_table = await engines.other_table()
    await engines.behind("t2")
    load = HeldCall(engines.engine.store, "log_after", monkeypatch)
    loading = asyncio.create_task(engines.tables.get("t1"))
    await load.until_read()
    await act_once(other_table, Random(1))
    read = HeldCall(engines.engine.store, "entries_beyond", monkeypatch)
    engines.catch_up_worker.logs_extended({"t1": 2, "t2": 2})
    await read.until_read()
    load.release()
    table = await within_timeout(loading)
    read.release()
    await engines.settle()
    assert table.state.sequence == 2


async def test_a_table_whose_log_only_newer_engines_can_read_moves_to_them_and_delays_no_other(
    engines: TwoEngines,
) -> None:
    tables = await engines.behind("t1", "t2", "t3")
    stream = await live_stream(tables[1], SPECTATOR)
    engines.engine.store.unreadable = {"t2"}
    engines.catch_up_worker.logs_extended({"t1": 2, "t2": 2, "t3": 2})
    await engines.settle()
    assert sequences(tables) == [2, 1, 2]
    assert [event_of(message).WhichOneof("event_kind") for message in await until_end(stream)] == ["resume_notice"]
    assert engines.engine.logger.events("error") == ["log cannot be read"]
    with pytest.raises(Unavailable):
        tables[1].subscribe(SPECTATOR, 1)


async def test_a_table_that_is_being_written_does_not_delay_others(engines: TwoEngines) -> None:
    tables = await engines.behind("t1", "t2")
    async with tables[0].lock:
        engines.catch_up_worker.logs_extended({"t1": 2, "t2": 2})
        await engines.settle()
        assert sequences(tables) == [1, 2]
    await engines.settle()
    assert sequences(tables) == [2, 2]


async def test_reactions_at_the_other_engine_are_shown(engines: TwoEngines) -> None:
    await engines.other_table()
    table = await engines.tables.get("t1")
    stream = await live_stream(table, SPECTATOR)
    engines.catch_up_worker.seat_reacted("t1", 1, REACTION_WOW)
    engines.catch_up_worker.seat_reacted("unknown", 1, REACTION_WOW)
    (message,) = await pending_messages(stream)
    assert (event_of(message).reaction.seat, event_of(message).reaction.reaction) == (1, REACTION_WOW)


async def test_many_notifications_of_a_loading_table_are_checked_again_together(
    engine: EngineHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def loading(_: Tables) -> Collection[str]:
        asked.append("t1")
        return asked[-1:]

    monkeypatch.setattr(Tables, "loading", property(loading))
    worker = engine.catch_up(engine.tables())
    catching_up = asyncio.create_task(worker.run())
    for _ in range(20):
        worker.logs_extended({"t1": 2})
        engine.clock.advance(1)
        await settled()
    asked.clear()
    for _ in range(1_000):
        engine.clock.advance(1)
        await settled()
    assert 15 <= len(asked) <= 25
    await end_tasks([catching_up])
