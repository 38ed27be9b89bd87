"""Actions that are decided in one call: durable before visible, in order, and like all others after a failure."""

import asyncio
from dataclasses import dataclass, field, replace
from functools import partial
from random import Random

import pytest

from croupier.engine.api.action_codec import encode_action
from croupier.engine.api.play_session import PlaySession
from croupier.engine.core.decide import TableLimits
from croupier.engine.core.folded_table import Request
from croupier.engine.core.log import AwaySet, TableEnded
from croupier.engine.tables.call_timeouts import CALL_TIMEOUT_SECONDS
from croupier.engine.tables.entry_rate import EntryLimit
from croupier.engine.tables.subscription import Subscription
from croupier.engine.tables.table import Table
from croupier.engine.tables.turn_scheduler import RETRY_MILLISECONDS
from croupier.games.actions import Pass
from croupier.games.facts import SPECTATOR
from croupier.games.interface import SeatActed
from croupier.runtime.admission.admission import Admission
from croupier.runtime.admission.budget import SECOND, Budget
from croupier.runtime.errors import ServiceError
from croupier.runtime.identity.tokens import Caller
from croupier_api.v1 import engine_pb2
from tests.calls import call_of, limits
from tests.engine.fakes import NO_ENTRY_LIMIT, AppendOutcome, EngineHarness
from tests.engine.play import (
    event_of,
    live_stream,
    make_config,
    open_table,
    parsed,
    pending_messages,
    reload_table,
    some_action,
    within_timeout,
)
from tests.engine.test_servicer import WATCH, FakeCall
from tests.waiting import settled

TIMEOUT_MILLISECONDS = round(CALL_TIMEOUT_SECONDS * 1000)


@dataclass
class Playing:
    """A table with a spectator, and the answers to its actions, each with the sequence of the table then."""

    engine: EngineHarness
    table: Table
    stream: Subscription
    answers: list[tuple[str, int | str, int]] = field(default_factory=list)

    def act(self, request_id: str, action: SeatActed | None = None, expected: int | None = None) -> bool:
        chosen, answer = action or some_action(self.table.state), partial(self.answer, request_id)
        return self.table.act_at_once(chosen, request_id, expected, answer)

    def answer(self, request_id: str, outcome: int | ServiceError) -> None:
        said = outcome.reason_name if isinstance(outcome, ServiceError) else outcome
        self.answers.append((request_id, said, self.table.state.sequence))

    async def hold(self, action: SeatActed | None = None) -> None:
        """Act, and hold the append."""
        self.engine.store.gate.clear()
        assert self.act("held", action)
        await within_timeout(self.engine.store.held.wait())

    async def release(self) -> None:
        self.engine.store.gate.set()
        await settled()

    async def shown(self) -> list[int]:
        return [event_of(message).update.sequence for message in await pending_messages(self.stream)]

    def stored(self) -> list[str]:
        return [str(entry.request_id) for entry in self.engine.store.tables["t1"].entries[1:]]


@pytest.fixture
async def playing(engine: EngineHarness) -> Playing:
    table = await open_table(engine, make_config(seat_count=3))
    return Playing(engine, table, await live_stream(table, SPECTATOR))


async def test_nothing_is_shown_or_answered_before_it_is_stored_and_the_answer_comes_last(playing: Playing) -> None:
    await playing.hold()
    await settled()
    assert (playing.answers, playing.table.state.sequence, await playing.shown()) == ([], 1, [])
    assert playing.table.lock.locked()
    assert not playing.table.is_idle()
    await playing.release()
    assert playing.answers == [("held", 2, 2)]
    assert await playing.shown() == [2]
    assert not playing.table.lock.locked()
    assert playing.engine.count("croupier_actions_accepted_total", game="thulla") == 1
    assert playing.act("next")
    await settled()
    assert playing.answers[1:] == [("next", 3, 3)]


async def test_requests_that_come_meanwhile_are_decided_after_it_in_their_order(playing: Playing) -> None:
    await playing.hold()
    assert not playing.act("at once")
    requests: list[Request] = [SeatActed(0, Pass()), AwaySet(1, is_away=True), AwaySet(2, is_away=True)]
    waiting = [asyncio.create_task(playing.table.append_once(each, f"{each.seat}")) for each in requests]
    await settled()
    waiting[1].cancel()
    await playing.release()
    outcomes = await within_timeout(asyncio.gather(*waiting, return_exceptions=True))
    assert [type(outcome).__name__ for outcome in outcomes] == ["IllegalNow", "CancelledError", "int"]
    assert playing.stored() == ["held", "2"]


async def test_a_repeated_request_is_answered_in_the_call(playing: Playing) -> None:
    action = some_action(playing.table.state)
    assert playing.act("r", action)
    await settled()
    assert playing.act("r", action, expected=1)
    assert playing.answers == [("r", 2, 2)] * 2
    assert playing.stored() == ["r"]


@pytest.mark.parametrize("outcome", [AppendOutcome.FAILS_BEFORE, AppendOutcome.FAILS_AFTER])
async def test_after_a_failed_append_it_is_refused_and_a_retry_works_once(
    playing: Playing, outcome: AppendOutcome
) -> None:
    playing.engine.store.outcomes.append(outcome)
    action = some_action(playing.table.state)
    assert playing.act("r", action)
    await settled()
    assert playing.answers == [("r", "STORE_UNAVAILABLE", 1)]
    assert await playing.shown() == []
    # Whether it is stored is known after a read only.
    assert not playing.act("r", action)
    assert await playing.table.append_once(action, "r") == 2
    assert await playing.shown() == [2]
    assert playing.stored() == ["r"]


async def test_an_append_that_failed_after_its_commit_is_shown_though_no_call_follows(playing: Playing) -> None:
    playing.engine.store.outcomes.append(AppendOutcome.FAILS_AFTER)
    assert playing.act("r")
    await settled()
    playing.engine.clock.advance(RETRY_MILLISECONDS)
    await settled()
    assert await playing.shown() == [2]


async def test_a_store_that_does_not_answer_blocks_no_call_and_its_later_entry_is_shown(playing: Playing) -> None:
    action = some_action(playing.table.state)
    await playing.hold()
    waiting = asyncio.create_task(playing.table.append_once(action, "held"))
    await settled()
    playing.engine.clock.advance(TIMEOUT_MILLISECONDS - 1)
    await settled()
    assert playing.answers == []
    playing.engine.clock.advance(1)
    with pytest.raises(ServiceError, match="does not answer in time"):
        await within_timeout(waiting)
    assert playing.answers == [("held", "STORE_UNAVAILABLE", 1)]
    await playing.release()
    assert await playing.shown() == [2]
    assert len(playing.answers) == 1
    assert playing.act("held", action)
    assert playing.answers[1:] == [("held", 2, 2)]


@pytest.mark.parametrize(
    ("others", "answer"),
    [(["away"], 3), (["the same"], 2), (["another"], "NOT_YOUR_TURN"), (["away", "the same"], 3)],
    ids=["still legal", "the same request", "no longer legal", "the same request later"],
)
async def test_after_a_lost_race_it_is_decided_by_the_current_log_before_later_requests(
    playing: Playing, others: list[str], answer: int | str
) -> None:
    action = some_action(playing.table.state)
    late = (action.seat + 1) % 3
    other = await reload_table(playing.engine.another_engine(), "t1")
    for name in others:
        await other.append_once(AwaySet(late, is_away=True) if name == "away" else action, name)
    assert playing.act("the same", action)
    later = asyncio.create_task(playing.table.append_once(AwaySet((late + 1) % 3, is_away=True), "later"))
    await settled()
    assert [(name, said) for name, said, _ in playing.answers] == [("the same", answer)]
    assert playing.stored()[-1] == "later"
    assert await within_timeout(later) == len(playing.stored()) + 1
    assert await playing.shown() == [*range(2, len(playing.stored()) + 2)]


async def test_after_a_lost_race_the_log_is_read_again_though_a_first_read_fails_and_no_call_follows(
    playing: Playing,
) -> None:
    action = some_action(playing.table.state)
    other = await reload_table(playing.engine.another_engine(), "t1")
    await other.append_once(AwaySet((action.seat + 1) % 3, is_away=True), "first")
    playing.engine.store.reads_fail = True
    assert playing.act("r", action)
    await settled()
    assert [(name, said) for name, said, _ in playing.answers] == [("r", "STORE_UNAVAILABLE")]
    playing.engine.store.reads_fail = False
    playing.engine.clock.advance(RETRY_MILLISECONDS)
    await settled()
    assert await playing.shown() == [2]


async def test_after_a_lost_race_a_log_that_is_not_read_in_time_blocks_no_request(
    playing: Playing, monkeypatch: pytest.MonkeyPatch
) -> None:
    action = some_action(playing.table.state)
    other = await reload_table(playing.engine.another_engine(), "t1")
    await other.append_once(AwaySet((action.seat + 1) % 3, is_away=True), "first")
    await playing.hold(action)
    playing.engine.clock.advance(TIMEOUT_MILLISECONDS - 1)
    with monkeypatch.context() as stuck:
        stuck.setattr(playing.engine.store, "log_after", stuck_read)
        await playing.release()
        assert playing.answers == []
        assert playing.table.lock.locked()
        playing.engine.clock.advance(1)
        await settled()
        assert playing.answers == [("held", "STORE_UNAVAILABLE", 1)]
        assert not playing.table.lock.locked()
    assert await within_timeout(playing.table.append_once(action, "held")) == 3


async def test_an_action_is_not_repeated_that_loses_a_race_after_its_time(playing: Playing) -> None:
    action = some_action(playing.table.state)
    other = await reload_table(playing.engine.another_engine(), "t1")
    await other.append_once(AwaySet((action.seat + 1) % 3, is_away=True), "first")
    await playing.hold(action)
    playing.engine.clock.advance(TIMEOUT_MILLISECONDS)
    await playing.release()
    assert playing.answers == [("held", "STORE_UNAVAILABLE", 1)]
    assert playing.stored() == ["first"]
    assert not playing.table.lock.locked()


async def stuck_read(*_: object) -> None:
    await asyncio.Event().wait()


async def test_an_action_that_loses_every_race_is_refused(playing: Playing, monkeypatch: pytest.MonkeyPatch) -> None:
    other = await reload_table(playing.engine.another_engine(), "t1")
    read, away = playing.engine.store.log_after, True

    async def log_after(table_id: str, sequence: int, limit: int) -> object:
        """Another engine appends after each read."""
        nonlocal away
        part = await read(table_id, sequence, limit)
        if sequence == playing.table.state.sequence:
            await other.append_once(AwaySet(2, is_away=away), f"{sequence}")
            away = not away
        return part

    await other.append_once(AwaySet(1, is_away=True), "first")
    action = some_action(playing.table.state)
    assert action.seat == 0
    assert playing.act("r", action)
    monkeypatch.setattr(playing.engine.store, "log_after", log_after)
    await settled()
    assert [(name, said) for name, said, _ in playing.answers] == [("r", "TABLE_BUSY")]
    assert not playing.table.lock.locked()


async def test_an_append_that_cannot_begin_blocks_no_other_request(
    playing: Playing, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise ZeroDivisionError

    action = some_action(playing.table.state)
    with monkeypatch.context() as broken:
        broken.setattr(playing.engine.store, "append", fails)
        with pytest.raises(ZeroDivisionError):
            playing.act("broken", action)
    assert await within_timeout(playing.table.append_once(action, "r")) == 2


async def test_what_has_to_wait_or_is_refused_changes_nothing(playing: Playing) -> None:
    table, before = playing.table, playing.table.state
    action = some_action(before)
    assert not playing.act("stale", action, expected=7)
    assert not playing.act("illegal", SeatActed(action.seat, Pass()))
    async with table.lock:
        assert not playing.act("while another request is served")
    table.needs_catch_up = True
    assert not playing.act("behind the log")
    await table.catch_up()
    await settled()
    assert (table.state, playing.answers, playing.stored()) == (before, [], [])
    assert playing.act("r", action)
    await settled()
    assert not playing.act("r", SeatActed(action.seat, Pass()))
    assert [said for _, said, _ in playing.answers] == [2]


async def test_actions_beyond_the_rate_have_to_wait(engine: EngineHarness) -> None:
    engine.entry_limit = EntryLimit(10, 1)
    playing = Playing(engine, table := await open_table(engine, make_config(seat_count=3)), await live_stream(table, 0))
    for request_id in ("a", "b"):
        assert playing.act(request_id)
        await settled()
        assert not playing.act("too early")
        engine.clock.advance(100)
    assert playing.stored() == ["a", "b"]


async def test_after_a_lost_race_an_action_within_the_rate_does_not_wait_for_it_again(engine: EngineHarness) -> None:
    engine.entry_limit = EntryLimit(10, 1)
    playing = Playing(engine, table := await open_table(engine, make_config(seat_count=3)), await live_stream(table, 0))
    other = await reload_table(engine.another_engine(), "t1")
    await other.append_once(AwaySet(2, is_away=True), "other")
    assert playing.act("r")
    await settled()
    assert playing.answers == [("r", 3, 3)]


async def test_an_action_that_reaches_the_limit_ends_the_table(engine: EngineHarness) -> None:
    engine.limits = TableLimits(max_entries=2, max_rounds=100)
    playing = Playing(engine, table := await open_table(engine, make_config(seat_count=3)), await live_stream(table, 0))
    assert playing.act("r")
    await settled()
    assert playing.answers == [("r", 2, 3)]
    assert table.entries[-1].event == TableEnded("entries")
    assert engine.count("croupier_tables_ended_total", limit="entries") == 1


# Streams


def message(request_id: str, action: SeatActed) -> bytes:
    request = engine_pb2.SubmitActionRequest(request_id=request_id, action=encode_action(action.action))
    return engine_pb2.PlayTableRequest(action=request).SerializeToString()


def session_of(engine: EngineHarness, table: Table, stream: Subscription, admission: Admission) -> PlaySession:
    """Return the session of a player whose token expires later."""
    expiry = asyncio.get_running_loop().call_later(CALL_TIMEOUT_SECONDS, stream.close)
    return PlaySession(table, stream, expiry, f"p{stream.viewer}", admission, engine.metrics, is_traced=False)


def answers_of(call: FakeCall) -> list[tuple[str, int]]:
    messages = [parsed(call.written.get_nowait()) for _ in range(call.written.qsize())]
    return [(each.answer.request_id, each.answer.sequence) for each in messages if each.HasField("answer")]


async def test_a_stream_gets_its_answers_in_the_order_of_its_actions(engine: EngineHarness) -> None:
    await open_table(engine, make_config(seat_count=3))
    tables = engine.tables(3)
    table = await tables.get("t1")
    action = some_action(table.state)
    call = FakeCall(WATCH)
    player = asyncio.create_task(engine.servicer(tables).PlayTable(None, call_of(f"p{action.seat}", context=call)))
    await settled()
    engine.store.gate.clear()
    for request_id in ("first", "second", "first", "third"):
        call.requests.put_nowait(message(request_id, action))
    await within_timeout(engine.store.held.wait())
    await settled()
    assert answers_of(call) == []
    engine.store.gate.set()
    await settled()
    assert answers_of(call) == [("first", 2), ("second", 0), ("first", 2), ("third", 0)]
    assert engine.count("croupier_actions_refused_total", reason="NOT_YOUR_TURN") == 2
    player.cancel()


async def test_an_action_of_a_stream_that_ends_meanwhile_is_stored_and_shown(engine: EngineHarness) -> None:
    await open_table(engine, make_config(seat_count=3))
    tables = engine.tables(3)
    table = await tables.get("t1")
    action = some_action(table.state)
    watching = await live_stream(table, SPECTATOR)
    call = FakeCall(WATCH)
    player = asyncio.create_task(engine.servicer(tables).PlayTable(None, call_of(f"p{action.seat}", context=call)))
    await settled()
    engine.store.gate.clear()
    call.requests.put_nowait(message("r", action))
    await within_timeout(engine.store.held.wait())
    player.cancel()
    await settled()
    engine.store.gate.set()
    await settled()
    assert [event_of(each).update.sequence for each in await pending_messages(watching)] == [2]
    assert not table.lock.locked()


async def test_an_action_that_is_refused_later_is_counted_and_answered(engine: EngineHarness) -> None:
    table = await open_table(engine, make_config(seat_count=3))
    action = some_action(table.state)
    stream = await live_stream(table, action.seat)
    session = session_of(engine, table, stream, Admission(Caller("p", "Player")))
    engine.store.outcomes.append(AppendOutcome.FAILS_BEFORE)
    assert session.receive_at_once(engine_pb2.PlayTableRequest.FromString(message("r", action)))
    await settled()
    [answer] = [parsed(each).answer for each in await pending_messages(stream)]
    assert (answer.request_id, answer.HasField("sequence")) == ("r", False)
    assert engine.count("croupier_actions_refused_total", reason="STORE_UNAVAILABLE") == 1


async def test_a_traced_stream_has_to_wait_for_its_spans(engine: EngineHarness) -> None:
    table = await open_table(engine, make_config(seat_count=3))
    action = some_action(table.state)
    session = session_of(engine, table, await live_stream(table, action.seat), Admission(Caller("p", "Player")))
    acting = engine_pb2.PlayTableRequest.FromString(message("r", action))
    assert not replace(session, is_traced=True).receive_at_once(acting)
    assert session.receive_at_once(acting)


async def test_a_message_is_paid_once_and_has_to_wait_without_units(engine: EngineHarness) -> None:
    engine.entry_limit = NO_ENTRY_LIMIT
    table = await open_table(engine, make_config(seat_count=3))
    now = SECOND
    budget = Budget("player_calls", 1, 2, lambda: now)
    action = some_action(table.state)
    caller = Caller(f"p{action.seat}", "Player")
    stream = await live_stream(table, action.seat)
    session = session_of(engine, table, stream, Admission(caller, limits(player=budget)))
    acting = engine_pb2.PlayTableRequest.FromString(message("r", action))
    assert not session.receive_at_once(WATCH)
    for _ in range(2):
        assert session.receive_at_once(acting)
        await settled()
    assert budget.wait(caller.id, 1) == SECOND
    assert not session.receive_at_once(acting)
    assert budget.wait(caller.id, 1) == SECOND
    now += SECOND
    assert session.receive_at_once(acting)
    session.stream.close()
    now += SECOND
    assert not session.receive_at_once(acting)
    assert len(engine.store.tables["t1"].entries) == 2


async def test_random_actions_at_once_play_a_game(engine: EngineHarness, seed: int) -> None:
    random = Random(seed)
    playing = Playing(engine, table := await open_table(engine, make_config()), await live_stream(table, SPECTATOR))
    for number in range(60):
        if table.state.is_over:
            break
        seat = random.choice(table.state.seats_to_act)
        legal = table.state.legal_actions(seat).actions
        assert playing.act(f"r{number}", SeatActed(seat, random.choice(legal)))
        await settled()
        assert playing.answers[-1][0] == f"r{number}"
    reloaded = await reload_table(engine.another_engine(), "t1")
    assert reloaded.state == table.state
