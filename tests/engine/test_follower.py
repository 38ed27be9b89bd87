"""Tables in memory follow what other engines appended."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from random import Random

import pytest

from croupier.engine.follower import RETRY_SECONDS, Follower
from croupier.engine.live import LiveTable
from croupier.engine.log import Entry
from croupier.engine.tables import Tables
from croupier.games.facts import SPECTATOR
from tests.engine.fakes import Bench
from tests.engine.play import act_once, make_config, open_table, parsed, soon, taken
from tests.engine.timing import Held
from tests.waiting import settled


class Here:
    """An engine that follows, and another that appends."""

    def __init__(self, engine: Bench) -> None:
        self.bench = engine
        self.other = engine.another_engine()
        self.tables = Tables(engine.services, bytes, 1_000)
        self.follower = Follower(self.tables, engine.services)

    async def elsewhere(self, table_id: str = "t1") -> LiveTable:
        """A table that is played at the other engine."""
        return await open_table(self.other, make_config(table_id=table_id))

    async def behind(self, *table_ids: str) -> list[LiveTable]:
        """Tables in memory here at which somebody has acted at the other engine since."""
        there = [await self.elsewhere(table_id) for table_id in table_ids]
        here = [await self.tables.get(table_id) for table_id in table_ids]
        for table in there:
            await act_once(table, Random(1))
        return here

    async def settle(self) -> None:
        """Let everything happen that can, and what waits for a short while."""
        for _ in range(5):
            self.bench.clock.advance(20)
            await settled()


@pytest.fixture
async def here(engine: Bench) -> AsyncIterator[Here]:
    here = Here(engine)
    following = asyncio.create_task(here.follower.run())
    yield here
    following.cancel()


def sequences(tables: list[LiveTable]) -> list[int]:
    return [table.state.sequence for table in tables]


async def test_streams_here_show_what_was_appended_elsewhere(here: Here) -> None:
    there = await here.elsewhere()
    table = await here.tables.get("t1")
    stream = table.subscribe(SPECTATOR, 1)
    random = Random(1)
    for sequence in (2, 3, 4):
        await act_once(there, random)
        here.follower.logs_grew({"t1": sequence})
        await here.settle()
        assert [parsed(message).update.sequence for message in await taken(stream)] == [sequence]
    assert table.state == there.state
    assert not table.is_leading


async def test_many_tables_are_read_at_once_and_none_without_need(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"t{number}" for number in range(250)]
    tables = await here.behind(*names)
    await here.elsewhere("only there")
    await here.elsewhere("known")
    await here.tables.get("known")
    reads: list[set[str]] = []
    read = here.bench.store.entries_beyond

    async def counted(heads: Mapping[str, int]) -> dict[str, tuple[Entry, ...]]:
        reads.append(set(heads))
        return await read(heads)

    monkeypatch.setattr(here.bench.store, "entries_beyond", counted)
    here.follower.logs_grew({"known": 1, "only there": 5, "nowhere": 3})
    await here.settle()
    for name in names:
        here.follower.logs_grew({name: 2})
    await here.settle()
    assert reads == [set(names[:200]), set(names[200:])]
    assert sequences(tables) == [2] * 250


@pytest.mark.parametrize("missed", [False, True])
async def test_a_table_that_was_being_loaded_meanwhile_is_brought_up_to_date(
    here: Here, monkeypatch: pytest.MonkeyPatch, missed: bool
) -> None:
    there = await here.elsewhere()
    load = Held(here.bench.store, "load", monkeypatch)
    loading = asyncio.create_task(here.tables.get("t1"))
    await load.has_read()
    await act_once(there, Random(1))
    if missed:
        here.follower.news_were_missed()
    else:
        here.follower.logs_grew({"t1": 2})
    await here.settle()
    load.let_go()
    table = await soon(loading)
    assert table.state.sequence == 1
    await here.settle()
    assert table.state.sequence == 2


async def test_a_table_that_is_loaded_while_others_are_read_is_brought_up_to_date(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = await here.elsewhere()
    await here.behind("t2")
    load = Held(here.bench.store, "load", monkeypatch)
    loading = asyncio.create_task(here.tables.get("t1"))
    await load.has_read()
    await act_once(there, Random(1))
    read = Held(here.bench.store, "entries_beyond", monkeypatch)
    here.follower.logs_grew({"t1": 2, "t2": 2})
    await read.has_read()
    load.let_go()
    table = await soon(loading)
    read.let_go()
    await here.settle()
    assert table.state.sequence == 2


async def test_after_news_were_missed_all_logs_are_read_again_and_again_until_they_can_be(here: Here) -> None:
    tables = await here.behind("t1", "t2")
    here.bench.store.reads_fail = True
    here.follower.news_were_missed()
    await here.settle()
    assert sequences(tables) == [1, 1]
    here.bench.store.reads_fail = False
    here.bench.clock.advance(round(RETRY_SECONDS * 1000))
    await here.settle()
    assert sequences(tables) == [2, 2]


async def test_a_table_that_is_being_written_to_holds_up_no_other(here: Here) -> None:
    tables = await here.behind("t1", "t2")
    async with tables[0].lock:
        here.follower.logs_grew({"t1": 2, "t2": 2})
        await here.settle()
        assert sequences(tables) == [1, 2]
    await here.settle()
    assert sequences(tables) == [2, 2]


async def test_reactions_elsewhere_are_shown_here(here: Here) -> None:
    await here.elsewhere()
    table = await here.tables.get("t1")
    stream = table.subscribe(SPECTATOR, 1)
    here.follower.seat_reacted("t1", 1, "wow")
    here.follower.seat_reacted("nowhere", 1, "wow")
    (message,) = await taken(stream)
    assert (parsed(message).reaction.seat, parsed(message).reaction.reaction) == (1, "wow")
