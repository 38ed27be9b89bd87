"""The rate of entries at a table: requests are refused or wait, bots wait, and time-outs are never late."""

from dataclasses import replace
from random import Random

import pytest

from croupier.engine.core.log import ActedBy, SeatConfig, TableEnded
from croupier.engine.tables.entry_rate import EntryLimit, EntryRate
from croupier.engine.tables.table import Table
from croupier.games.interface import SeatActed
from croupier.runtime.database.database import Database
from croupier.runtime.errors import LimitReached
from tests.engine.databases import assembled, running
from tests.engine.fakes import START, EngineHarness, FakeClock
from tests.engine.play import (
    CLOCK,
    FULL_MILLISECONDS,
    act_once,
    bots,
    choice,
    make_config,
    open_table,
    people,
    play_on,
    reload_table,
)
from tests.waiting import settled


async def limited_table(engine: EngineHarness, *seats: SeatConfig, burst: int = 2) -> Table:
    """Return a table with a limit of ten entries per second."""
    engine.entry_limit = EntryLimit(10, burst)
    clock = replace(CLOCK, bot_delay_milliseconds=0)
    return await open_table(engine, make_config(seats=seats or people(3), clock=clock))


def test_a_burst_passes_and_then_so_many_entries_per_second() -> None:
    rate, now = EntryRate(EntryLimit(20, 200)), START
    for _ in range(200):
        assert rate.next_at <= now
        rate.count(now)
    assert rate.next_at == now + 50
    for _ in range(3):
        rate.count(now + 50)
    assert rate.next_at == now + 200
    rate.count(now + 20_000)
    assert rate.next_at <= now + 20_000


async def test_a_request_beyond_the_rate_is_refused_with_the_time_to_wait(engine: EngineHarness) -> None:
    table = await limited_table(engine)
    repeated = SeatActed(*choice(table.state, Random(1)))
    assert await table.append_once(repeated, "r") == 2
    await act_once(table, Random(1))
    before = table.state
    with pytest.raises(LimitReached) as refusal:
        await act_once(table, Random(1))
    assert (refusal.value.reason_name, refusal.value.retry_after_seconds) == ("TOO_MANY_REQUESTS", 0.1)
    assert refusal.value.metadata == {"limit": "table_changes"}
    assert table.state == before
    assert await table.append_once(repeated, "r") == 2
    engine.clock.advance(100)
    assert await act_once(table, Random(1)) == 4


async def test_entries_of_other_engines_count_at_their_times(engine: EngineHarness) -> None:
    table, random = await limited_table(engine), Random(1)
    other = await reload_table(engine.another_engine(), "t1")
    await play_on(other, random, max_actions=2)
    await table.catch_up()
    with pytest.raises(LimitReached):
        await act_once(table, random)
    for _ in range(18):
        engine.clock.advance(100)
        await act_once(other, random)
    engine.clock.advance(100)
    await table.catch_up()
    assert await act_once(table, random) == 22


async def test_bots_wait_for_the_rate(engine: EngineHarness) -> None:
    table = await limited_table(engine, *bots(2))
    await settled()
    assert table.state.sequence == 3
    for sequence in range(4, 9):
        engine.clock.advance(99)
        await settled()
        assert table.state.sequence == sequence - 1
        engine.clock.advance(1)
        await settled()
        assert table.state.sequence == sequence


async def test_a_time_out_does_not_wait_for_the_rate(engine: EngineHarness) -> None:
    table = await limited_table(engine, burst=1)
    engine.clock.advance(FULL_MILLISECONDS)
    for _ in range(1_000):
        table.entry_rate.count(engine.clock())
    await settled()
    assert table.entries[-1].acted_by is ActedBy.TIMEOUT
    assert table.state.sequence == 2


async def test_the_settings_limit_every_table(database: Database) -> None:
    clock = FakeClock()
    engine = assembled(database, clock, table_entries_burst=1, max_table_entries=3)
    async with running(engine.store):
        await engine.tables.prepare("t1", "thulla", 3, {}, CLOCK)
        await engine.tables.open("t1", people(3), [b""] * 3)
        table = await engine.tables.get("t1")
        assert await act_once(table, Random(1)) == 2
        with pytest.raises(LimitReached) as refusal:
            await act_once(table, Random(1))
        assert refusal.value.metadata == {"limit": "table_changes"}
        clock.advance(50)
        assert await act_once(table, Random(1)) == 3
    assert table.entries[-1].event == TableEnded("entries")
