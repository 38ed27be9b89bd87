"""An engine that stops: what is being stored is stored and answered, then streams go elsewhere, and it ends in time."""

import asyncio
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import grpc
import pytest

from croupier.engine.assembly import Engine, assemble
from croupier.engine.servicer import EngineServicer
from croupier.engine.settings import EngineSettings
from croupier.engine.store import StoredTable
from croupier.engine.tables import Tables
from croupier.games.facts import SPECTATOR
from croupier.runtime.database import open_database
from croupier.runtime.errors import Unavailable
from croupier.runtime.identity import Caller, remember_caller
from croupier.runtime.stream_places import StreamPlaces
from croupier_api.v1 import engine_pb2
from tests.engine.fakes import Bench, FakeClock, FakeScoring, RecordingLogger
from tests.engine.play import CLOCK, act_once, choice, make_config, parsed, people, play_on, soon, taken, until_end
from tests.engine.test_servicer import WATCH, Call
from tests.waiting import settled, until


@pytest.fixture
async def tables(engine: Bench) -> Tables:
    tables = Tables(engine.services, bytes, 10)
    await tables.prepare("t1", "thulla", 3, {}, CLOCK)
    await tables.open("t1", people(3), [b""] * 3)
    return tables


def events(messages: list[bytes]) -> list[str | None]:
    return [parsed(message).WhichOneof("event") for message in messages]


async def test_an_append_under_way_is_stored_and_answered_before_the_notice(engine: Bench, tables: Tables) -> None:
    table = await tables.get("t1")
    stream = table.subscribe(SPECTATOR, 1)
    engine.store.gate.clear()
    acting = asyncio.create_task(act_once(table, Random(1)))
    await soon(engine.store.held.wait())
    draining = asyncio.create_task(tables.drain())
    await settled()
    assert (acting.done(), draining.done(), await taken(stream)) == (False, False, [])
    engine.store.gate.set()
    assert await soon(acting) == 2
    await soon(draining)
    assert events(await until_end(stream)) == ["update", "resume_notice"]


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


async def test_new_calls_are_sent_on(engine: Bench, tables: Tables) -> None:
    await tables.drain()
    servicer = EngineServicer(tables, engine.services.metrics, StreamPlaces(5, 5))
    remember_caller(Caller("p0", "Player"))
    context: Any = None
    submit = engine_pb2.SubmitActionRequest(table_id="t1", request_id="r")
    for call in (
        servicer.submit_action(submit, context),
        servicer.get_view(engine_pb2.GetViewRequest(table_id="t1"), context),
        servicer.get_replay(engine_pb2.GetReplayRequest(table_id="t1"), context),
        servicer.watch_table(engine_pb2.WatchTableRequest(table_id="t1"), context).__anext__(),
        tables.prepare("t2", "thulla", 3, {}, CLOCK),
        tables.open("t1", people(3), [b""] * 3),
    ):
        with pytest.raises(Unavailable) as refusal:
            await call
        assert (refusal.value.reason, refusal.value.code) == ("DRAINING", grpc.StatusCode.UNAVAILABLE)


async def test_one_who_asked_for_his_table_just_before_is_sent_on_too(engine: Bench, tables: Tables) -> None:
    table = await tables.get("t1")
    other = Tables(engine.another_engine().services, bytes, 10)
    # It has been asked for, and is not loaded yet.
    refused, _ = await asyncio.gather(other.get("t1"), other.drain(), return_exceptions=True)
    assert isinstance(refused, Unavailable)
    await tables.drain()
    with pytest.raises(Unavailable):
        table.subscribe(SPECTATOR, None)


@pytest.mark.parametrize("is_given_up", [False, True])
async def test_a_table_on_its_way_into_memory_is_waited_for_or_given_up(
    engine: Bench, tables: Tables, monkeypatch: pytest.MonkeyPatch, is_given_up: bool
) -> None:
    """Also when no call asks for it any more: what reads its log holds a connection to the database."""
    goes_on, load = asyncio.Event(), engine.store.load

    async def slow_load(table_id: str) -> StoredTable | None:
        await goes_on.wait()
        return await load(table_id)

    monkeypatch.setattr(engine.store, "load", slow_load)
    stopping = Tables(engine.another_engine().services, bytes, 10)
    asking = [asyncio.create_task(stopping.get("t1")) for _ in range(2)]
    await settled()
    asking[0].cancel()
    draining = asyncio.create_task(stopping.drain())
    await settled()
    assert not draining.done()
    if is_given_up:
        draining.cancel()
    else:
        goes_on.set()
    await asyncio.wait([draining, *asking])
    assert not stopping.loading
    assert is_given_up or isinstance(asking[1].exception(), Unavailable)


async def test_an_action_whose_time_runs_out_meanwhile_is_left_to_other_engines(engine: Bench, tables: Tables) -> None:
    await tables.drain()
    engine.clock.advance(10 * CLOCK.action_milliseconds)
    await settled()
    assert len(engine.store.tables["t1"].entries) == 1


# A whole engine on a real database


def an_engine(database_url: str, scoring: FakeScoring) -> tuple[Engine, Callable[[], Any]]:
    settings = EngineSettings(
        database=database_url, lobby_public_key=Path(), signing_key=Path(), scoring_control="", bot_processes=0
    )
    database = open_database(database_url)
    return assemble(settings, database, scoring, bytes, FakeClock(), RecordingLogger()), database.dispose


async def played(engine: Engine, seed: int) -> int:
    """A whole game; gives how many reports it makes."""
    await engine.tables.prepare("t1", "thulla", 3, make_config().options, CLOCK)
    await engine.tables.open("t1", people(3), [b""] * 3)
    table = await engine.tables.get("t1")
    await play_on(table, Random(seed))
    return len(table.reports)


@pytest.mark.parametrize("scoring_is_down", [False, True])
async def test_what_waits_is_stored_and_reports_are_handed_over(
    database_url: str, seed: int, scoring_is_down: bool
) -> None:
    scoring = FakeScoring()
    scoring.down = scoring_is_down
    engine, dispose = an_engine(database_url, scoring)
    committing = asyncio.create_task(engine.store.run())
    reports = await played(engine, seed)
    await engine.tables.prepare("t2", "thulla", 3, {}, CLOCK)
    await engine.tables.open("t2", people(3), [b""] * 3)
    table = await engine.tables.get("t2")
    stream = table.subscribe(SPECTATOR, 1)
    seat, action = choice(table.state, Random(seed))
    acting = asyncio.create_task(table.act(seat, action, "r", None))
    await settled()
    await engine.send_streams_elsewhere(5)
    await engine.finish(committing, 5)
    assert committing.done()
    assert not committing.cancelled()
    assert await soon(acting) == 2
    assert events(await until_end(stream)) == ["update", "resume_notice"]
    assert len(scoring.got) == (0 if scoring_is_down else reports)
    stored = await engine.store.load("t2")
    assert stored
    assert len(stored.entries) == 2
    await dispose()


async def test_a_store_that_hangs_keeps_the_engine_no_longer_than_its_grace(sqlite_url: str) -> None:
    engine, dispose = an_engine(sqlite_url, FakeScoring())
    committing = asyncio.create_task(engine.store.run())
    await engine.tables.prepare("t1", "thulla", 3, {}, CLOCK)
    await engine.tables.open("t1", people(3), [b""] * 3)
    table = await engine.tables.get("t1")
    with closing(sqlite3.connect(sqlite_url.removeprefix("sqlite:///"))) as holder:
        holder.execute("BEGIN IMMEDIATE")
        acting = asyncio.create_task(act_once(table, Random(1)))
        await settled()
        await engine.send_streams_elsewhere(0.1)
        await engine.finish(committing, 0.1)
        assert committing.done()
        holder.rollback()
    acting.cancel()
    await asyncio.gather(acting, return_exceptions=True)
    # The writer gives its connection back.
    await soon(engine.store.run())
    await dispose()
    # A statement that waited for the lock ends on its thread, which must not outlive the event loop.
    await until(lambda: not any("_connection_worker" in thread.name for thread in threading.enumerate()))
