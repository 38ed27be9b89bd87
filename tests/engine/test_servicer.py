"""Streams of the service that end badly, by a call that the tests hold in their hands."""

import asyncio
from random import Random
from typing import Any

import grpc
import pytest

from croupier.engine.live import LiveTable
from croupier.engine.servicer import FIRST_MESSAGE_SECONDS, PLAY, EngineServicer
from croupier.engine.streams import LONGEST_WRITE_SECONDS
from croupier.engine.tables import Tables
from croupier.runtime.errors import LimitReached, MalformedRequest
from croupier.runtime.identity import Caller, remember_caller
from croupier.runtime.player_limit import SECOND, PlayerLimit
from croupier.runtime.stream_places import StreamPlaces
from croupier_api.v1 import engine_pb2
from tests.engine.fakes import Bench
from tests.engine.play import act_once, make_config, open_table, parsed, play_on, soon, take_up
from tests.waiting import settled


class Call:
    """What a servicer sees of a call: requests to read, and what it wrote."""

    def __init__(self, *requests: engine_pb2.PlayRequest) -> None:
        self.requests: asyncio.Queue[Any] = asyncio.Queue()
        self.wrote: asyncio.Queue[bytes] = asyncio.Queue()
        for request in requests:
            self.requests.put_nowait(request.SerializeToString())

    async def read(self) -> Any:
        return await self.requests.get()

    async def write(self, message: bytes) -> None:
        self.wrote.put_nowait(message)


WATCH = engine_pb2.PlayRequest(watch=engine_pb2.WatchTableRequest(table_id="t1"))
ACTION = engine_pb2.SubmitActionRequest(request_id="r")
ACTION.action.play.card = 1  # type: ignore[assignment]


@pytest.fixture
async def tables(engine: Bench) -> Tables:
    remember_caller(Caller("p0", "Player 0"))
    await open_table(engine, make_config(seat_count=3))
    tables = Tables(engine.services, bytes, most_open_tables=3)
    await tables.get("t1")
    return tables


@pytest.fixture
def servicer(engine: Bench, tables: Tables) -> EngineServicer:
    return EngineServicer(tables, engine.services.metrics, StreamPlaces(2, 1))


def play(servicer: EngineServicer, call: Call) -> asyncio.Task[None]:
    context: Any = call
    return asyncio.create_task(servicer.play(None, context))


async def ended(*playing: asyncio.Task[None]) -> None:
    """End streams as their clients do."""
    for task in playing:
        task.cancel()
    await asyncio.gather(*playing, return_exceptions=True)


async def test_a_fault_of_the_program_ends_the_stream_instead_of_leaving_it_deaf(
    servicer: EngineServicer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails(*_arguments: object) -> int:
        raise ZeroDivisionError

    monkeypatch.setattr(LiveTable, "act", fails)
    with pytest.raises(ZeroDivisionError):
        await soon(play(servicer, Call(WATCH, engine_pb2.PlayRequest(action=ACTION))))


async def test_a_writer_that_its_reader_holds_up_is_cut_off(
    servicer: EngineServicer, tables: Tables, engine: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("croupier.engine.streams.LONGEST_QUEUE_MESSAGES", 3)
    call = Call(WATCH)
    writing = asyncio.Event()

    async def stands_still(message: bytes) -> None:
        writing.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(call, "write", stands_still)
    playing = play(servicer, call)
    await soon(writing.wait())
    await play_on(await tables.get("t1"), Random(1), most=4)
    engine.clock.advance(round(LONGEST_WRITE_SECONDS * 1000) - 1)
    await settled()
    assert not playing.done()
    engine.clock.advance(1)
    with pytest.raises(asyncio.CancelledError):
        await playing
    assert engine.count("croupier_streams") == 0
    assert engine.count("croupier_slow_readers_closed_total") == 1


async def test_a_first_message_that_does_not_come_is_waited_for_so_long(
    servicer: EngineServicer, engine: Bench
) -> None:
    playing = play(servicer, Call())
    await settled()
    engine.clock.advance(round(FIRST_MESSAGE_SECONDS * 1000))
    with pytest.raises(MalformedRequest, match="did not come in time"):
        await playing


async def test_what_was_seen_at_another_engine_can_be_resumed_from_here(
    servicer: EngineServicer, tables: Tables, engine: Bench
) -> None:
    await act_once(await take_up(engine.another_engine(), "t1"), Random(1))
    watch = engine_pb2.WatchTableRequest(table_id="t1", after_sequence=2)
    playing = play(servicer, call := Call(engine_pb2.PlayRequest(watch=watch)))
    await settled()
    table = await tables.get("t1")
    assert table.state.sequence == 2
    await act_once(table, Random(1))
    assert parsed(await soon(call.wrote.get())).update.sequence == 3
    await ended(playing)


async def test_a_client_that_says_no_more_goes_on_watching(servicer: EngineServicer, tables: Tables) -> None:
    playing = play(servicer, call := Call(WATCH))
    call.requests.put_nowait(grpc.aio.EOF)
    assert parsed(await soon(call.wrote.get())).snapshot.sequence == 1
    await act_once(await tables.get("t1"), Random(1))
    assert parsed(await soon(call.wrote.get())).update.sequence == 2
    await ended(playing)


async def test_streams_take_places_of_their_player_and_give_them_back(servicer: EngineServicer, engine: Bench) -> None:
    first = play(servicer, call := Call(WATCH))
    await soon(call.wrote.get())
    context: Any = Call()
    for again in (play(servicer, Call(WATCH)), anext(servicer.watch_table(WATCH.watch, context))):
        with pytest.raises(LimitReached) as refusal:
            await soon(again)
        assert refusal.value.reason == "PLAYER_STREAMS"
    remember_caller(Caller("p1", "Player 1"))
    other = play(servicer, call := Call(WATCH))
    await soon(call.wrote.get())
    assert engine.count("croupier_streams") == 2
    await ended(first, other)
    assert engine.count("croupier_streams") == 0
    again = play(servicer, call := Call(WATCH))
    await soon(call.wrote.get())
    await ended(again)


async def test_messages_beyond_what_a_player_may_send_are_held_back(engine: Bench, tables: Tables) -> None:
    limit = PlayerLimit(20, 3, lambda: SECOND)
    servicer = EngineServicer(tables, engine.services.metrics, StreamPlaces(2, 2), limit)
    requests = [engine_pb2.PlayRequest(action=ACTION) for _ in range(6)]
    playing = play(servicer, call := Call(WATCH, *requests))
    answers: list[engine_pb2.ActionAnswer] = []
    for milliseconds, come in ((0, 3), (49, 0), (1, 1), (99, 0), (1, 1)):
        engine.clock.advance(milliseconds)
        await settled()
        messages = [parsed(call.wrote.get_nowait()) for _ in range(call.wrote.qsize())]
        new = [message.answer for message in messages if message.HasField("answer")]
        assert len(new) == come
        answers += new
    assert {answer.refusal.reason for answer in answers} == {"ILLEGAL_ACTION"}
    assert engine.count("croupier_rpc_limited_total", method=PLAY) == 3
    with pytest.raises(LimitReached):
        limit.take("p0")
    # A stream that ends while a message is held back leaves nothing.
    await ended(playing)
    assert engine.count("croupier_streams") == 0
