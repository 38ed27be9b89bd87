"""Streams of the servicer that end with errors, proposals and votes, with a fake call."""

import asyncio
from random import Random
from typing import Any

import grpc
import pytest

from croupier.engine.api.action_codec import encode_action
from croupier.engine.api.play_session import PLAY_TABLE
from croupier.engine.api.servicer import EngineServicer
from croupier.engine.tables.entry_rate import EntryLimit, EntryRate
from croupier.engine.tables.registry import Tables
from croupier.engine.tables.subscribers import MAX_SEAT_STREAMS
from croupier.engine.tables.subscription import MAX_WRITE_SECONDS
from croupier.engine.tables.table import Table
from croupier.runtime.admission.budget import SECOND, Budget
from croupier.runtime.admission.limits import Limits
from croupier.runtime.errors import (
    AlreadyExists,
    IllegalNow,
    LimitReached,
    MalformedRequest,
    NotPermitted,
    TimedOut,
    from_status,
    to_status,
)
from croupier.runtime.identity.tokens import Caller
from croupier.runtime.server.interceptor import REQUEST_SECONDS
from croupier_api.v1 import engine_pb2
from tests.calls import call_of, limits
from tests.engine.fakes import EngineHarness
from tests.engine.play import (
    act_once,
    choice,
    event_of,
    make_config,
    open_table,
    parsed,
    play_on,
    reload_table,
    within_timeout,
)
from tests.waiting import settled


class FakeCall:
    """The context of a call: requests to read, and written messages."""

    def __init__(self, *requests: engine_pb2.PlayTableRequest) -> None:
        self.requests: asyncio.Queue[Any] = asyncio.Queue()
        self.written: asyncio.Queue[bytes] = asyncio.Queue()
        self.playing: asyncio.Task[None] | None = None
        self.has_begun = False
        """Whether the headers of the answer were sent."""
        for request in requests:
            self.requests.put_nowait(request.SerializeToString())

    async def read(self) -> Any:
        return await self.requests.get()

    async def send_initial_metadata(self, _metadata: object) -> None:
        self.has_begun = True

    async def write(self, message: bytes) -> None:
        self.written.put_nowait(message)


class BlockedCall(FakeCall):
    def __init__(self) -> None:
        super().__init__(WATCH)
        self.writing = asyncio.Event()

    async def write(self, message: bytes) -> None:
        self.writing.set()
        await asyncio.Event().wait()


WATCH = engine_pb2.PlayTableRequest(watch=engine_pb2.WatchTableRequest(table_id="t1"))
ACTION = engine_pb2.SubmitActionRequest(request_id="r")
P0 = Caller("p0", "Player 0")
ACTION.action.play.card = 1  # type: ignore[assignment]


@pytest.fixture
def servicer(engine: EngineHarness, tables: Tables) -> EngineServicer:
    return engine.servicer(tables)


def play(
    servicer: EngineServicer, call: FakeCall, caller: Caller = P0, held: Limits | None = None
) -> asyncio.Task[None]:
    call.playing = asyncio.create_task(servicer.PlayTable(None, call_of(caller, held, context=call)))
    return call.playing


async def test_an_internal_error_ends_the_stream(servicer: EngineServicer, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fails(*_arguments: object) -> int:
        raise ZeroDivisionError

    monkeypatch.setattr(Table, "append_once", fails)
    with pytest.raises(ZeroDivisionError):
        await within_timeout(play(servicer, FakeCall(WATCH, engine_pb2.PlayTableRequest(action=ACTION))))


async def test_a_write_that_its_reader_blocks_is_cancelled(engine: EngineHarness, tables: Tables) -> None:
    engine.max_queue_messages = 3
    tables = engine.tables(3)
    playing = play(engine.servicer(tables), blocked := BlockedCall())
    await within_timeout(blocked.writing.wait())
    await play_on(await tables.get("t1"), Random(1), max_actions=4)
    engine.clock.advance(round(MAX_WRITE_SECONDS * 1000) - 1)
    await settled()
    assert not playing.done()
    engine.clock.advance(1)
    with pytest.raises(asyncio.CancelledError):
        await playing
    assert not (await tables.get("t1")).subscribers
    assert engine.count("croupier_slow_readers_closed_total") == 1


async def test_the_writer_of_a_dead_stream_ends_when_newer_streams_replace_it(
    engine: EngineHarness, servicer: EngineServicer
) -> None:
    oldest = play(servicer, dead := BlockedCall())
    await within_timeout(dead.writing.wait())
    others = []
    for _ in range(MAX_SEAT_STREAMS):
        others.append(play(servicer, call := FakeCall(WATCH)))
        await within_timeout(call.written.get())
    engine.clock.advance(round(MAX_WRITE_SECONDS * 1000))
    with pytest.raises(asyncio.CancelledError):
        await oldest


async def test_a_missing_first_message_times_out(servicer: EngineServicer, engine: EngineHarness) -> None:
    playing = play(servicer, call := FakeCall())
    await settled()
    engine.clock.advance(round(REQUEST_SECONDS * 1000))
    with pytest.raises(TimedOut, match="the first message did not arrive: expected it within 5 s"):
        await playing
    assert not call.has_begun


async def test_the_answer_begins_with_the_first_message_before_the_table_is_loaded(
    servicer: EngineServicer, tables: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The gateway ends a call whose request is not complete in time, unless its answer has begun."""
    loading = asyncio.Event()

    async def loads(*_arguments: object) -> None:
        loading.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(tables, "load", loads)
    play(servicer, call := FakeCall(WATCH))
    await within_timeout(loading.wait())
    assert call.has_begun


async def test_a_stream_resumes_a_sequence_of_another_engine(
    servicer: EngineServicer, tables: Tables, engine: EngineHarness
) -> None:
    await act_once(await reload_table(engine.another_engine(), "t1"), Random(1))
    watch = engine_pb2.WatchTableRequest(table_id="t1", after_sequence=2)
    play(servicer, call := FakeCall(engine_pb2.PlayTableRequest(watch=watch)))
    assert event_of(await within_timeout(call.written.get())).turn_state.sequence == 2
    table = await tables.get("t1")
    assert table.state.sequence == 2
    await act_once(table, Random(1))
    assert event_of(await within_timeout(call.written.get())).update.sequence == 3


async def test_a_half_closed_stream_continues(servicer: EngineServicer, tables: Tables) -> None:
    play(servicer, call := FakeCall(WATCH))
    call.requests.put_nowait(grpc.aio.EOF)
    assert event_of(await within_timeout(call.written.get())).snapshot.sequence == 1
    await act_once(await tables.get("t1"), Random(1))
    assert event_of(await within_timeout(call.written.get())).update.sequence == 2


async def test_messages_beyond_the_rate_limit_are_delayed(engine: EngineHarness, tables: Tables) -> None:
    limit = Budget("calls", 20, 3, lambda: SECOND)
    servicer = engine.servicer(tables)
    requests = [engine_pb2.PlayTableRequest(action=ACTION) for _ in range(6)]
    play(servicer, call := FakeCall(WATCH, *requests), held=limits(player=limit))
    answers: list[engine_pb2.ActionAnswer] = []
    for milliseconds, come in ((0, 3), (49, 0), (1, 1), (99, 0), (1, 1)):
        engine.clock.advance(milliseconds)
        await settled()
        messages = [parsed(call.written.get_nowait()) for _ in range(call.written.qsize())]
        new = [message.answer for message in messages if message.HasField("answer")]
        assert len(new) == come
        answers += new
    refusals = [from_status(answer.refusal) for answer in answers]
    assert {refusal and refusal.reason_name for refusal in refusals} == {"ILLEGAL_ACTION"}
    assert engine.count("croupier_rpc_limited_total", method=PLAY_TABLE) == 3
    with pytest.raises(LimitReached):
        limit.pay("p0")


async def test_an_action_of_a_stream_waits_for_the_rate_of_its_table(
    servicer: EngineServicer, tables: Tables, engine: EngineHarness
) -> None:
    table = await tables.get("t1")
    table.entry_rate = EntryRate(EntryLimit(10, 1))
    table.entry_rate.count(engine.clock())
    seat, action = choice(table.state, Random(1))
    player = Caller(f"p{seat}", "Player")
    request = engine_pb2.SubmitActionRequest(request_id="r", action=encode_action(action), table_id="t1")
    with pytest.raises(LimitReached) as refusal:
        await servicer.SubmitAction(request, call_of(player))
    assert refusal.value.retry_after_seconds == 0.1
    play(servicer, call := FakeCall(WATCH, engine_pb2.PlayTableRequest(action=request)), player)
    await settled()
    assert (call.written.qsize(), table.state.sequence) == (1, 1)
    engine.clock.advance(100)
    await settled()
    assert table.state.sequence == 2
    answers = [parsed(call.written.get_nowait()).answer for _ in range(call.written.qsize())]
    assert [answer.sequence for answer in answers if answer.request_id] == [2]


async def test_a_malformed_action_is_refused_alike_in_a_call_and_in_a_stream(
    servicer: EngineServicer, tables: Tables
) -> None:
    play(servicer, call := FakeCall(WATCH))
    assert event_of(await within_timeout(call.written.get())).HasField("snapshot")
    request = engine_pb2.SubmitActionRequest(table_id="t1", request_id="r")
    with pytest.raises(MalformedRequest) as refusal:
        await servicer.SubmitAction(request, call_of(P0))
    assert refusal.value.reason_name == "INVALID_ACTION"
    call.requests.put_nowait(engine_pb2.PlayTableRequest(action=request).SerializeToString())
    message = parsed(await within_timeout(call.written.get()))
    assert message.answer.refusal == to_status(refusal.value)
    assert (await tables.get("t1")).state.sequence == 1


WRONG_MESSAGES: dict[str, tuple[bytes, str, str]] = {
    "no protobuf": (b"\xff", "MALFORMED_REQUEST", ""),
    "nothing": (b"", "INVALID_FIELD", "request"),
    "watch again": (WATCH.SerializeToString(), "INVALID_FIELD", "request"),
}


@pytest.mark.parametrize(("raw", "reason", "field"), WRONG_MESSAGES.values(), ids=WRONG_MESSAGES)
async def test_an_unexpected_message_ends_the_stream(
    servicer: EngineServicer, raw: bytes, reason: str, field: str
) -> None:
    call = FakeCall(WATCH)
    call.requests.put_nowait(raw)
    with pytest.raises(MalformedRequest) as refusal:
        await within_timeout(play(servicer, call))
    assert (refusal.value.reason_name, refusal.value.field) == (reason, field)


async def test_a_stream_ends_with_its_token(servicer: EngineServicer, tables: Tables, engine: EngineHarness) -> None:
    caller = Caller("p0", "Player 0", expires_at=engine.clock() + 2_000)
    playing = play(servicer, call := FakeCall(WATCH), caller)
    assert event_of(await within_timeout(call.written.get())).HasField("snapshot")
    engine.clock.advance(1_999)
    await settled()
    assert call.written.empty()
    engine.clock.advance(1)
    await within_timeout(playing)
    (last,) = [event_of(call.written.get_nowait()) for _ in range(call.written.qsize())]
    assert last.HasField("resume_notice")
    assert not (await tables.get("t1")).subscribers


async def test_a_blocked_stream_takes_no_actions_after_the_end_of_its_token_and_ends_soon(
    servicer: EngineServicer, engine: EngineHarness
) -> None:
    caller = Caller("p0", "Player 0", expires_at=engine.clock() + 2_000)
    playing = play(servicer, blocked := BlockedCall(), caller)
    await within_timeout(blocked.writing.wait())
    engine.clock.advance(2_000)
    await settled()
    blocked.requests.put_nowait(engine_pb2.PlayTableRequest(action=ACTION).SerializeToString())
    await settled()
    assert engine.count("croupier_actions_refused_total", reason="ILLEGAL_ACTION") == 0
    engine.clock.advance(round(MAX_WRITE_SECONDS * 1000))
    with pytest.raises(asyncio.CancelledError):
        await playing


async def test_proposals_and_votes_are_those_of_their_requests(engine: EngineHarness) -> None:
    await open_table(engine, make_config("solo"))
    tables = engine.tables(3)
    servicer, table = engine.servicer(tables), await tables.get("t1")

    async def propose(request_id: str) -> int:
        request = engine_pb2.CreateProposalRequest(table_id="t1", request_id=request_id, proposal="restart_same")
        return (await servicer.CreateProposal(request, call_of(Caller("p2", "Player 2")))).sequence

    async def vote(seat: int, request_id: str, proposal: int, vote: Any = engine_pb2.VOTE_AGREE) -> int:
        request = engine_pb2.CastVoteRequest(
            table_id="t1", request_id=request_id, proposal_sequence=proposal, vote=vote
        )
        return (await servicer.CastVote(request, call_of(Caller(f"p{seat}", "Player")))).sequence

    assert [await propose("p"), await propose("p")] == [2, 2]
    assert [await vote(0, "v", 2), await vote(0, "v", 2)] == [3, 3]
    assert table.state.proposal is not None
    assert await vote(1, "v", 2, engine_pb2.VOTE_DECLINE) == 4
    assert table.state.proposal is None
    assert await propose("q") == 5
    assert [await vote(seat, "w", 5) for seat in (0, 1, 3)] == [6, 7, 8]
    assert table.state.sequence == 9


async def leave(servicer: EngineServicer, request_id: str, is_away: bool | None, player_id: str = "p0") -> int:
    request = engine_pb2.SetAwayRequest(table_id="t1", request_id=request_id, is_away=is_away)
    return (await servicer.SetAway(request, call_of(player_id))).sequence


async def test_a_player_leaves_and_returns_once_for_each_request_id(servicer: EngineServicer, tables: Tables) -> None:
    for request_id, is_away, sequence in (("a", True, 2), ("b", False, 3), ("a", True, 2), ("b", False, 3)):
        assert await leave(servicer, request_id, is_away) == sequence
    for request_id, is_away, player_id in (("a", False, "p0"), ("b", True, "p0")):
        with pytest.raises(AlreadyExists) as refusal:
            await leave(servicer, request_id, is_away, player_id)
        assert refusal.value.reason_name == "REQUEST_ID_REUSED"
    table = await tables.get("t1")
    assert (table.state.sequence, any(table.state.clock.absences)) == (3, False)
    # Players do not share their request ids.
    assert await leave(servicer, "a", True, "p1") == 4


async def test_a_player_who_is_away_as_they_wish_changes_nothing_and_gets_the_last_sequence(
    servicer: EngineServicer, tables: Tables
) -> None:
    assert await leave(servicer, "a", False) == 1
    assert await leave(servicer, "b", True) == 2
    assert await leave(servicer, "c", True, "p1") == 3
    assert await leave(servicer, "d", True) == 3
    assert (await tables.get("t1")).state.sequence == 3


async def test_nobody_leaves_or_returns_without_a_seat_or_after_the_end(
    servicer: EngineServicer, tables: Tables
) -> None:
    with pytest.raises(NotPermitted) as refusal:
        await leave(servicer, "a", True, "stranger")
    assert refusal.value.reason_name == "NOT_SEATED"
    table = await tables.get("t1")
    await leave(servicer, "a", True)
    await play_on(table, Random(1))
    ended = table.state.sequence
    for request_id, is_away in (("b", True), ("c", False)):
        with pytest.raises(IllegalNow) as over:
            await leave(servicer, request_id, is_away)
        assert over.value.reason_name == "TABLE_FINISHED"
    # The answer to a repeated request stays the same.
    assert (await leave(servicer, "a", True), table.state.sequence) == (2, ended)
