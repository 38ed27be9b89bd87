"""Loads of tables: a few at a time, players before strangers, and no log before the configuration is known."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from random import Random

import pytest

from croupier.engine.core.access import Visitor
from croupier.engine.core.log_codec import LogPart
from croupier.engine.metrics import EngineMetrics
from croupier.engine.storage.port import log_rows
from croupier.engine.tables.loading import MAX_WAITING_STRANGERS, LoadQueue
from croupier.runtime.errors import Unavailable
from tests.engine.fakes import EngineHarness
from tests.engine.play import act_once, make_config, open_table, within_timeout
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
