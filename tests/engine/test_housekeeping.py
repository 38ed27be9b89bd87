"""Housekeeping: overdue deadlines, unused tables in memory, heartbeats and the archive."""

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any
from unittest.mock import AsyncMock

import pytest

from croupier.engine.cluster.housekeeping import (
    CLAIM_MILLISECONDS,
    MAX_CLAIMED_TABLES,
    Housekeeper,
    RetentionPolicy,
)
from croupier.engine.cluster.liveness import CUT_OFF_MILLISECONDS
from croupier.engine.core.guarded_rules import RETRY_SECONDS
from croupier.engine.core.living_games import EngineGames
from croupier.engine.core.log import ActedBy, ClockConfig
from croupier.engine.tables.registry import Tables
from croupier.engine.tables.table import Table
from croupier.engine.tables.turn_scheduler import RETRY_MILLISECONDS
from croupier.games.facts import SPECTATOR
from croupier.runtime.errors import Unavailable
from croupier_api.v1 import errors_pb2
from tests.engine.fakes import EngineHarness
from tests.engine.play import (
    CLOCK,
    FULL_MILLISECONDS,
    act_once,
    event_of,
    live_stream,
    make_config,
    open_table,
    pending_messages,
    people,
    play_on,
    reload_table,
)
from tests.engine.timing import pass_time

IDLE_MILLISECONDS = 120_000
PREPARED_MILLISECONDS = 86_400_000
RETENTION = RetentionPolicy(IDLE_MILLISECONDS, PREPARED_MILLISECONDS, log_milliseconds=3_600_000, replay_milliseconds=0)
SLOW = ClockConfig(action_milliseconds=3_600_000, reserve_milliseconds=0, bot_delay_milliseconds=0)


def housekeeper_of(engine: EngineHarness, retention: RetentionPolicy = RETENTION) -> tuple[Housekeeper, Tables]:
    tables = engine.tables(100)
    return engine.housekeeper(tables, retention), tables


async def orphaned_tables(engine: EngineHarness, *table_ids: str, clock: ClockConfig = CLOCK) -> None:
    """Open tables at an engine that then dies."""
    dying = engine.another_engine()
    for table_id in table_ids:
        await open_table(dying, make_config(table_id=table_id, clock=clock))
    await dying.background.close(0)


async def overdue(engine: EngineHarness, *table_ids: str) -> None:
    await orphaned_tables(engine, *table_ids)
    engine.clock.advance(FULL_MILLISECONDS + 1_000)


def lengths(engine: EngineHarness) -> list[int]:
    return [len(kept.entries) for kept in engine.store.tables.values()]


@pytest.mark.parametrize("store_is_down", [False, True])
async def test_orphaned_tables_continue_within_two_seconds_of_their_deadline(
    engine: EngineHarness, store_is_down: bool
) -> None:
    await orphaned_tables(engine, "t1", "t2", "t3")
    running = asyncio.create_task(housekeeper_of(engine)[0].run())
    await pass_time(engine.clock, FULL_MILLISECONDS - 100)
    if store_is_down:
        engine.store.reads_fail = True
        await pass_time(engine.clock, 2_100)
        # The store has logged it.
        assert engine.logger.lines == []
        engine.store.reads_fail = False
    assert lengths(engine) == [1, 1, 1]
    await pass_time(engine.clock, 2_100)
    assert lengths(engine) == [2, 2, 2]
    assert {kept.entries[-1].acted_by for kept in engine.store.tables.values()} == {ActedBy.TIMEOUT}
    running.cancel()


async def test_an_overdue_table_is_loaded_by_one_engine_and_by_another_if_that_fails(engine: EngineHarness) -> None:
    await orphaned_tables(engine, "slow", clock=SLOW)
    await overdue(engine, "t1", "t2")
    dying = engine.another_engine()
    await dying.background.close(0)
    (housekeeper, tables), (other, other_tables) = housekeeper_of(engine), housekeeper_of(dying)
    await other.sweep()
    await housekeeper.sweep()
    assert (set(tables.in_memory), set(other_tables.in_memory)) == (set(), {"t1", "t2"})
    engine.clock.advance(CLAIM_MILLISECONDS + 1_000)
    await housekeeper.sweep()
    assert set(tables.in_memory) == {"t1", "t2"}
    await pass_time(engine.clock, 100)
    assert lengths(engine) == [1, 2, 2]


async def test_an_engine_that_stops_leaves_overdue_tables_to_others(engine: EngineHarness) -> None:
    await overdue(engine, "t1")
    (housekeeper, tables), (other, stopping) = housekeeper_of(engine), housekeeper_of(engine.another_engine())
    await stopping.drain()
    await other.sweep()
    await housekeeper.sweep()
    assert set(tables.in_memory) == {"t1"}
    assert engine.logger.events("error") == []


@pytest.mark.parametrize(
    ("broken", "others", "lines"),
    [
        ({"game": "gone"}, [], []),
        ({"rules_version": 99}, [], []),
        ({"game": "gone"}, [None], ["table cannot be loaded"]),
        ({"options": {"newer": True}}, [], ["table cannot be loaded"]),
        ({"options": {}}, [], ["the rules of a game failed"]),
    ],
    ids=str,
)
async def test_a_table_that_cannot_be_loaded_does_not_affect_others_and_is_logged_once(
    engine: EngineHarness, broken: dict[str, Any], others: list[EngineGames | None], lines: list[str]
) -> None:
    await overdue(engine, "t1", "t2")
    kept = engine.store.tables["t1"]
    kept.config = replace(kept.config, **broken)
    engine.liveness_store.others = others
    housekeeper, tables = housekeeper_of(engine)
    await housekeeper.sweep()
    assert set(tables.in_memory) == {"t2"}
    engine.clock.advance(CLAIM_MILLISECONDS + 1_000)
    await housekeeper.sweep()
    assert engine.logger.events("error") == lines


async def test_rules_that_no_engine_has_are_counted_and_logged_once_and_tried_again_each_minute(
    engine: EngineHarness,
) -> None:
    await overdue(engine, "t1", "t2", "t3")
    for table_id in ("t1", "t2"):
        kept = engine.store.tables[table_id]
        kept.config = replace(kept.config, game="gone", package="croupier-gone 1.0")
    housekeeper, _ = housekeeper_of(engine)
    for _ in range(2):
        await housekeeper.maintain()
    assert engine.count("croupier_tables_without_rules", game="gone") == 2
    assert engine.count("croupier_open_tables", game="gone") == 2
    assert engine.logger.lines == [("error", "rules are missing", {"game": "gone", "rules_version": 1, "tables": 2})]
    await housekeeper.sweep()
    tried_at = engine.clock() + RETRY_SECONDS * 1000
    assert [engine.store.tables[table_id].due_at for table_id in ("t1", "t2")] == [tried_at] * 2
    # Another engine has them: it is its turn.
    engine.liveness_store.others = [EngineGames("newer", {"gone": [1]}, ["gone"])]
    await housekeeper.maintain()
    assert engine.count("croupier_tables_without_rules", game="gone") == 0
    engine.clock.advance(RETRY_SECONDS * 1000 + 1_000)
    await housekeeper.sweep()
    assert engine.store.tables["t1"].due_at == engine.clock() + CLAIM_MILLISECONDS


async def opened(engine: EngineHarness, clock: ClockConfig = SLOW) -> tuple[Tables, Table]:
    tables = engine.tables(100)
    await tables.prepare("t1", "thulla", 3, {}, clock)
    await tables.open("t1", people(3), [b""] * 3)
    return tables, await tables.get("t1")


async def cut_off(engine: EngineHarness, engines: int) -> tuple[Housekeeper, Table]:
    """Return a housekeeper and a table where nothing is due, at one of several engines whose heartbeats now fail."""
    tables, table = await opened(engine)
    engine.liveness_store.engines = engines
    await engine.liveness.send_heartbeat()
    engine.liveness_store.down = True
    return engine.housekeeper(tables, RETENTION), table


async def test_a_cut_off_engine_hands_over_quiet_streams_and_later_catches_up(
    engine: EngineHarness,
) -> None:
    housekeeper, table = await cut_off(engine, engines=2)
    stream = await live_stream(table, SPECTATOR)
    engine.clock.advance(CUT_OFF_MILLISECONDS - 1)
    await housekeeper.hand_over()
    assert await pending_messages(stream) == []
    engine.clock.advance(1)
    await housekeeper.hand_over()
    (notice,) = await pending_messages(stream)
    assert event_of(notice).HasField("resume_notice")
    assert stream.closed
    with pytest.raises(Unavailable) as refusal:
        await table.catch_up_to(0)
    assert refusal.value.reason == errors_pb2.ERROR_REASON_TABLE_MOVED
    other = await reload_table(engine.another_engine(), "t1")
    await act_once(other, Random(1))
    engine.liveness_store.down = False
    await engine.liveness.send_heartbeat()
    await housekeeper.hand_over()
    await pass_time(engine.clock, RETRY_MILLISECONDS + 100)
    assert table.state.sequence == other.state.sequence
    assert not table.is_handed_over
    assert table.is_idle()


async def test_the_only_engine_keeps_its_streams_while_its_database_is_down(engine: EngineHarness) -> None:
    housekeeper, table = await cut_off(engine, engines=1)
    stream = await live_stream(table, SPECTATOR)
    engine.clock.advance(10 * CUT_OFF_MILLISECONDS)
    await housekeeper.hand_over()
    assert await pending_messages(stream) == []
    assert not stream.closed


async def tables_after_idle_time(tables: Tables) -> set[str]:
    await tables.evict(IDLE_MILLISECONDS)
    return set(tables.in_memory)


async def test_an_unused_table_leaves_memory_and_is_folded_again(engine: EngineHarness, seed: int) -> None:
    tables, table = await opened(engine)
    random = Random(seed)
    for _ in range(6):
        await act_once(table, random)
    assert await tables_after_idle_time(tables) == {"t1"}
    engine.clock.advance(IDLE_MILLISECONDS)
    assert await tables_after_idle_time(tables) == {"t1"}
    engine.clock.advance(1)
    assert await tables_after_idle_time(tables) == set()
    again = await tables.get("t1")
    assert again is not table
    assert again.state == table.state
    await act_once(again, random)
    engine.clock.advance(IDLE_MILLISECONDS)
    assert await tables_after_idle_time(tables) == {"t1"}


async def test_a_used_table_stays_in_memory(engine: EngineHarness) -> None:
    tables, table = await opened(engine)
    engine.clock.advance(IDLE_MILLISECONDS + 1)
    stream = table.subscribe(SPECTATOR, None)
    assert await tables_after_idle_time(tables) == {"t1"}
    table.subscribers.leave(stream)
    table.needs_catch_up = True
    assert await tables_after_idle_time(tables) == {"t1"}
    table.needs_catch_up = False
    async with table.lock:
        assert await tables_after_idle_time(tables) == {"t1"}
    assert await tables_after_idle_time(tables) == set()
    with pytest.raises(Unavailable):
        table.subscribe(SPECTATOR, None)


async def test_a_table_with_a_near_deadline_stays_in_memory(engine: EngineHarness) -> None:
    tables, _ = await opened(engine, ClockConfig(2 * IDLE_MILLISECONDS + 10, 0, 0))
    engine.clock.advance(IDLE_MILLISECONDS + 1)
    await tables.evict(IDLE_MILLISECONDS + 9)
    assert await tables_after_idle_time(tables) == set()
    await tables.get("t1")
    engine.clock.advance(IDLE_MILLISECONDS)
    await tables.evict(IDLE_MILLISECONDS // 2)
    assert set(tables.in_memory) == {"t1"}


async def test_heartbeats_are_sent_and_tables_are_counted(engine: EngineHarness, seed: int) -> None:
    await orphaned_tables(engine, "elsewhere")
    tables, table = await opened(engine)
    stream = await live_stream(table, SPECTATOR)
    housekeeper = engine.housekeeper(tables, RETENTION)
    await housekeeper.maintain()
    await housekeeper.maintain()
    assert [event_of(message).heartbeat.sequence for message in await pending_messages(stream)] == [1, 1]
    assert engine.count("croupier_tables_in_memory", game="thulla", phase="play") == 1
    assert engine.count("croupier_open_tables", game="thulla") == 2
    await play_on(table, Random(seed))
    await housekeeper.maintain()
    assert engine.count("croupier_tables_in_memory", game="thulla", phase="play") == 0
    assert engine.count("croupier_open_tables", game="thulla") == 1


@pytest.mark.parametrize("kept_milliseconds", [0, 86_400_000])
async def test_unopened_tables_are_deleted_and_replays_are_kept_by_default(
    engine: EngineHarness, monkeypatch: pytest.MonkeyPatch, kept_milliseconds: int
) -> None:
    asked: list[tuple[str, int, int]] = []
    left = {"delete_prepared": [50, 1], "delete_archived": [50, 0]}

    def count(name: str) -> Callable[[int, int], object]:
        async def work(before: int, limit: int) -> int:
            asked.append((name, engine.clock() - before, limit))
            return left[name].pop(0)

        return work

    for name in left:
        monkeypatch.setattr(engine.store, name, count(name))
    await housekeeper_of(engine, RetentionPolicy(1, PREPARED_MILLISECONDS, 3_600_000, kept_milliseconds))[0].archive()
    forgotten = [("delete_archived", kept_milliseconds, 50)] * 2 if kept_milliseconds else []
    prepared = ("delete_prepared", PREPARED_MILLISECONDS, 50)
    assert asked == [prepared] * 2 + forgotten


async def test_finished_tables_are_archived_after_their_time(engine: EngineHarness, seed: int) -> None:
    tables = engine.tables(100)
    for number in range(MAX_CLAIMED_TABLES + 1):
        await play_on(await open_table(engine, make_config(table_id=f"t{number}")), Random(seed))
    await open_table(engine, make_config(table_id="open"))
    housekeeper = engine.housekeeper(tables, RetentionPolicy(1, PREPARED_MILLISECONDS, 3_600_000, 0))
    engine.clock.advance(3_600_000)
    await housekeeper.archive()
    assert engine.count("croupier_tables_archived_total") == 0
    engine.clock.advance(1)
    await housekeeper.archive()
    assert engine.count("croupier_tables_archived_total") == MAX_CLAIMED_TABLES + 1
    assert Counter(kept.status for kept in engine.store.tables.values()) == {
        "archived": MAX_CLAIMED_TABLES + 1,
        "open": 1,
    }


async def test_the_archive_waits_for_a_database_that_is_down(
    engine: EngineHarness, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    await play_on(await open_table(engine, make_config()), Random(seed))
    housekeeper, _ = housekeeper_of(engine, RetentionPolicy(1, PREPARED_MILLISECONDS, 0, 0))
    engine.clock.advance(1)
    down = Unavailable(errors_pb2.ERROR_REASON_STORE_UNAVAILABLE, "down", retry_after_seconds=1)
    monkeypatch.setattr(engine.store, "log_after", AsyncMock(side_effect=down))
    with pytest.raises(Unavailable):
        await housekeeper.archive()
    assert engine.count("croupier_archive_failures_total") == 0
