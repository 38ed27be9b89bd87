"""Reads of the log for callers who may know more than this engine: shared, seldom, and without the table's lock."""

import asyncio
from dataclasses import replace
from random import Random

import pytest

from croupier.engine.tables.table import CALL_TIMEOUT_SECONDS, REFRESH_SECONDS, Table
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
