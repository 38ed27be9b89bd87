"""What is done for all tables at regular times: nobody's deadline is forgotten, and memory holds what is used."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from random import Random

import pytest

from croupier.engine.caretaker import CLAIM_MILLISECONDS, PREPARED_MILLISECONDS, Caretaker, Retention
from croupier.engine.live import LiveTable
from croupier.engine.log import ActedBy, ClockConfig
from croupier.engine.tables import Tables
from croupier.engine.thinking import Thought
from croupier.games.actions import Action
from croupier.games.facts import SPECTATOR
from tests.engine.fakes import Bench
from tests.engine.play import CLOCK, act_once, bots, make_config, open_table, parsed, people, play_on, soon, taken
from tests.waiting import settled

IDLE_MILLISECONDS = 120_000
KEPT = Retention(IDLE_MILLISECONDS, log_milliseconds=3_600_000, replay_milliseconds=0)
FULL_MILLISECONDS = CLOCK.action_milliseconds + CLOCK.reserve_milliseconds
SLOW = ClockConfig(action_milliseconds=3_600_000, reserve_milliseconds=0, bot_delay_milliseconds=0)


def tables_of(engine: Bench) -> Tables:
    return Tables(engine.services, bytes, most_open_tables=100)


def caretaker_of(engine: Bench, tables: Tables, kept: Retention = KEPT) -> Caretaker:
    return Caretaker(tables, engine.services, kept)


@asynccontextmanager
async def caring(engine: Bench, tables: Tables) -> AsyncIterator[None]:
    task = asyncio.create_task(caretaker_of(engine, tables).run())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def pass_time(engine: Bench, milliseconds: int, step: int = 50) -> None:
    """Let time pass, and all that happens at its time."""
    for _ in range(0, milliseconds, step):
        engine.clock.advance(step)
        await settled()


async def left_alone(engine: Bench, *table_ids: str, clock: ClockConfig = CLOCK) -> None:
    """Tables that an engine opened, which has then died."""
    dying = engine.another_engine()
    for table_id in table_ids:
        await open_table(dying, make_config(table_id=table_id, clock=clock))
    await dying.services.background.close(0)


def length(engine: Bench, table_id: str) -> int:
    return len(engine.store.tables[table_id].entries)


# Deadlines that nobody holds


async def test_tables_that_nobody_looks_after_go_on_within_two_seconds_of_their_deadline(engine: Bench) -> None:
    await left_alone(engine, "t1", "t2", "t3")
    async with caring(engine, tables_of(engine)):
        await pass_time(engine, FULL_MILLISECONDS - 100)
        assert length(engine, "t1") == 1
        await pass_time(engine, 2_100)
    for table_id in ("t1", "t2", "t3"):
        (_, entry) = engine.store.tables[table_id].entries
        assert entry.acted_by is ActedBy.TIMEOUT


async def test_an_engine_that_starts_takes_up_only_what_is_overdue(engine: Bench) -> None:
    await left_alone(engine, "t1")
    await left_alone(engine, "slow", clock=SLOW)
    engine.clock.advance(FULL_MILLISECONDS + 1_000)
    tables = tables_of(engine)
    await caretaker_of(engine, tables).sweep()
    assert set(tables.in_memory) == {"t1"}


async def test_two_engines_take_up_a_table_once(engine: Bench) -> None:
    await left_alone(engine, "t1", "t2")
    engine.clock.advance(FULL_MILLISECONDS + 1_000)
    both = [engine, engine.another_engine()]
    tables = [tables_of(each) for each in both]
    for each, its in zip(both, tables, strict=True):
        await caretaker_of(each, its).sweep()
    assert [set(its.in_memory) for its in tables] == [{"t1", "t2"}, set()]
    await pass_time(engine, 100)
    assert [length(engine, table_id) for table_id in ("t1", "t2")] == [2, 2]


async def test_what_an_engine_took_up_and_left_is_taken_up_by_another(engine: Bench) -> None:
    await left_alone(engine, "t1")
    engine.clock.advance(FULL_MILLISECONDS + 1_000)
    dying = engine.another_engine()
    await dying.services.background.close(0)
    await caretaker_of(dying, tables_of(dying)).sweep()
    tables = tables_of(engine)
    await caretaker_of(engine, tables).sweep()
    assert set(tables.in_memory) == set()
    engine.clock.advance(CLAIM_MILLISECONDS + 1_000)
    await caretaker_of(engine, tables).sweep()
    assert set(tables.in_memory) == {"t1"}


def of_unknown_game(engine: Bench) -> None:
    kept = engine.store.tables["t1"]
    kept.config = replace(kept.config, game="gone")


def of_unknown_rules(engine: Bench) -> None:
    kept = engine.store.tables["t1"]
    kept.config = replace(kept.config, rules_version=99)


def impossible(engine: Bench) -> None:
    kept = engine.store.tables["t1"]
    kept.entries.append(kept.entries[0]._replace(sequence=2))


@pytest.mark.parametrize("broken", [of_unknown_game, of_unknown_rules, impossible])
async def test_a_table_that_cannot_be_taken_up_keeps_no_other_from_it(
    engine: Bench, broken: Callable[[Bench], None]
) -> None:
    await left_alone(engine, "t1", "t2")
    broken(engine)
    engine.clock.advance(FULL_MILLISECONDS + 1_000)
    tables = tables_of(engine)
    await caretaker_of(engine, tables).sweep()
    assert set(tables.in_memory) == {"t2"}
    assert engine.logger.events("error") == ["table cannot be taken up"]


async def test_a_sweep_that_fails_is_made_again(engine: Bench) -> None:
    await left_alone(engine, "t1")
    engine.clock.advance(FULL_MILLISECONDS + 1_000)
    async with caring(engine, tables_of(engine)):
        engine.store.reads_fail = True
        await pass_time(engine, 2_000)
        assert length(engine, "t1") == 1
        assert "left for later" in engine.logger.events("warning")
        engine.store.reads_fail = False
        await pass_time(engine, CLAIM_MILLISECONDS + 1_000)
    assert length(engine, "t1") == 2


# Memory


async def opened(engine: Bench, tables: Tables, clock: ClockConfig = SLOW) -> LiveTable:
    await tables.prepare("t1", "thulla", 3, {}, clock)
    await tables.open("t1", people(3), [b""] * 3)
    return await tables.get("t1")


async def test_a_table_that_nobody_uses_leaves_memory_and_comes_back_by_folding(engine: Bench, seed: int) -> None:
    tables = tables_of(engine)
    table = await opened(engine, tables)
    random = Random(seed)
    for _ in range(6):
        await act_once(table, random)
    tables.tidy(IDLE_MILLISECONDS)
    engine.clock.advance(IDLE_MILLISECONDS)
    tables.tidy(IDLE_MILLISECONDS)
    assert set(tables.in_memory) == {"t1"}
    engine.clock.advance(1)
    tables.tidy(IDLE_MILLISECONDS)
    assert set(tables.in_memory) == set()
    again = await tables.get("t1")
    assert again is not table
    assert again.state == table.state
    await act_once(again, random)
    engine.clock.advance(IDLE_MILLISECONDS)
    tables.tidy(IDLE_MILLISECONDS)
    assert set(tables.in_memory) == {"t1"}


async def test_a_table_that_has_left_memory_does_nothing_any_more(engine: Bench) -> None:
    tables = tables_of(engine)
    table = await opened(engine, tables)
    engine.clock.advance(IDLE_MILLISECONDS + 1)
    tables.tidy(IDLE_MILLISECONDS)
    engine.clock.advance(SLOW.action_milliseconds)
    await pass_time(engine, 500)
    assert table.state.sequence == length(engine, "t1") == 1


async def test_a_table_that_somebody_follows_stays(engine: Bench) -> None:
    tables = tables_of(engine)
    table = await opened(engine, tables)
    stream = table.subscribe(SPECTATOR, None)
    engine.clock.advance(IDLE_MILLISECONDS + 1)
    tables.tidy(IDLE_MILLISECONDS)
    assert set(tables.in_memory) == {"t1"}
    table.unsubscribe(stream)
    tables.tidy(IDLE_MILLISECONDS)
    assert set(tables.in_memory) == set()


async def test_a_table_at_which_something_is_stored_stays(engine: Bench) -> None:
    tables = tables_of(engine)
    table = await opened(engine, tables)
    engine.store.gate.clear()
    acting = asyncio.create_task(act_once(table, Random(1)))
    await soon(engine.store.held.wait())
    engine.clock.advance(IDLE_MILLISECONDS + 1)
    tables.tidy(IDLE_MILLISECONDS)
    assert set(tables.in_memory) == {"t1"}
    engine.store.gate.set()
    assert await soon(acting) == 2
    async with table.lock:
        tables.tidy(IDLE_MILLISECONDS)
    assert set(tables.in_memory) == {"t1"}
    table.is_doubtful = True
    tables.tidy(IDLE_MILLISECONDS)
    assert set(tables.in_memory) == {"t1"}


async def test_a_table_whose_time_comes_soon_stays(engine: Bench) -> None:
    tables = tables_of(engine)
    clock = ClockConfig(2 * IDLE_MILLISECONDS + 10, 0, 0)
    await opened(engine, tables, clock)
    engine.clock.advance(IDLE_MILLISECONDS + 1)
    tables.tidy(IDLE_MILLISECONDS + 9)
    tables.tidy(IDLE_MILLISECONDS)
    assert set(tables.in_memory) == set()
    await tables.get("t1")
    engine.clock.advance(IDLE_MILLISECONDS)
    tables.tidy(IDLE_MILLISECONDS // 2)
    assert set(tables.in_memory) == {"t1"}


class NeverDone:
    """Thinkers that never come to an end."""

    async def decide(self, thought: Thought) -> Action | None:
        await asyncio.Event().wait()
        return None

    async def close(self) -> None:
        """Nothing ends."""


async def test_a_table_at_which_somebody_thinks_stays(engine: Bench) -> None:
    object.__setattr__(engine.services, "thinkers", NeverDone())
    tables = tables_of(engine)
    await tables.prepare("t1", "thulla", 3, {}, SLOW)
    seats = tuple(seat.__class__("", seat.name, "search") for seat in bots(3))
    await tables.open("t1", seats, [b""] * 3)
    await pass_time(engine, 100)
    table = await tables.get("t1")
    assert not table.is_idle()
    engine.clock.advance(10 * IDLE_MILLISECONDS)
    tables.tidy(IDLE_MILLISECONDS)
    assert set(tables.in_memory) == {"t1"}


# Beats


async def test_beats_send_heartbeats_and_count_tables(engine: Bench, seed: int) -> None:
    tables = tables_of(engine)
    table = await opened(engine, tables)
    await left_alone(engine, "elsewhere")
    stream = table.subscribe(SPECTATOR, 1)
    caretaker = caretaker_of(engine, tables)
    await caretaker.beat()
    await caretaker.beat()
    assert [parsed(message).heartbeat.sequence for message in await taken(stream)] == [1, 1]
    assert engine.count("croupier_tables_in_memory", game="thulla", phase="play") == 1
    assert engine.count("croupier_open_tables", game="thulla") == 2
    await play_on(table, Random(seed))
    await caretaker.beat()
    assert engine.count("croupier_tables_in_memory", game="thulla", phase="play") == 0
    assert engine.count("croupier_open_tables", game="thulla") == 1


# The archive


async def test_finished_tables_go_to_the_archive_all_that_are_due_at_once(
    engine: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, int, int]] = []
    left = {"compact": [50, 50, 7], "forget_prepared": [50, 1], "forget": [50, 0]}

    def count(name: str) -> Callable[[int, int], object]:
        async def work(before: int, limit: int) -> int:
            asked.append((name, engine.clock() - before, limit))
            return left[name].pop(0)

        return work

    for name in left:
        monkeypatch.setattr(engine.store, name, count(name))
    await caretaker_of(engine, tables_of(engine), Retention(1, 3_600_000, 86_400_000)).archive()
    prepared = ("forget_prepared", PREPARED_MILLISECONDS, 50)
    assert asked == [("compact", 3_600_000, 50)] * 3 + [prepared] * 2 + [("forget", 86_400_000, 50)] * 2


async def test_replays_are_kept_for_good_unless_said_otherwise(engine: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    async def never(finished_before: int, limit: int) -> int:
        raise AssertionError

    monkeypatch.setattr(engine.store, "forget", never)
    await caretaker_of(engine, tables_of(engine)).archive()
