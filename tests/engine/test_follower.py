"""Tables in memory follow what other engines appended."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from random import Random

import pytest

from croupier.engine.follower import RETRY_SECONDS, Follower
from croupier.engine.live import LiveTable
from croupier.engine.log import Entry
from croupier.engine.store import StoredTable
from croupier.engine.tables import Tables
from croupier.games.facts import SPECTATOR
from tests.engine.fakes import Bench
from tests.engine.play import act_once, make_config, open_table, parsed, soon, taken
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
    await asyncio.gather(following, return_exceptions=True)


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


async def test_news_of_what_is_known_or_not_in_memory_cost_nothing(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    await here.elsewhere("t2")
    await here.elsewhere("t1")
    await here.tables.get("t1")
    reads = reads_of(here, monkeypatch)
    here.follower.logs_grew({"t1": 1, "t2": 5, "nowhere": 3})
    await here.settle()
    assert reads == []


def reads_of(here: Here, monkeypatch: pytest.MonkeyPatch) -> list[set[str]]:
    reads: list[set[str]] = []
    read = here.bench.store.entries_beyond

    async def counted(heads: Mapping[str, int]) -> dict[str, tuple[Entry, ...]]:
        if heads:
            reads.append(set(heads))
        return await read(heads)

    monkeypatch.setattr(here.bench.store, "entries_beyond", counted)
    return reads


async def test_many_tables_are_read_at_once(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"t{number}" for number in range(250)]
    there = {name: await here.elsewhere(name) for name in names}
    mine = {name: await here.tables.get(name) for name in names}
    for table in there.values():
        await act_once(table, Random(1))
    reads = reads_of(here, monkeypatch)
    for name in names:
        here.follower.logs_grew({name: 2})
    await here.settle()
    assert [len(read) for read in reads] == [200, 50]
    assert all(mine[name].state == there[name].state for name in names)


async def test_after_news_were_missed_everything_is_looked_at(here: Here) -> None:
    there = [await here.elsewhere(name) for name in ("t1", "t2")]
    mine = [await here.tables.get(name) for name in ("t1", "t2")]
    for table in there:
        await act_once(table, Random(1))
    await here.settle()
    assert [table.state.sequence for table in mine] == [1, 1]
    here.follower.news_were_missed()
    await here.settle()
    assert [table.state.sequence for table in mine] == [2, 2]


class SlowLoad:
    """A store whose log was read a while before the answer comes."""

    def __init__(self, here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
        self.read, self.answer = asyncio.Event(), asyncio.Event()
        self._load = here.bench.store.load
        monkeypatch.setattr(here.bench.store, "load", self)

    async def __call__(self, table_id: str) -> StoredTable | None:
        stored = await self._load(table_id)
        if table_id == "t1":
            self.read.set()
            await self.answer.wait()
        return stored


@pytest.mark.parametrize("missed", [False, True])
async def test_a_table_that_was_being_loaded_meanwhile_is_brought_up_to_date(
    here: Here, monkeypatch: pytest.MonkeyPatch, missed: bool
) -> None:
    there = await here.elsewhere()
    slow = SlowLoad(here, monkeypatch)
    loading = asyncio.create_task(here.tables.get("t1"))
    await soon(slow.read.wait())
    await act_once(there, Random(1))
    if missed:
        here.follower.news_were_missed()
    else:
        here.follower.logs_grew({"t1": 2})
    await here.settle()
    slow.answer.set()
    table = await soon(loading)
    assert table.state.sequence == 1
    await here.settle()
    assert table.state.sequence == 2


async def test_a_table_that_is_loaded_while_others_are_read_is_brought_up_to_date(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = await here.elsewhere()
    await act_once(await here.elsewhere("t2"), Random(1))
    monkeypatch.setattr(here.bench.store, "loads", 0)
    await here.tables.get("t2")
    slow = SlowLoad(here, monkeypatch)
    loading = asyncio.create_task(here.tables.get("t1"))
    await soon(slow.read.wait())
    await act_once(there, Random(1))
    read, reading, go_on = here.bench.store.entries_beyond, asyncio.Event(), asyncio.Event()

    async def held(heads: Mapping[str, int]) -> dict[str, tuple[Entry, ...]]:
        reading.set()
        await go_on.wait()
        return await read(heads)

    monkeypatch.setattr(here.bench.store, "entries_beyond", held)
    here.follower.logs_grew({"t1": 2, "t2": 9})
    await soon(reading.wait())
    slow.answer.set()
    table = await soon(loading)
    go_on.set()
    await here.settle()
    assert table.state.sequence == 2


async def test_logs_that_cannot_be_read_are_read_again(here: Here) -> None:
    there = await here.elsewhere()
    table = await here.tables.get("t1")
    await act_once(there, Random(1))
    here.bench.store.reads_fail = True
    here.follower.logs_grew({"t1": 2})
    await here.settle()
    here.bench.store.reads_fail = False
    here.bench.clock.advance(round(RETRY_SECONDS * 1000))
    await here.settle()
    assert table.state.sequence == 2


async def test_a_table_that_is_being_written_to_holds_up_no_other(here: Here) -> None:
    there = {name: await here.elsewhere(name) for name in ("t1", "t2")}
    mine = {name: await here.tables.get(name) for name in ("t1", "t2")}
    for table in there.values():
        await act_once(table, Random(1))
    async with mine["t1"].lock:
        here.follower.logs_grew({"t1": 2, "t2": 2})
        await here.settle()
        assert [table.state.sequence for table in mine.values()] == [1, 2]
    await here.settle()
    assert [table.state.sequence for table in mine.values()] == [2, 2]


async def test_reactions_elsewhere_are_shown_here(here: Here) -> None:
    await here.elsewhere()
    table = await here.tables.get("t1")
    stream = table.subscribe(SPECTATOR, 1)
    here.follower.seat_reacted("t1", 1, "wow")
    here.follower.seat_reacted("nowhere", 1, "wow")
    (message,) = await taken(stream)
    assert (parsed(message).reaction.seat, parsed(message).reaction.reaction) == (1, "wow")
