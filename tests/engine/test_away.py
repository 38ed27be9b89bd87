"""Players who leave their seat to the engine and return, as the streams of their table show it."""

from random import Random

import pytest

from croupier.engine.core.decide import MAX_ASKED
from croupier.engine.core.fold import Turn
from croupier.engine.core.log import AwaySet
from croupier.engine.storage.port import TableStatus
from croupier.games.interface import SeatActed
from croupier.runtime.errors import LimitReached
from croupier_api.v1 import engine_pb2
from tests.engine.fakes import EngineHarness
from tests.engine.play import CLOCK, FULL_MILLISECONDS, choice, people
from tests.engine.test_turn_scheduler import PLAYED, TIMEOUT, RecordedTable, replica, watched_table
from tests.waiting import settled

BOT_DELAY = CLOCK.bot_delay_milliseconds


@pytest.fixture
async def three(engine: EngineHarness) -> RecordedTable:
    return await watched_table(engine, people(3))


async def set_away(recorded: RecordedTable, seat: int, request_id: str, *, is_away: bool) -> engine_pb2.TableUpdate:
    """Leave a seat or return to it; return the entry in the stream, which no other entry precedes."""
    sequence = await recorded.table.append_once(AwaySet(seat, is_away), request_id)
    entry, *_ = await recorded.updates()
    assert (entry.sequence, entry.seat, entry.is_away, list(entry.facts)) == (sequence, seat, is_away, [])
    assert entry.HasField("is_away")
    return entry


async def left_before_turn(recorded: RecordedTable) -> int:
    """Let the player of a seat leave, whose turn then begins; return the seat."""
    seat = (recorded.seat + 1) % 3
    entry = await set_away(recorded, seat, "leave", is_away=True)
    assert (list(entry.clock.away_seats), list(entry.clock.left_seats)) == ([seat], [seat])
    while recorded.seat != seat:
        await recorded.act()
    await recorded.updates()
    return seat


async def test_the_turn_of_the_streams_is_stored_with_each_entry(engine: EngineHarness, three: RecordedTable) -> None:
    table_id, deadline = three.table.config.table_id, three.table.state.deadline
    stored = (await engine.store.statuses([table_id]))[table_id]
    assert stored == TableStatus("open", deadline, Turn(1 << three.seat))
    left = (three.seat + 1) % 3
    for is_away in (True, False):
        entry = await set_away(three, left, f"{is_away}", is_away=is_away)
        stored = (await engine.store.statuses([table_id]))[table_id]
        assert stored.turn == Turn(1 << three.seat, is_away << left)
        await three.act()
        (*_, entry) = await three.updates()
        stored = (await engine.store.statuses([table_id]))[table_id]
        away = sum(1 << seat for seat in entry.clock.away_seats)
        assert stored == TableStatus("open", entry.clock.deadline_unix_ms, Turn(1 << three.seat, away))


async def test_the_engine_acts_at_once_for_a_seat_that_left_in_its_turn_and_later_with_the_bot_delay(
    engine: EngineHarness, three: RecordedTable
) -> None:
    seat = three.seat
    engine.clock.advance(5_000)
    await three.table.append_once(AwaySet(seat, is_away=True), "leave")
    left, acted = await three.updates()
    assert (left.seat, left.is_away, left.clock.deadline_unix_ms) == (seat, True, engine.clock() - 5_000 + BOT_DELAY)
    assert (acted.seat, acted.acted_by, acted.HasField("is_away")) == (seat, engine_pb2.ACTED_BY_TIMEOUT, False)
    assert acted.clock.reserve_ms[seat] == CLOCK.reserve_milliseconds
    for _ in range(2):
        while three.seat != seat:
            await three.act()
        (*_, turn) = await three.updates()
        assert (list(turn.clock.away_seats), list(turn.clock.left_seats)) == ([seat], [seat])
        assert await three.after(BOT_DELAY - 1) == []
        assert await three.after(1) == [TIMEOUT]


async def test_a_player_who_returns_has_their_whole_time(engine: EngineHarness, three: RecordedTable) -> None:
    seat = await left_before_turn(three)
    engine.clock.advance(BOT_DELAY - 1)
    entry = await set_away(three, seat, "return", is_away=False)
    assert entry.clock.deadline_unix_ms == engine.clock() + FULL_MILLISECONDS
    assert (list(entry.clock.away_seats), list(entry.clock.left_seats)) == ([], [])
    assert await three.after(FULL_MILLISECONDS - 1) == []
    assert await three.after(1) == [TIMEOUT]


async def test_a_player_whose_time_ran_out_returns_outside_their_turn(
    engine: EngineHarness, three: RecordedTable
) -> None:
    seat = three.seat
    engine.clock.advance(FULL_MILLISECONDS)
    (late,) = await three.updates()
    assert (list(late.clock.away_seats), list(late.clock.left_seats)) == ([seat], [])
    assert list((await set_away(three, seat, "return", is_away=False)).clock.away_seats) == []
    while three.seat != seat:
        await three.act()
    await three.updates()
    # The reserve is used up.
    assert await three.after(CLOCK.action_milliseconds - 1) == []
    assert await three.after(1) == [TIMEOUT]


async def test_a_player_who_acts_has_returned(three: RecordedTable) -> None:
    seat = await left_before_turn(three)
    await three.act()
    (entry,) = await three.updates()
    assert (entry.seat, entry.acted_by, entry.HasField("is_away")) == (seat, engine_pb2.ACTED_BY_UNSPECIFIED, False)
    assert (list(entry.clock.away_seats), list(entry.clock.left_seats)) == ([], [])


async def test_an_action_that_arrives_after_the_player_left_is_their_return(
    engine: EngineHarness, three: RecordedTable
) -> None:
    """Without bot delay the engine would have acted before."""
    acted = SeatActed(*choice(three.table.state, Random(1)))
    await set_away(three, acted.seat, "leave", is_away=True)
    await three.table.append_once(acted, "act")
    assert await three.after(BOT_DELAY) == [PLAYED]
    assert not any(three.table.state.clock.absences)


async def test_seats_that_left_are_not_delayed_by_outages(engine: EngineHarness, three: RecordedTable) -> None:
    await left_before_turn(three)
    engine.liveness_store.certain_until = 0
    three.add_outage(-60_000, 60_000)
    assert await three.after(BOT_DELAY) == [TIMEOUT]


async def test_a_player_leaves_at_one_engine_and_returns_at_another_that_does_not_know_it_yet(
    engine: EngineHarness, three: RecordedTable
) -> None:
    other = await replica(engine)
    seat = (three.seat + 1) % 3
    assert await three.table.append_once(AwaySet(seat, is_away=True), "leave") == 2
    assert other.table.state.sequence == 1
    assert await other.table.append_once(AwaySet(seat, is_away=False), "return") == 3
    assert [update.is_away for update in await other.updates()] == [True, False]
    assert await three.table.append_once(AwaySet(seat, is_away=True), "again") == 4
    # A repeat is answered alike everywhere.
    for each in (three, other):
        assert await each.table.append_once(AwaySet(seat, is_away=False), "return") == 3
    await other.table.catch_up_to(4)
    await settled()
    assert other.table.state == three.table.state
    assert len(engine.store.tables["t1"].entries) == 4


async def test_the_rate_of_leaving_is_that_of_the_log(engine: EngineHarness, three: RecordedTable) -> None:
    for number in range(MAX_ASKED):
        await three.table.append_once(AwaySet(0, is_away=True), f"leave {number}")
        await three.table.append_once(AwaySet(0, is_away=False), f"return {number}")
    other = await replica(engine)
    for each in (three, other):
        with pytest.raises(LimitReached):
            await each.table.append_once(AwaySet(0, is_away=True), "once more")
    assert await other.table.append_once(AwaySet(1, is_away=True), "another seat")
