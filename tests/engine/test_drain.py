"""An engine that stops: what is being stored is stored and answered, then streams go elsewhere, and it ends in time."""

import asyncio
import sqlite3
import threading
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import pytest

from croupier.engine.assembly import assemble
from croupier.engine.live import LiveTable
from croupier.engine.servicer import EngineServicer
from croupier.engine.settings import EngineSettings
from croupier.engine.tables import Tables
from croupier.games.facts import SPECTATOR
from croupier.runtime.database import open_database
from croupier.runtime.errors import Unavailable
from croupier.runtime.identity import Caller, remember_caller
from croupier.runtime.stream_places import StreamPlaces
from croupier_api.v1 import engine_pb2
from tests.engine.databases import loaded
from tests.engine.fakes import Bench, FakeClock, FakeScoring, RecordingLogger
from tests.engine.play import CLOCK, act_once, make_config, parsed, people, play_on, soon, until_end
from tests.engine.test_servicer import WATCH, Call
from tests.engine.timing import Held
from tests.waiting import settled, until


@pytest.fixture
async def tables(engine: Bench) -> Tables:
    tables = Tables(engine.services, bytes, 10)
    await tables.prepare("t1", "thulla", 3, {}, CLOCK)
    await tables.open("t1", people(3), [b""] * 3)
    return tables


async def test_on_a_play_stream_the_answer_comes_before_the_notice_which_is_last(engine: Bench, tables: Tables) -> None:
    table = await tables.get("t1")
    (seat,) = table.state.seats_to_act
    remember_caller(Caller(f"p{seat}", "Player"))
    call: Any = Call(WATCH)
    playing = asyncio.create_task(EngineServicer(tables, engine.services.metrics, StreamPlaces(5, 5)).play(None, call))
    legal = parsed(await soon(call.wrote.get())).snapshot.legal_actions
    engine.store.gate.clear()
    action = engine_pb2.SubmitActionRequest(request_id="r", action=legal.actions[0])
    call.requests.put_nowait(engine_pb2.PlayRequest(action=action).SerializeToString())
    await soon(engine.store.held.wait())
    draining = asyncio.create_task(tables.drain())
    await settled()
    engine.store.gate.set()
    await soon(draining)
    await soon(playing)
    told = [parsed(call.wrote.get_nowait()) for _ in range(call.wrote.qsize())]
    assert [message.answer.sequence for message in told if message.HasField("answer")] == [2]
    assert [message.HasField("resume_notice") for message in told] == [False] * (len(told) - 1) + [True]
    assert len(engine.store.tables["t1"].entries) == 2


async def test_whoever_comes_to_an_engine_that_stops_is_sent_on(tables: Tables) -> None:
    table = await tables.get("t1")
    await tables.drain()
    with pytest.raises(Unavailable) as moved:
        table.subscribe(SPECTATOR, None)
    assert moved.value.reason == "TABLE_MOVED"
    for call in (
        tables.get("t1"),
        tables.prepare("t2", "thulla", 3, {}, CLOCK),
        tables.open("t1", people(3), [b""] * 3),
    ):
        with pytest.raises(Unavailable) as refusal:
            await call
        assert refusal.value.reason == "DRAINING"


@pytest.mark.parametrize("is_given_up", [False, True])
async def test_a_table_on_its_way_into_memory_is_waited_for_or_given_up(
    engine: Bench, tables: Tables, monkeypatch: pytest.MonkeyPatch, is_given_up: bool
) -> None:
    """Also when no call asks for it any more: what reads its log holds a connection to the database."""
    load = Held(engine.store, "load", monkeypatch)
    stopping = Tables(engine.another_engine().services, bytes, 10)
    asking = [asyncio.create_task(stopping.get("t1")) for _ in range(2)]
    await load.has_read()
    asking[0].cancel()
    draining = asyncio.create_task(stopping.drain())
    await settled()
    assert not draining.done()
    if is_given_up:
        draining.cancel()
    else:
        load.let_go()
    await asyncio.wait([draining, *asking])
    assert not stopping.loading
    assert is_given_up or isinstance(asking[1].exception(), Unavailable)


async def test_an_action_whose_time_runs_out_meanwhile_is_left_to_other_engines(engine: Bench, tables: Tables) -> None:
    await tables.drain()
    engine.clock.advance(10 * CLOCK.action_milliseconds)
    await settled()
    assert len(engine.store.tables["t1"].entries) == 1


# A whole engine on a real database


class Whole:
    """An engine of which only the store runs."""

    def __init__(self, database_url: str) -> None:
        settings = EngineSettings(
            database=database_url, lobby_public_key=Path(), signing_key=Path(), scoring_control="", bot_processes=0
        )
        self.scoring = FakeScoring()
        self.database = open_database(database_url)
        self.engine = assemble(settings, self.database, self.scoring, bytes, FakeClock(), RecordingLogger())
        self.committing = asyncio.create_task(self.engine.store.run())

    async def opened(self, table_id: str) -> LiveTable:
        tables = self.engine.tables
        await tables.prepare(table_id, "thulla", 3, make_config().options, CLOCK)
        await tables.open(table_id, people(3), [b""] * 3)
        return await tables.get(table_id)

    async def stop(self, grace_seconds: float) -> None:
        await self.engine.send_streams_elsewhere(grace_seconds)
        await self.engine.finish(self.committing, grace_seconds)
        assert self.committing.done()


@pytest.mark.parametrize("scoring_is_down", [False, True])
async def test_what_waits_is_stored_and_reports_are_handed_over(
    database_url: str, seed: int, scoring_is_down: bool
) -> None:
    whole = Whole(database_url)
    whole.scoring.down = scoring_is_down
    played = await whole.opened("t1")
    await play_on(played, Random(seed))
    table = await whole.opened("t2")
    stream = table.subscribe(SPECTATOR, 1)
    acting = asyncio.create_task(act_once(table, Random(seed)))
    await settled()
    await whole.stop(5)
    assert not whole.committing.cancelled()
    assert await soon(acting) == 2
    messages = await until_end(stream)
    assert [parsed(message).WhichOneof("event") for message in messages] == ["update", "resume_notice"]
    assert len(whole.scoring.got) == (0 if scoring_is_down else len(played.reports))
    assert len((await loaded(whole.engine.store, "t2")).entries) == 2
    await whole.database.dispose()


async def test_a_store_that_hangs_keeps_the_engine_no_longer_than_its_grace(sqlite_url: str) -> None:
    whole = Whole(sqlite_url)
    table = await whole.opened("t1")
    with closing(sqlite3.connect(sqlite_url.removeprefix("sqlite:///"))) as holder:
        holder.execute("BEGIN IMMEDIATE")
        acting = asyncio.create_task(act_once(table, Random(1)))
        await settled()
        await whole.stop(0.1)
        holder.rollback()
    acting.cancel()
    await asyncio.gather(acting, return_exceptions=True)
    # The writer gives its connection back.
    await soon(whole.engine.store.run())
    await whole.database.dispose()
    # A statement that waited for the lock ends on its thread, which must not outlive the event loop.
    await until(lambda: not any("_connection_worker" in thread.name for thread in threading.enumerate()))
