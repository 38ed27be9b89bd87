"""A table: durable before visible, each request once, refusals that change nothing, two replicas, its rate."""

import asyncio
from dataclasses import replace
from random import Random

import pytest

from croupier.engine.core.history import CHUNK
from croupier.engine.core.log import ActedBy, AwaySet, SeatConfig, TableEnded
from croupier.engine.tables.call_timeouts import CALL_TIMEOUT_SECONDS
from croupier.engine.tables.entry_rate import EntryLimit, EntryRate
from croupier.engine.tables.subscription import Subscription
from croupier.engine.tables.table import Table
from croupier.engine.tables.turn_scheduler import RETRY_MILLISECONDS
from croupier.games.actions import Action, Draw, Pass
from croupier.games.facts import SPECTATOR
from croupier.games.interface import SeatActed
from croupier.runtime.database.database import Database
from croupier.runtime.errors import AlreadyExists, IllegalNow, LimitReached, StaleSequence, Unavailable
from tests.engine.databases import assembled, running
from tests.engine.fakes import START, AppendOutcome, EngineHarness, FakeClock
from tests.engine.play import (
    CLOCK,
    FULL_MILLISECONDS,
    act_once,
    bots,
    choice,
    event_of,
    live_stream,
    make_config,
    open_table,
    pending_messages,
    people,
    play_on,
    reload_table,
    within_timeout,
)
from tests.waiting import settled


async def ready(engine: EngineHarness) -> tuple[Table, int, Action]:
    table = await open_table(engine, make_config(seat_count=3))
    return table, *choice(table.state, Random(1))


class PendingAction:
    """An action that is being stored, and a stream that will show it."""

    def __init__(self, engine: EngineHarness, table: Table, seat: int, action: Action, stream: Subscription) -> None:
        self.engine, self.table, self.seat, self.action, self.stream = engine, table, seat, action, stream
        self.acting = self.act()

    def act(self) -> asyncio.Task[int]:
        return asyncio.create_task(self.table.append_once(SeatActed(self.seat, self.action), "r"))

    async def store(self) -> None:
        """Let it be stored, and assert that nothing was shown or acknowledged before."""
        await settled()
        assert self.acting.cancelled() or not self.acting.done()
        assert await pending_messages(self.stream) == []
        assert self.table.state.sequence == 1
        self.engine.store.gate.set()
        await settled()
        assert [event_of(message).update.sequence for message in await pending_messages(self.stream)] == [2]
        assert len(self.engine.store.tables["t1"].entries) == 2


@pytest.fixture
async def pending(engine: EngineHarness) -> PendingAction:
    table, seat, action = await ready(engine)
    pending = PendingAction(engine, table, seat, action, await live_stream(table, SPECTATOR))
    engine.store.gate.clear()
    await within_timeout(engine.store.held.wait())
    return pending


async def test_nothing_is_shown_or_acknowledged_before_it_is_stored(pending: PendingAction) -> None:
    await pending.store()
    assert await within_timeout(pending.acting) == 2


@pytest.mark.parametrize("repeats", [0, 1])
async def test_an_action_of_a_cancelled_call_is_stored_and_shown_once(pending: PendingAction, repeats: int) -> None:
    repeating = [pending.act() for _ in range(repeats)]
    await settled()
    pending.acting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await pending.acting
    closing = asyncio.create_task(pending.engine.background.close(1.0))
    await pending.store()
    await within_timeout(closing)
    assert await within_timeout(asyncio.gather(*repeating, pending.act())) == [2] * (repeats + 1)
    assert pending.engine.logger.events("error") == []


async def test_a_store_that_does_not_answer_blocks_no_call_and_its_later_entry_is_shown(
    pending: PendingAction,
) -> None:
    repeating = pending.act()
    await settled()
    pending.engine.clock.advance(round(CALL_TIMEOUT_SECONDS * 1000))
    for waiting in (pending.acting, repeating):
        with pytest.raises(Unavailable) as refusal:
            await within_timeout(waiting)
        assert (refusal.value.reason_name, refusal.value.retry_after_seconds) == ("STORE_UNAVAILABLE", 0.5)
    pending.acting = pending.act()
    await pending.store()
    assert await within_timeout(pending.acting) == 2


@pytest.mark.parametrize("outcome", [AppendOutcome.FAILS_BEFORE, AppendOutcome.FAILS_AFTER])
async def test_a_failed_append_shows_nothing_and_a_retry_works_once(
    engine: EngineHarness, outcome: AppendOutcome
) -> None:
    table, seat, action = await ready(engine)
    stream = await live_stream(table, SPECTATOR)
    engine.store.outcomes.append(outcome)
    with pytest.raises(Unavailable) as refusal:
        await table.append_once(SeatActed(seat, action), "r")
    assert refusal.value.reason_name == "STORE_UNAVAILABLE"
    assert await pending_messages(stream) == []
    assert table.state.sequence == 1
    assert await table.append_once(SeatActed(seat, action), "r") == 2
    assert await table.append_once(SeatActed(seat, action), "r", 1) == 2
    assert [event_of(message).update.sequence for message in await pending_messages(stream)] == [2]
    assert len(engine.store.tables["t1"].entries) == 2


async def test_an_append_that_failed_after_its_commit_is_shown_when_it_can_be_read(
    engine: EngineHarness,
) -> None:
    table, seat, action = await ready(engine)
    stream = await live_stream(table, SPECTATOR)
    engine.store.outcomes.append(AppendOutcome.FAILS_AFTER)
    engine.store.reads_fail = True
    for _ in range(2):
        with pytest.raises(Unavailable):
            await table.append_once(SeatActed(seat, action), "r")
    for _ in range(3):
        engine.clock.advance(RETRY_MILLISECONDS)
        await settled()
    assert await pending_messages(stream) == []
    engine.store.reads_fail = False
    engine.clock.advance(RETRY_MILLISECONDS)
    await settled()
    assert [event_of(message).update.sequence for message in await pending_messages(stream)] == [2]


async def test_an_old_request_is_known_though_its_entry_is_packed(engine: EngineHarness, seed: int) -> None:
    table = await open_table(engine, make_config("jossing"))
    seat, action = choice(table.state, Random(seed))
    sequence = await table.append_once(SeatActed(seat, action), "long ago")
    await play_on(table, Random(seed))
    assert len(table.entries) > sequence + 2 * CHUNK
    assert await table.append_once(SeatActed(seat, action), "long ago") == sequence
    with pytest.raises(AlreadyExists):
        await table.append_once(SeatActed(seat, Draw()), "long ago")
    with pytest.raises(IllegalNow) as refusal:
        await table.append_once(SeatActed(seat, action), "new")
    assert refusal.value.reason_name == "TABLE_FINISHED"


async def test_a_request_id_names_one_request_of_each_seat(engine: EngineHarness) -> None:
    table, seat, action = await ready(engine)
    await table.append_once(SeatActed(seat, action), "r")
    other, other_action = choice(table.state, Random(1))
    assert other != seat
    assert await table.append_once(SeatActed(other, other_action), "r") == 3
    for each in (table, await reload_table(engine, "t1")):
        assert await each.append_once(SeatActed(seat, action), "r") == 2
        assert await each.append_once(SeatActed(other, other_action), "r") == 3
        with pytest.raises(AlreadyExists) as refusal:
            await each.append_once(SeatActed(seat, Pass()), "r")
        assert refusal.value.reason_name == "REQUEST_ID_REUSED"
        assert refusal.value.metadata == {"sequence": "2"}
        assert each.state.sequence == 3


async def test_an_illegal_action_names_the_rule_and_changes_nothing(engine: EngineHarness) -> None:
    table, seat, action = await ready(engine)
    stream = await live_stream(table, SPECTATOR)
    before = table.state
    with pytest.raises(IllegalNow) as refusal:
        await table.append_once(SeatActed(seat, Pass()), "r")
    assert refusal.value.rule.startswith("THU-")
    assert table.state is before
    assert await pending_messages(stream) == []
    assert len(engine.store.tables["t1"].entries) == 1
    assert await table.append_once(SeatActed(seat, action), "r") == 2


async def test_the_replica_that_loses_a_race_catches_up_and_answers(engine: EngineHarness) -> None:
    table, seat, action = await ready(engine)
    loser, late = [await reload_table(engine.another_engine(), "t1") for _ in range(2)]
    streams = [await live_stream(each, SPECTATOR) for each in (loser, late)]
    await table.append_once(SeatActed(seat, action), "r")
    with pytest.raises(IllegalNow) as refusal:
        await loser.append_once(SeatActed(seat, action), "another request")
    assert refusal.value.reason_name == "NOT_YOUR_TURN"
    next_seat, next_action = choice(table.state, Random(1))
    with pytest.raises(StaleSequence):
        await late.append_once(SeatActed(next_seat, next_action), "r", 1)
    for each, stream in zip((loser, late), streams, strict=True):
        assert [event_of(message).update.sequence for message in await pending_messages(stream)] == [2]
        assert each.state == table.state
    assert await late.append_once(SeatActed(next_seat, next_action), "r", 2) == 3


async def test_a_player_returns_at_an_engine_that_does_not_know_yet_that_they_left(engine: EngineHarness) -> None:
    table, seat, _ = await ready(engine)
    late = await reload_table(engine.another_engine(), "t1")
    assert await table.append_once(AwaySet(seat, is_away=True), "leave") == 2
    assert await late.append_once(AwaySet(seat, is_away=False), "return") == 3
    assert await table.append_once(AwaySet(seat, is_away=False), "return again") == 3


async def limited_table(engine: EngineHarness, *seats: SeatConfig, burst: int = 2) -> Table:
    """Return a table with a limit of ten entries per second."""
    engine.entry_limit = EntryLimit(10, burst)
    clock = replace(CLOCK, bot_delay_milliseconds=0)
    return await open_table(engine, make_config(seats=seats or people(3), clock=clock))


def test_a_burst_passes_and_then_so_many_entries_per_second() -> None:
    rate, now = EntryRate(EntryLimit(20, 200)), START
    for _ in range(200):
        assert rate.next_at <= now
        rate.count(now)
    assert rate.next_at == now + 50
    for _ in range(3):
        rate.count(now + 50)
    assert rate.next_at == now + 200
    rate.count(now + 20_000)
    assert rate.next_at <= now + 20_000


def test_zero_is_no_limit_though_the_clock_is_behind_the_log() -> None:
    rate = EntryRate(EntryLimit(0, 200))
    rate.count(START + 500)
    rate.check(START)
    assert rate.next_at <= START


async def test_a_request_beyond_the_rate_is_refused_with_the_time_to_wait(engine: EngineHarness) -> None:
    table = await limited_table(engine)
    repeated = SeatActed(*choice(table.state, Random(1)))
    assert await table.append_once(repeated, "r") == 2
    await act_once(table, Random(1))
    before = table.state
    with pytest.raises(LimitReached) as refusal:
        await act_once(table, Random(1))
    assert (refusal.value.reason_name, refusal.value.retry_after_seconds) == ("TOO_MANY_REQUESTS", 0.1)
    assert refusal.value.metadata == {"limit": "table_changes"}
    assert table.state == before
    assert await table.append_once(repeated, "r") == 2
    engine.clock.advance(100)
    assert await act_once(table, Random(1)) == 4


async def test_entries_of_other_engines_count_at_their_times(engine: EngineHarness) -> None:
    table, random = await limited_table(engine), Random(1)
    other = await reload_table(engine.another_engine(), "t1")
    await play_on(other, random, max_actions=2)
    await table.catch_up()
    with pytest.raises(LimitReached):
        await act_once(table, random)
    for _ in range(18):
        engine.clock.advance(100)
        await act_once(other, random)
    engine.clock.advance(100)
    await table.catch_up()
    assert await act_once(table, random) == 22


async def test_bots_wait_for_the_rate(engine: EngineHarness) -> None:
    table = await limited_table(engine, *bots(2))
    await settled()
    assert table.state.sequence == 3
    for sequence in range(4, 9):
        engine.clock.advance(99)
        await settled()
        assert table.state.sequence == sequence - 1
        engine.clock.advance(1)
        await settled()
        assert table.state.sequence == sequence


async def test_a_time_out_does_not_wait_for_the_rate(engine: EngineHarness) -> None:
    table = await limited_table(engine, burst=1)
    engine.clock.advance(FULL_MILLISECONDS)
    for _ in range(1_000):
        table.entry_rate.count(engine.clock())
    await settled()
    assert table.entries[-1].acted_by is ActedBy.TIMEOUT
    assert table.state.sequence == 2


async def test_the_settings_limit_every_table(database: Database) -> None:
    clock = FakeClock()
    engine = assembled(database, clock, table_entries_burst=1, max_table_entries=3)
    async with running(engine.store):
        await engine.tables.prepare("t1", "thulla", 3, {}, CLOCK)
        await engine.tables.open("t1", people(3), [b""] * 3)
        table = await engine.tables.get("t1")
        assert await act_once(table, Random(1)) == 2
        with pytest.raises(LimitReached) as refusal:
            await act_once(table, Random(1))
        assert refusal.value.metadata == {"limit": "table_changes"}
        clock.advance(50)
        assert await act_once(table, Random(1)) == 3
    assert table.entries[-1].event == TableEnded("entries")
