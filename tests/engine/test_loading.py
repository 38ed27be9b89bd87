"""Reads of logs: loads, a few at a time with players first, and refreshes, which callers share."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import replace
from random import Random

import pytest

from croupier.engine.core.access import Visitor
from croupier.engine.core.log_codec import LogPart
from croupier.engine.metrics import EngineMetrics
from croupier.engine.storage.port import log_rows
from croupier.engine.tables.call_timeouts import CALL_TIMEOUT_SECONDS
from croupier.engine.tables.loading import MAX_WAITING_STRANGERS, LoadQueue
from croupier.engine.tables.table import REFRESH_SECONDS, Table
from croupier.games.facts import SPECTATOR
from croupier.runtime.errors import IllegalNow, Unavailable
from croupier.runtime.table_access import OPEN
from tests.engine.fakes import EngineHarness
from tests.engine.play import (
    FULL_MILLISECONDS,
    act_once,
    event_of,
    live_stream,
    make_config,
    open_table,
    pending_messages,
    play_on,
    reload_table,
    within_timeout,
)
from tests.engine.timing import HeldCall
from tests.waiting import settled


class Loads:
    """Loads that wait for their turns, and hold them until they are released."""

    def __init__(self, queue: LoadQueue) -> None:
        self.queue = queue
        self.begun: list[str] = []
        self.tasks: dict[str, asyncio.Task[None]] = {}
        self._released: dict[str, asyncio.Event] = {}

    async def add(self, *names: str) -> None:
        """Add loads; names in capitals are urgent."""
        for name in names:
            self._released[name] = asyncio.Event()
            self.tasks[name] = asyncio.create_task(self._load(name))
            await settled()

    async def _load(self, name: str) -> None:
        with self.queue.awaited(name, is_urgent=name.isupper()):
            async with self.queue.turn(name):
                self.begun.append(name)
                await self._released[name].wait()

    async def end(self, name: str) -> None:
        """Let a load end, and return after others have begun."""
        self._released[name].set()
        await settled()


@pytest.fixture
async def loads(metrics: EngineMetrics) -> AsyncIterator[Loads]:
    loads = Loads(LoadQueue(4, metrics))
    yield loads
    for task in loads.tasks.values():
        task.cancel()
        with suppress(asyncio.CancelledError, Unavailable):
            await task


async def test_strangers_have_half_of_the_turns_and_players_are_first(loads: Loads) -> None:
    await loads.add("a", "b", "c", "d", "P", "Q", "R", "S")
    assert loads.begun == ["a", "b", "P", "Q"]
    await loads.end("a")
    await loads.end("P")
    assert loads.begun == ["a", "b", "P", "Q", "R", "S"]
    await loads.end("Q")
    assert loads.begun[6:] == ["c"]
    await loads.end("R")
    assert loads.begun[6:] == ["c"]
    await loads.end("b")
    assert loads.begun[6:] == ["c", "d"]


async def test_a_player_takes_over_the_place_of_a_stranger(loads: Loads) -> None:
    await loads.add("a", "b", "c", "d")
    with loads.queue.awaited("d", is_urgent=True):
        await settled()
    assert loads.begun == ["a", "b", "d"]
    for name in ("a", "nothing"):
        with loads.queue.awaited(name, is_urgent=True):
            await settled()
    await loads.end("a")
    assert loads.begun == ["a", "b", "d", "c"]


async def test_too_many_waiting_strangers_are_refused_and_players_are_not(loads: Loads) -> None:
    await loads.add("a", "b", *(f"w{number}" for number in range(MAX_WAITING_STRANGERS)), "x", "P", "Q", "R")
    refusal = loads.tasks["x"].exception()
    assert isinstance(refusal, Unavailable)
    assert (refusal.reason_name, refusal.retry_after_seconds) == ("TABLE_BUSY", 1)
    assert loads.begun == ["a", "b", "P", "Q"]
    loads.tasks["w7"].cancel()
    await loads.add("y")
    assert not loads.tasks["y"].done()


@pytest.mark.parametrize(
    ("cancelled", "begun", "later"), [("a", "abc", "abcd"), ("c", "ab", "abd"), ("ac", "abd", "abd")]
)
async def test_a_cancelled_load_leaves_its_turn_to_the_next(
    loads: Loads, cancelled: str, begun: str, later: str
) -> None:
    """Of two at once, the second is cancelled when its turn comes."""
    await loads.add("a", "b", "c", "d")
    for name in cancelled:
        loads.tasks[name].cancel()
    await settled()
    assert loads.begun == [*begun]
    await loads.end("b")
    assert loads.begun == [*later]


async def test_players_and_the_engine_itself_do_not_wait_for_strangers(
    engine: EngineHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"t{number}" for number in range(8)]
    for name in names:
        await open_table(engine, make_config(table_id=name))
    reading, released, read = list[str](), asyncio.Event(), engine.store.log_after

    async def held(table_id: str, sequence: int, limit: int) -> LogPart:
        reading.append(table_id)
        await released.wait()
        return await read(table_id, sequence, limit)

    monkeypatch.setattr(engine.store, "log_after", held)
    other = engine.another_engine()
    tables = other.tables(100)
    loading = [asyncio.create_task(tables.get(name, Visitor("stranger"))) for name in names]
    loading.append(asyncio.create_task(tables.get("t2", Visitor("p1"))))
    await settled()
    assert reading == ["t0", "t1", "t2"]
    loading.append(asyncio.create_task(tables.get("t6")))
    await settled()
    assert reading == ["t0", "t1", "t2", "t6"]
    released.set()
    found = await within_timeout(asyncio.gather(*loading))
    assert [found[2], found[6]] == found[8:]
    assert sorted(reading) == names
    counts = [other.count("croupier_table_loads_total", **{"class": kind}) for kind in ("player", "stranger")]
    assert counts == [2, 6]


async def test_a_log_is_read_in_pages(engine: EngineHarness, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("croupier.engine.storage.port.PAGE_ROWS", 3)
    table = await open_table(engine, make_config())
    for length in (1, 2, 3, 4, 6, 7):
        while table.state.sequence < length:
            await act_once(table, Random(1))
        reads = engine.store.log_reads
        assert [row[0] async for row in log_rows(engine.store, "t1")] == list(range(1, length + 1))
        assert engine.store.log_reads - reads == length // 3 + 1


REFRESH_MILLISECONDS = round(REFRESH_SECONDS * 1000)


@pytest.fixture
async def table(engine: EngineHarness) -> Table:
    return await open_table(engine, make_config())


@pytest.fixture
async def ahead(engine: EngineHarness, table: Table) -> Table:
    return await reload_table(engine.another_engine(), "t1")


async def test_a_hundred_callers_ahead_share_one_read(engine: EngineHarness, table: Table) -> None:
    reads = engine.store.log_reads
    await within_timeout(asyncio.gather(*(table.catch_up_to(99) for _ in range(100))))
    assert engine.store.log_reads == reads + 1
    engine.clock.advance(REFRESH_MILLISECONDS)
    replays = await asyncio.gather(*(table.require_finished(0) for _ in range(100)), return_exceptions=True)
    assert all(isinstance(refusal, IllegalNow) for refusal in replays)
    assert engine.store.log_reads == reads + 2


async def test_a_delayed_spectator_cannot_tell_entries_to_come_or_the_end_by_a_read(engine: EngineHarness) -> None:
    table = await open_table(engine, make_config(access=replace(OPEN, watch_delay_seconds=20)))
    for max_actions in (1, 10_000):
        await play_on(table, Random(1), max_actions)
        for sequence in (table.state.sequence, table.state.sequence + 1):
            reads = engine.store.log_reads
            await within_timeout(table.catch_up_to(sequence, SPECTATOR))
            engine.clock.advance(REFRESH_MILLISECONDS)
            with pytest.raises(IllegalNow):
                await within_timeout(table.require_finished(SPECTATOR))
            engine.clock.advance(REFRESH_MILLISECONDS)
            assert engine.store.log_reads == reads + 2
    assert table.state.is_over


async def test_an_action_does_not_wait_for_a_read(
    engine: EngineHarness, table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = HeldCall(engine.store, "log_after", monkeypatch)
    asking = [asyncio.create_task(table.catch_up_to(99)), asyncio.create_task(table.require_finished(0))]
    await read.until_read()
    assert await within_timeout(act_once(table, Random(1))) == 2
    read.release()
    await within_timeout(asyncio.wait(asking))
    assert table.state.sequence == 2


async def test_reads_have_a_pause_between_them_and_begin_after_the_call(
    engine: EngineHarness, table: Table, ahead: Table
) -> None:
    await table.catch_up_to(1)
    await act_once(ahead, Random(1))
    await within_timeout(table.catch_up_to(2))
    assert table.state.sequence == 2
    await act_once(ahead, Random(1))
    catching_up = asyncio.create_task(table.catch_up_to(3))
    await settled()
    engine.clock.advance(REFRESH_MILLISECONDS - 1)
    await settled()
    assert (catching_up.done(), table.state.sequence) == (False, 2)
    engine.clock.advance(1)
    await within_timeout(catching_up)
    assert table.state.sequence == 3


async def test_a_caller_during_a_read_gets_the_next_one(
    engine: EngineHarness, table: Table, ahead: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = HeldCall(engine.store, "log_after", monkeypatch)
    early = asyncio.create_task(table.catch_up_to(2))
    await read.until_read()
    await act_once(ahead, Random(1))
    late = asyncio.create_task(table.catch_up_to(2))
    await settled()
    read.release()
    await within_timeout(early)
    assert table.state.sequence == 1
    engine.clock.advance(REFRESH_MILLISECONDS)
    await within_timeout(late)
    assert table.state.sequence == 2


async def test_streams_show_what_a_read_has_found_though_there_is_much(
    engine: EngineHarness, table: Table, ahead: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("croupier.engine.tables.table.MAX_MISSED_ENTRIES", 3)
    stream = await live_stream(table, SPECTATOR)
    while ahead.state.sequence < 10:
        await act_once(ahead, Random(1))
    await within_timeout(table.catch_up_to(10))
    assert [event_of(message).update.sequence for message in await pending_messages(stream)] == list(range(2, 11))
    assert table.state == ahead.state


@pytest.mark.parametrize("missed", [1, 2, 3, 6, 7])
async def test_an_action_catches_up_in_steps(
    engine: EngineHarness, table: Table, ahead: Table, monkeypatch: pytest.MonkeyPatch, missed: int
) -> None:
    monkeypatch.setattr("croupier.engine.tables.table.MAX_MISSED_ENTRIES", 3)
    for _ in range(missed):
        await act_once(ahead, Random(1))
    async with table.lock:
        table.needs_catch_up = True
        assert await table.catch_up()
    assert table.state == ahead.state
    assert not table.needs_catch_up
    # The scheduler did not wait for the end of a retry.
    engine.clock.advance(FULL_MILLISECONDS + 1_000)
    await settled()
    assert table.state.sequence > missed + 1


async def test_a_store_that_fails_or_does_not_answer_makes_the_call_unavailable(
    engine: EngineHarness, table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.store.reads_fail = True
    with pytest.raises(Unavailable) as refusal:
        await table.catch_up_to(9)
    assert refusal.value.reason_name == "STORE_UNAVAILABLE"
    engine.store.reads_fail = False
    engine.clock.advance(REFRESH_MILLISECONDS)
    read = HeldCall(engine.store, "log_after", monkeypatch)
    asking = asyncio.create_task(table.catch_up_to(9))
    await read.until_read()
    engine.clock.advance(round(CALL_TIMEOUT_SECONDS * 1000))
    with pytest.raises(Unavailable):
        await within_timeout(asking)
    read.release()
    await settled()
    assert table.state.sequence == 1
