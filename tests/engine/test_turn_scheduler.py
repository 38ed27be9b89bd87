"""The turn scheduler: the engine acts for seats whose time has run out, once, with retries."""

import asyncio
from dataclasses import replace
from random import Random
from typing import TypeAlias

import pytest

from croupier.engine.core.compensation import Outage
from croupier.engine.core.log import AWAY_MILLISECONDS, ActedBy, SeatConfig
from croupier.engine.tables.subscription import Subscription
from croupier.engine.tables.table import Table
from croupier.engine.tables.turn_scheduler import LIVENESS_RETRY_MILLISECONDS, RETRY_MILLISECONDS, STANDBY_MILLISECONDS
from croupier.games.facts import SPECTATOR, Seat
from croupier.games.interface import SeatActed
from croupier.runtime.admission.budget import MILLISECOND, Budget
from croupier.runtime.errors import Unavailable
from croupier_api.v1 import engine_pb2, errors_pb2
from tests.engine.fakes import AppendOutcome, EngineHarness
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
    reload_table,
    until_end,
    within_timeout,
)
from tests.engine.timing import pass_time
from tests.waiting import settled

PLAYED, TIMEOUT, BOT = "ACTED_BY_UNSPECIFIED", "ACTED_BY_TIMEOUT", "ACTED_BY_BOT"

Seats: TypeAlias = tuple[SeatConfig, ...]
StreamedEntry = int | str
"""An entry of a stream: the milliseconds of a compensation, or else who acted."""


class RecordedTable:
    def __init__(self, engine: EngineHarness, table: Table, stream: Subscription) -> None:
        self.engine, self.table, self.stream = engine, table, stream

    @property
    def seat(self) -> Seat:
        """The seat that is to act."""
        (seat,) = self.table.state.seats_to_act
        return seat

    async def act(self) -> int:
        return await act_once(self.table, Random(1))

    async def updates(self) -> list[engine_pb2.TableUpdate]:
        """Return the new entries of the stream, after everything that is possible now."""
        await settled()
        return [event_of(message).update for message in await pending_messages(self.stream)]

    async def after(self, milliseconds: int) -> list[StreamedEntry]:
        """Return the new entries of the stream after some time."""
        self.engine.clock.advance(milliseconds)
        return [update.compensated_ms or engine_pb2.ActedBy.Name(update.acted_by) for update in await self.updates()]

    def add_outage(self, began: int, ended: int) -> None:
        """Add an outage, with times from now."""
        now = self.engine.clock()
        self.engine.liveness_store.outages.append(Outage(now + began, now + ended))


async def watched_table(engine: EngineHarness, seats: Seats) -> RecordedTable:
    table = await open_table(engine, make_config(seats=seats))
    return RecordedTable(engine, table, await live_stream(table, SPECTATOR))


async def replica(engine: EngineHarness) -> RecordedTable:
    table = await reload_table(engine.another_engine(), "t1")
    return RecordedTable(engine, table, await live_stream(table, SPECTATOR))


@pytest.fixture
async def three(engine: EngineHarness) -> RecordedTable:
    return await watched_table(engine, people(3))


@pytest.fixture
async def away(engine: EngineHarness) -> RecordedTable:
    """Return a table of two whose seat to act is away after a time-out."""
    two = await watched_table(engine, people(2))
    seat = two.seat
    assert await two.after(FULL_MILLISECONDS) == [TIMEOUT]
    while two.seat != seat:
        await two.act()
    await two.updates()
    return two


async def test_the_engine_acts_for_a_seat_whose_time_has_run_out(engine: EngineHarness, three: RecordedTable) -> None:
    seat = three.seat
    assert await three.after(FULL_MILLISECONDS - 1) == []
    engine.clock.advance(1)
    (entry,) = await three.updates()
    assert (entry.sequence, entry.seat, entry.acted_by) == (2, seat, engine_pb2.ACTED_BY_TIMEOUT)
    assert list(entry.clock.away_seats) == [seat]
    assert entry.clock.reserve_ms[seat] == 0
    assert three.table.entries[-1].acted_by is ActedBy.TIMEOUT
    assert engine.count("croupier_clock_expiries_total", game="thulla") == 1


async def test_an_action_that_is_being_stored_prevents_the_time_out(
    engine: EngineHarness, three: RecordedTable
) -> None:
    engine.clock.advance(FULL_MILLISECONDS - 1)
    engine.store.gate.clear()
    acting = asyncio.create_task(three.act())
    await within_timeout(engine.store.held.wait())
    assert await three.after(1) == []
    engine.store.gate.set()
    assert await within_timeout(acting) == 2
    assert await three.after(0) == [PLAYED]


FAULTS = {
    "appends fail": RETRY_MILLISECONDS,
    "reads fail": RETRY_MILLISECONDS,
    "outages are uncertain": LIVENESS_RETRY_MILLISECONDS,
}


@pytest.mark.parametrize(("fault", "pause"), FAULTS.items(), ids=FAULTS)
async def test_a_failed_time_out_is_retried(
    engine: EngineHarness, three: RecordedTable, fault: str, pause: int
) -> None:
    engine.store.outcomes += [AppendOutcome.FAILS_BEFORE] * {"appends fail": 4, "reads fail": 1}.get(fault, 0)
    engine.store.reads_fail = fault == "reads fail"
    if fault == "outages are uncertain":
        engine.liveness_store.certain_until = three.table.state.deadline - 1
    assert await three.after(FULL_MILLISECONDS) == []
    for _ in range(3):
        asked = engine.liveness_store.asked
        assert await three.after(pause) == []
        assert engine.liveness_store.asked <= asked + 1
    engine.store.reads_fail = False
    engine.liveness_store.certain_until = None
    assert await three.after(pause) == [TIMEOUT]
    assert three.table.state.deadline > engine.clock()


async def test_an_engine_without_heartbeat_hands_its_streams_over_and_continues_after_a_read_of_the_log(
    engine: EngineHarness, three: RecordedTable
) -> None:
    other = await replica(engine)
    engine.liveness_store.down = True
    engine.clock.advance(FULL_MILLISECONDS)
    (notice,) = await until_end(three.stream)
    assert event_of(notice).HasField("resume_notice")
    with pytest.raises(Unavailable) as refusal:
        await three.table.catch_up_to(0)
    assert refusal.value.reason == errors_pb2.ERROR_REASON_TABLE_MOVED
    engine.liveness_store.down = False
    sequence = await other.act()
    await three.table.catch_up_to(0)
    assert three.table.state.sequence == sequence
    await act_once(three.table, Random(2))


async def test_time_is_compensated_after_the_outages_and_then_runs_out(
    engine: EngineHarness, three: RecordedTable
) -> None:
    three.add_outage(FULL_MILLISECONDS - 10, FULL_MILLISECONDS + 3_000)
    three.add_outage(FULL_MILLISECONDS + 2_000, FULL_MILLISECONDS + 5_000)
    for passed, expected in ((FULL_MILLISECONDS, []), (3_000, []), (1_999, []), (1, [5_010]), (10, [TIMEOUT])):
        assert await three.after(passed) == expected
    assert (await reload_table(engine, "t1")).state == three.table.state


async def test_a_late_action_after_an_outage_is_compensated(engine: EngineHarness, three: RecordedTable) -> None:
    seat, action = choice(three.table.state, Random(1))
    three.add_outage(5_000, 12_000)
    await engine.liveness.send_heartbeat()
    engine.clock.advance(CLOCK.action_milliseconds + 9_000)
    assert await three.table.append_once(SeatActed(seat, action), "r", expected_sequence=1) == 3
    given, acted = await three.updates()
    assert (given.compensated_ms, acted.compensated_ms) == (7_000, 0)
    assert (acted.sequence, acted.seat) == (3, seat)
    assert acted.clock.reserve_ms[seat] == CLOCK.reserve_milliseconds - 2_000
    for each in (three.table, await reload_table(engine, "t1")):
        assert await each.append_once(SeatActed(seat, action), "r", 1) == 3 == len(each.entries)


async def test_seats_that_are_away_are_not_delayed(engine: EngineHarness, away: RecordedTable) -> None:
    engine.liveness_store.certain_until = 0
    away.add_outage(-60_000, 60_000)
    assert await away.after(AWAY_MILLISECONDS) == [TIMEOUT]


async def test_computer_players_are_not_delayed(engine: EngineHarness) -> None:
    table = await watched_table(engine, bots(3))
    engine.liveness_store.certain_until = 0
    table.add_outage(-60_000, 60_000)
    assert await table.after(CLOCK.bot_delay_milliseconds) == [BOT]


NETWORK, OTHER_NETWORK = "192.0.2.0/24", "192.0.3.0/24"


async def network_tables(engine: EngineHarness, *networks: str, seats: Seats = ()) -> list[Table]:
    """Open a table for each network, with bots that do not wait, at an engine with a budget of 10 entries a second."""
    engine.networks = Budget("network_calls", 10, 5, lambda: engine.clock() * MILLISECOND)
    tables, clock = engine.tables(10), replace(CLOCK, bot_delay_milliseconds=0)
    for number, network in enumerate(networks):
        await tables.prepare(f"t{number}", "thulla", 3, {"best_of": 5}, clock, network)
        await tables.open(f"t{number}", seats or bots(3), [b""] * 3)
    return [await tables.get(f"t{number}") for number in range(len(networks))]


async def entries_in(engine: EngineHarness, milliseconds: int, *tables: Table) -> list[int]:
    before = [table.state.sequence for table in tables]
    await pass_time(engine.clock, milliseconds)
    return [table.state.sequence - sequence for table, sequence in zip(tables, before, strict=True)]


async def test_bots_of_all_tables_of_a_known_network_share_its_budget(engine: EngineHarness) -> None:
    one, two, other, unknown = await network_tables(engine, NETWORK, NETWORK, OTHER_NETWORK, "")
    limited, free = await entries_in(engine, 1_000, other, unknown)
    assert limited <= 16
    assert free > 2 * limited
    for _ in range(2):
        first, second, third = await entries_in(engine, 2_000, one, two, other)
        assert 9 <= first <= 11
        assert 9 <= second <= 11
        assert 19 <= third <= 21


async def test_time_outs_of_players_take_units_of_the_network_and_are_never_late(engine: EngineHarness) -> None:
    (table,) = await network_tables(engine, NETWORK, seats=people(3))
    await entries_in(engine, FULL_MILLISECONDS - 50, table)
    assert engine.networks.wait(NETWORK, 5) <= 0
    assert await entries_in(engine, 50, table) == [1]
    assert engine.networks.wait(NETWORK, 5) > 0
    engine.networks.take(NETWORK, 10_000)
    assert await entries_in(engine, FULL_MILLISECONDS + 50, table) == [1]


async def test_the_last_writer_acts_for_a_seat(engine: EngineHarness, three: RecordedTable) -> None:
    other = await replica(engine)
    await other.act()
    await three.table.catch_up_to(2)
    assert (three.table.is_last_writer, other.table.is_last_writer) == (False, True)
    assert await other.after(FULL_MILLISECONDS) == [PLAYED, TIMEOUT]
    assert await three.after(STANDBY_MILLISECONDS - 1) == [PLAYED]
    assert await three.after(1) == [TIMEOUT]
    assert len(engine.store.tables["t1"].entries) == 3
