"""The drain of an engine: appends are stored and answered, streams end with a notice, and it ends in time."""

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Coroutine
from contextlib import closing
from random import Random
from typing import Any

import pytest

from croupier.engine.tables.registry import Tables
from croupier.engine.tables.table import Table
from croupier.games.facts import SPECTATOR
from croupier.runtime.database.database import open_database
from croupier.runtime.errors import Unavailable
from croupier.runtime.server.tasks import end_tasks
from croupier_api.v1 import engine_pb2
from tests.calls import call_of
from tests.engine.databases import assembled, loaded
from tests.engine.fakes import EngineHarness, FakeScoring
from tests.engine.play import (
    CLOCK,
    act_once,
    event_of,
    live_stream,
    make_config,
    open_table,
    parsed,
    people,
    play_on,
    until_end,
    within_timeout,
)
from tests.engine.test_servicer import WATCH, FakeCall
from tests.engine.timing import HeldCall
from tests.waiting import settled


@pytest.fixture
async def tables(engine: EngineHarness) -> Tables:
    tables = engine.tables(10)
    await tables.prepare("t1", "thulla", 3, {}, CLOCK)
    await tables.open("t1", people(3), [b""] * 3)
    return tables


async def test_on_a_play_stream_the_answer_comes_before_the_notice_which_is_last(
    engine: EngineHarness, tables: Tables
) -> None:
    table = await tables.get("t1")
    (seat,) = table.state.seats_to_act
    call = FakeCall(WATCH)
    playing = asyncio.create_task(engine.servicer(tables).PlayTable(None, call_of(f"p{seat}", context=call)))
    legal = event_of(await within_timeout(call.written.get())).snapshot.legal_actions
    engine.store.gate.clear()
    action = engine_pb2.SubmitActionRequest(request_id="r", action=legal.actions[0])
    call.requests.put_nowait(engine_pb2.PlayTableRequest(action=action).SerializeToString())
    await within_timeout(engine.store.held.wait())
    draining = asyncio.create_task(tables.drain())
    await settled()
    engine.store.gate.set()
    await within_timeout(draining)
    await within_timeout(playing)
    messages = [parsed(call.written.get_nowait()) for _ in range(call.written.qsize())]
    assert [message.answer.sequence for message in messages if message.HasField("answer")] == [2]
    is_notice = [message.table_event.HasField("resume_notice") for message in messages]
    assert is_notice == [False] * (len(messages) - 1) + [True]
    assert len(engine.store.tables["t1"].entries) == 2


async def test_a_draining_engine_refuses_new_streams_and_tables_and_acts_for_no_seat(
    engine: EngineHarness, tables: Tables
) -> None:
    table = await tables.get("t1")
    await tables.drain()
    with pytest.raises(Unavailable) as moved:
        table.subscribe(SPECTATOR, None)
    assert moved.value.reason_name == "TABLE_MOVED"
    for call in (
        tables.get("t1"),
        tables.prepare("t2", "thulla", 3, {}, CLOCK),
        tables.open("t1", people(3), [b""] * 3),
    ):
        with pytest.raises(Unavailable) as refusal:
            await call
        assert refusal.value.reason_name == "SERVER_STOPPING"
    engine.clock.advance(10 * CLOCK.action_milliseconds)
    await settled()
    assert len(engine.store.tables["t1"].entries) == 1


@pytest.mark.parametrize("is_given_up", [False, True])
async def test_a_table_that_is_being_loaded_is_awaited_or_cancelled(
    engine: EngineHarness, tables: Tables, monkeypatch: pytest.MonkeyPatch, is_given_up: bool
) -> None:
    """Also without a waiting call, since the read holds a connection to the database."""
    load = HeldCall(engine.store, "log_after", monkeypatch)
    stopping = engine.another_engine().tables(10)
    asking = [asyncio.create_task(stopping.get("t1")) for _ in range(2)]
    await load.until_read()
    asking[0].cancel()
    draining = asyncio.create_task(stopping.drain())
    await settled()
    assert not draining.done()
    if is_given_up:
        draining.cancel()
    else:
        load.release()
    await asyncio.wait([draining, *asking])
    assert not stopping.loading
    assert is_given_up or isinstance(asking[1].exception(), Unavailable)


class StoreEngine:
    """An engine with only its store running."""

    def __init__(self, database_url: str) -> None:
        self.scoring, self.database = FakeScoring(), open_database(database_url)
        self.engine = assembled(self.database, scoring=self.scoring)
        self.committing = asyncio.create_task(self.engine.store.commits.run())

    async def opened(self, table_id: str) -> Table:
        tables = self.engine.tables
        await tables.prepare(table_id, "thulla", 3, make_config().options, CLOCK)
        await tables.open(table_id, people(3), [b""] * 3)
        return await tables.get(table_id)

    async def stop(self, grace_seconds: float) -> None:
        await self.engine.hand_over_streams(grace_seconds)
        await self.engine.finish(grace_seconds)


@pytest.mark.parametrize("scoring_is_down", [False, True])
async def test_waiting_appends_are_stored_and_reports_are_sent(
    database_url: str, seed: int, scoring_is_down: bool
) -> None:
    harness = StoreEngine(database_url)
    harness.scoring.down = scoring_is_down
    played = await harness.opened("t1")
    await play_on(played, Random(seed))
    table = await harness.opened("t2")
    stream = await live_stream(table, SPECTATOR)
    acting = asyncio.create_task(act_once(table, Random(seed)))
    await settled()
    await harness.stop(5)
    assert harness.committing.done()
    assert await within_timeout(acting) == 2
    messages = await until_end(stream)
    assert [event_of(message).WhichOneof("event_kind") for message in messages] == ["update", "resume_notice"]
    assert len(harness.scoring.received) == (0 if scoring_is_down else len(played.reports))
    assert len((await loaded(harness.engine.store, "t2")).entries) == 2
    await harness.database.close()


async def test_a_store_that_hangs_is_given_up_after_the_grace_period(sqlite_url: str) -> None:
    harness = StoreEngine(sqlite_url)
    table = await harness.opened("t1")
    with closing(sqlite3.connect(sqlite_url.removeprefix("sqlite:///"))) as holder:
        holder.execute("BEGIN IMMEDIATE")
        acting = asyncio.create_task(act_once(table, Random(1)))
        await settled()
        await harness.stop(0.1)
        await end_tasks([harness.committing])
        holder.rollback()
    acting.cancel()
    await asyncio.gather(acting, return_exceptions=True)
    await harness.database.close()
    # A statement that waited for the lock has ended in its thread, which must not outlive the event loop.
    assert not any("sqlite" in thread.name for thread in threading.enumerate())


async def test_work_whose_caller_has_gone_ends_with_the_engine(
    engine: EngineHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = asyncio.all_tasks()
    table, tables = await open_table(engine, make_config()), engine.tables()
    works: dict[str, Callable[[], Coroutine[Any, Any, object]]] = {
        "find": lambda: tables.get("t1"),
        "log_after": lambda: table.catch_up_to(9),
    }
    for name, work in works.items():
        held = HeldCall(engine.store, name, monkeypatch)
        call = asyncio.create_task(work())
        await held.until_read()
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
        assert asyncio.all_tasks() > before
        await asyncio.gather(tables.close(), table.close())
        assert asyncio.all_tasks() == before
        monkeypatch.undo()
