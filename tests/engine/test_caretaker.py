"""What is done for all tables at regular times: nobody's deadline is forgotten, and memory holds what is used."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from croupier.engine.caretaker import CLAIM_MILLISECONDS, PREPARED_MILLISECONDS, Caretaker, Retention
from croupier.engine.live import LiveTable
from croupier.engine.log import ActedBy, ClockConfig
from croupier.engine.tables import Tables
from croupier.games.facts import SPECTATOR
from croupier.runtime.errors import Unavailable
from tests.engine.fakes import Bench
from tests.engine.play import CLOCK, act_once, make_config, open_table, parsed, people, play_on, taken
from tests.engine.timing import pass_time

IDLE_MILLISECONDS = 120_000
KEPT = Retention(IDLE_MILLISECONDS, log_milliseconds=3_600_000, replay_milliseconds=0)
FULL_MILLISECONDS = CLOCK.action_milliseconds + CLOCK.reserve_milliseconds
SLOW = ClockConfig(action_milliseconds=3_600_000, reserve_milliseconds=0, bot_delay_milliseconds=0)


def caretaker_of(engine: Bench, kept: Retention = KEPT) -> tuple[Caretaker, Tables]:
    tables = Tables(engine.services, bytes, most_open_tables=100)
    return Caretaker(tables, engine.services, kept), tables


async def left_alone(engine: Bench, *table_ids: str, clock: ClockConfig = CLOCK) -> None:
    """Tables that an engine opened, which has then died."""
    dying = engine.another_engine()
    for table_id in table_ids:
        await open_table(dying, make_config(table_id=table_id, clock=clock))
    await dying.services.background.close(0)


async def overdue(engine: Bench, *table_ids: str) -> None:
    await left_alone(engine, *table_ids)
    engine.clock.advance(FULL_MILLISECONDS + 1_000)


def lengths(engine: Bench) -> list[int]:
    return [len(kept.entries) for kept in engine.store.tables.values()]


# Deadlines that nobody holds


@pytest.mark.parametrize("store_is_away", [False, True])
async def test_tables_that_nobody_looks_after_go_on_within_two_seconds_of_their_deadline(
    engine: Bench, store_is_away: bool
) -> None:
    await left_alone(engine, "t1", "t2", "t3")
    running = asyncio.create_task(caretaker_of(engine)[0].run())
    await pass_time(engine.clock, FULL_MILLISECONDS - 100)
    if store_is_away:
        engine.store.reads_fail = True
        await pass_time(engine.clock, 2_100)
        assert "left for later" in engine.logger.events("warning")
        engine.store.reads_fail = False
    assert lengths(engine) == [1, 1, 1]
    await pass_time(engine.clock, 2_100)
    assert lengths(engine) == [2, 2, 2]
    assert {kept.entries[-1].acted_by for kept in engine.store.tables.values()} == {ActedBy.TIMEOUT}
    running.cancel()


async def test_what_is_overdue_is_taken_up_by_one_engine_and_by_another_if_that_leaves_it(engine: Bench) -> None:
    await left_alone(engine, "slow", clock=SLOW)
    await overdue(engine, "t1", "t2")
    dying = engine.another_engine()
    await dying.services.background.close(0)
    (caretaker, tables), (other, other_tables) = caretaker_of(engine), caretaker_of(dying)
    await other.sweep()
    await caretaker.sweep()
    assert (set(tables.in_memory), set(other_tables.in_memory)) == (set(), {"t1", "t2"})
    engine.clock.advance(CLAIM_MILLISECONDS + 1_000)
    await caretaker.sweep()
    assert set(tables.in_memory) == {"t1", "t2"}
    await pass_time(engine.clock, 100)
    assert lengths(engine) == [1, 2, 2]


@pytest.mark.parametrize("broken", [{"game": "gone"}, {"rules_version": 99}, {"options": {}}], ids=str)
async def test_a_table_that_cannot_be_taken_up_keeps_no_other_from_it(engine: Bench, broken: dict[str, Any]) -> None:
    await overdue(engine, "t1", "t2")
    kept = engine.store.tables["t1"]
    kept.config = replace(kept.config, **broken)
    caretaker, tables = caretaker_of(engine)
    await caretaker.sweep()
    assert set(tables.in_memory) == {"t2"}
    assert engine.logger.events("error") == ["table cannot be taken up"]


# Memory


async def opened(engine: Bench, clock: ClockConfig = SLOW) -> tuple[Tables, LiveTable]:
    _, tables = caretaker_of(engine)
    await tables.prepare("t1", "thulla", 3, {}, clock)
    await tables.open("t1", people(3), [b""] * 3)
    return tables, await tables.get("t1")


def tidied(tables: Tables) -> set[str]:
    """What is in memory when what was idle for so long has left it."""
    tables.tidy(IDLE_MILLISECONDS)
    return set(tables.in_memory)


async def test_a_table_that_nobody_uses_leaves_memory_and_comes_back_by_folding(engine: Bench, seed: int) -> None:
    tables, table = await opened(engine)
    random = Random(seed)
    for _ in range(6):
        await act_once(table, random)
    assert tidied(tables) == {"t1"}
    engine.clock.advance(IDLE_MILLISECONDS)
    assert tidied(tables) == {"t1"}
    engine.clock.advance(1)
    assert tidied(tables) == set()
    again = await tables.get("t1")
    assert again is not table
    assert again.state == table.state
    await act_once(again, random)
    engine.clock.advance(IDLE_MILLISECONDS)
    assert tidied(tables) == {"t1"}


async def test_a_table_that_is_used_stays_in_memory_and_then_does_nothing_more(engine: Bench) -> None:
    tables, table = await opened(engine)
    engine.clock.advance(IDLE_MILLISECONDS + 1)
    stream = table.subscribe(SPECTATOR, None)
    assert tidied(tables) == {"t1"}
    table.unsubscribe(stream)
    table.is_doubtful = True
    assert tidied(tables) == {"t1"}
    table.is_doubtful = False
    async with table.lock:
        assert tidied(tables) == {"t1"}
    assert tidied(tables) == set()
    with pytest.raises(Unavailable):
        table.subscribe(SPECTATOR, None)


async def test_a_table_whose_time_comes_soon_stays(engine: Bench) -> None:
    tables, _ = await opened(engine, ClockConfig(2 * IDLE_MILLISECONDS + 10, 0, 0))
    engine.clock.advance(IDLE_MILLISECONDS + 1)
    tables.tidy(IDLE_MILLISECONDS + 9)
    assert tidied(tables) == set()
    await tables.get("t1")
    engine.clock.advance(IDLE_MILLISECONDS)
    tables.tidy(IDLE_MILLISECONDS // 2)
    assert set(tables.in_memory) == {"t1"}


# Beats and the archive


async def test_beats_send_heartbeats_and_count_tables(engine: Bench, seed: int) -> None:
    await left_alone(engine, "elsewhere")
    tables, table = await opened(engine)
    stream = table.subscribe(SPECTATOR, 1)
    caretaker = Caretaker(tables, engine.services, KEPT)
    await caretaker.beat()
    await caretaker.beat()
    assert [parsed(message).heartbeat.sequence for message in await taken(stream)] == [1, 1]
    assert engine.count("croupier_tables_in_memory", game="thulla", phase="play") == 1
    assert engine.count("croupier_open_tables", game="thulla") == 2
    await play_on(table, Random(seed))
    await caretaker.beat()
    assert engine.count("croupier_tables_in_memory", game="thulla", phase="play") == 0
    assert engine.count("croupier_open_tables", game="thulla") == 1


@pytest.mark.parametrize("kept_milliseconds", [0, 86_400_000])
async def test_what_is_due_for_the_archive_goes_there_at_once_and_replays_stay_unless_said_otherwise(
    engine: Bench, monkeypatch: pytest.MonkeyPatch, kept_milliseconds: int
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
    await caretaker_of(engine, Retention(1, 3_600_000, kept_milliseconds))[0].archive()
    forgotten = [("forget", kept_milliseconds, 50)] * 2 if kept_milliseconds else []
    prepared = ("forget_prepared", PREPARED_MILLISECONDS, 50)
    assert asked == [("compact", 3_600_000, 50)] * 3 + [prepared] * 2 + forgotten
