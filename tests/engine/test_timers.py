"""Seats whose time has come: the engine acts for them, once, and never gives up."""

import asyncio
from random import Random

import pytest

from croupier.engine.clock import AWAY_MILLISECONDS
from croupier.engine.credits import Interruption
from croupier.engine.live import LiveTable
from croupier.engine.log import ActedBy, SeatConfig, TimeCredited
from croupier.engine.steward import FOLLOW_MILLISECONDS, RETRY_MILLISECONDS, UNCERTAIN_MILLISECONDS
from croupier.games.actions import Pass
from croupier.games.facts import SPECTATOR, Seat
from croupier.runtime.errors import IllegalNow, Unavailable
from croupier_api.v1 import engine_pb2
from tests.engine.fakes import Bench, Outcome
from tests.engine.play import (
    CLOCK,
    act_once,
    bots,
    choice,
    make_config,
    open_table,
    parsed,
    people,
    soon,
    take_up,
    taken,
    until_end,
)
from tests.waiting import settled

FULL_MILLISECONDS = CLOCK.action_milliseconds + CLOCK.reserve_milliseconds
PLAYED, TIMEOUT, BOT = "ACTED_BY_UNSPECIFIED", "ACTED_BY_TIMEOUT", "ACTED_BY_BOT"

Told = int | str
"""What a stream tells of an entry: the milliseconds given back, or else who acted."""


class Watched:
    """A table, and a stream that has told all there was to tell."""

    def __init__(self, engine: Bench, table: LiveTable) -> None:
        self.engine, self.table = engine, table
        self.stream = table.subscribe(SPECTATOR, table.state.sequence)

    @property
    def seat(self) -> Seat:
        """The seat that is to act."""
        (seat,) = self.table.state.seats_to_act
        return seat

    async def act(self) -> int:
        """The seat that is to act does so."""
        return await act_once(self.table, Random(1))

    async def updates(self) -> list[engine_pb2.TableUpdate]:
        """The entries that the stream tells of, once everything has happened that can."""
        await settled()
        return [parsed(message).update for message in await taken(self.stream)]

    async def after(self, milliseconds: int) -> list[Told]:
        """What is told when time has passed."""
        self.engine.clock.advance(milliseconds)
        return [made.credited_milliseconds or engine_pb2.ActedBy.Name(made.acted_by) for made in await self.updates()]

    def interrupted(self, began: int, ended: int) -> None:
        """Some engine's players have nobody to talk to, from when to when from now on."""
        now = self.engine.clock()
        self.engine.roll.interruptions.append(Interruption(now + began, now + ended))


async def watched(engine: Bench, seats: tuple[SeatConfig, ...]) -> Watched:
    return Watched(engine, await open_table(engine, make_config(seats=seats)))


async def replica(engine: Bench) -> Watched:
    """The same table at another engine."""
    return Watched(engine, await take_up(engine.another_engine(), "t1"))


@pytest.fixture
async def three(engine: Bench) -> Watched:
    return await watched(engine, people(3))


@pytest.fixture
async def away(engine: Bench) -> Watched:
    """A table of two at which a seat is to act that the engine plays for."""
    two = await watched(engine, people(2))
    seat = two.seat
    assert await two.after(FULL_MILLISECONDS) == [TIMEOUT]
    while two.seat != seat:
        await two.act()
    await two.updates()
    return two


async def test_the_engine_acts_for_a_seat_whose_time_has_run_out_and_says_so(engine: Bench, three: Watched) -> None:
    seat = three.seat
    assert await three.after(FULL_MILLISECONDS - 1) == []
    engine.clock.advance(1)
    (entry,) = await three.updates()
    assert (entry.sequence, entry.seat, entry.acted_by) == (2, seat, engine_pb2.ACTED_BY_TIMEOUT)
    assert list(entry.clock.away_seats) == [seat]
    assert entry.clock.reserve_milliseconds[seat] == 0
    assert three.table.entries[-1].acted_by is ActedBy.TIMEOUT
    assert engine.count("croupier_clock_expiries_total", game="thulla") == 1


async def test_an_action_that_is_being_stored_when_time_runs_out_is_the_one_that_counts(
    engine: Bench, three: Watched
) -> None:
    engine.clock.advance(FULL_MILLISECONDS - 1)
    engine.store.gate.clear()
    acting = asyncio.create_task(three.act())
    await soon(engine.store.held.wait())
    assert await three.after(1) == []
    engine.store.gate.set()
    assert await soon(acting) == 2
    assert await three.after(0) == [PLAYED]


async def test_the_seat_is_handed_back_when_its_player_acts_again(away: Watched) -> None:
    await away.act()
    assert [list(entry.clock.away_seats) for entry in await away.updates()] == [[]]


FAULTS = {
    "appends fail": RETRY_MILLISECONDS,
    "reads fail": RETRY_MILLISECONDS,
    "it is not certain who was there": UNCERTAIN_MILLISECONDS,
}


@pytest.mark.parametrize(("fault", "pause"), FAULTS.items(), ids=FAULTS)
async def test_what_cannot_be_done_when_time_has_run_out_is_done_later(
    engine: Bench, three: Watched, fault: str, pause: int
) -> None:
    engine.store.outcomes += [Outcome.FAILS_BEFORE] * {"appends fail": 4, "reads fail": 1}.get(fault, 0)
    engine.store.reads_fail = fault == "reads fail"
    if fault == "it is not certain who was there":
        engine.roll.certain_until = three.table.state.deadline - 1
    assert await three.after(FULL_MILLISECONDS) == []
    for _ in range(3):
        asked = engine.roll.asked
        assert await three.after(pause) == []
        assert engine.roll.asked <= asked + 1
    engine.store.reads_fail = False
    engine.roll.certain_until = None
    assert await three.after(pause) == [TIMEOUT]
    assert three.table.state.deadline > engine.clock()


async def test_an_engine_that_others_miss_sends_its_streams_elsewhere_and_reads_what_happened_before_it_goes_on(
    engine: Bench, three: Watched
) -> None:
    other = await replica(engine)
    engine.roll.down = True
    engine.clock.advance(FULL_MILLISECONDS)
    (notice,) = await until_end(three.stream)
    assert parsed(notice).HasField("resume_notice")
    with pytest.raises(Unavailable) as refusal:
        await three.table.catch_up_to(0)
    assert refusal.value.reason == "TABLE_MOVED"
    engine.roll.down = False
    sequence = await other.act()
    await three.table.catch_up_to(0)
    assert three.table.state.sequence == sequence
    await act_once(three.table, Random(2))


# Time that nobody served

GIVEN_BACK: dict[str, tuple[list[tuple[int, int]], list[tuple[int, list[Told]]]]] = {
    "before it runs out": ([(1_000, 8_000)], [(FULL_MILLISECONDS, [7_000]), (6_999, []), (1, [TIMEOUT])]),
    "once what interrupts has ended": (
        [(FULL_MILLISECONDS - 10, FULL_MILLISECONDS + 3_000), (FULL_MILLISECONDS + 2_000, FULL_MILLISECONDS + 5_000)],
        [(FULL_MILLISECONDS, []), (3_000, []), (1_999, []), (1, [5_010]), (10, [TIMEOUT])],
    ),
}


@pytest.mark.parametrize(("interruptions", "told"), GIVEN_BACK.values(), ids=GIVEN_BACK)
async def test_time_is_given_back_and_then_runs_out(
    engine: Bench, three: Watched, interruptions: list[tuple[int, int]], told: list[tuple[int, list[Told]]]
) -> None:
    for began, ended in interruptions:
        three.interrupted(began, ended)
    for passed, expected in told:
        assert await three.after(passed) == expected
    assert (await take_up(engine, "t1")).state == three.table.state


@pytest.mark.parametrize(("late", "given_back", "drawn"), [(0, [], 0), (9_000, [7_000], 2_000)])
async def test_who_acts_late_because_nobody_served_him_gets_back_what_he_needs(
    engine: Bench, three: Watched, late: int, given_back: list[int], drawn: int
) -> None:
    seat, action = choice(three.table.state, Random(1))
    three.interrupted(5_000, 12_000)
    await engine.services.attendance.attend()
    engine.clock.advance(CLOCK.action_milliseconds + late)
    sequence = await three.table.act(seat, action, "r", expected_sequence=1)
    *given, acted = await three.updates()
    assert [entry.credited_milliseconds for entry in given] == given_back
    assert (acted.sequence, acted.seat, acted.credited_milliseconds) == (sequence, seat, 0)
    assert acted.clock.reserve_milliseconds[seat] == CLOCK.reserve_milliseconds - drawn
    for each in (three.table, await take_up(engine, "t1")):
        assert await each.act(seat, action, "r", 1) == sequence == len(each.entries)


async def test_an_action_that_is_refused_gives_nothing_back(engine: Bench, three: Watched) -> None:
    three.interrupted(0, 5_000)
    await engine.services.attendance.attend()
    engine.clock.advance(CLOCK.action_milliseconds + 1)
    with pytest.raises(IllegalNow):
        await three.table.act(three.seat, Pass(), "r", None)
    assert three.table.state.sequence == 1


async def test_seats_that_the_engine_plays_for_are_not_held_up(engine: Bench, away: Watched) -> None:
    engine.roll.certain_until = 0
    away.interrupted(-60_000, 60_000)
    assert await away.after(AWAY_MILLISECONDS) == [TIMEOUT]


async def test_computer_players_are_not_held_up(engine: Bench) -> None:
    table = await watched(engine, bots(3))
    engine.roll.certain_until = 0
    table.interrupted(-60_000, 60_000)
    assert await table.after(CLOCK.bot_delay_milliseconds) == [BOT]


# Several engines


async def test_the_replica_that_appended_last_acts_for_a_seat_and_the_others_leave_it_to_that(
    engine: Bench, three: Watched
) -> None:
    other = await replica(engine)
    await other.act()
    await three.table.catch_up_to(2)
    assert (three.table.is_leading, other.table.is_leading) == (False, True)
    assert await other.after(FULL_MILLISECONDS) == [PLAYED, TIMEOUT]
    assert await three.after(FOLLOW_MILLISECONDS - 1) == [PLAYED]
    assert await three.after(1) == [TIMEOUT]
    assert len(engine.store.tables["t1"].entries) == 3


async def test_two_engines_give_time_back_once(engine: Bench, three: Watched) -> None:
    other = await replica(engine)
    three.interrupted(0, 5_000)
    other.table.is_leading = True
    other.table.look()
    await three.after(FULL_MILLISECONDS)
    assert [entry.event for entry in engine.store.tables["t1"].entries[1:]] == [TimeCredited(5_000)]
    for each in (three, other):
        await each.table.catch_up_to(2)
    assert three.table.state == other.table.state
