"""The clock of a table: reserves, deadlines, seats that are away, and the compensation of outages."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import count, product
from random import Random

import pytest

from croupier.engine.core.clock import (
    NOT_WAITING,
    Absence,
    ClockState,
    Due,
    abandoned_at,
    clock_after,
    clock_after_away,
    clock_after_compensation,
    new_clock,
    next_due,
)
from croupier.engine.core.compensation import Outage, compensation_due, outage_until, unserved_milliseconds
from croupier.engine.core.fold import new_table
from croupier.engine.core.log import AWAY_MILLISECONDS, ActedBy, ClockCompensated, ClockConfig, LoggedEvent, SeatConfig
from croupier.games.actions import Pass
from croupier.games.facts import Seat
from croupier.games.interface import CardsShuffled, SeatActed
from tests.engine.play import bots, every_game, make_config, people, walk

CONFIG = ClockConfig(30_000, 10_000, bot_delay_milliseconds=700, abandoned_milliseconds=180_000)
FULL = (10_000,) * 3
EMPTY_1 = (10_000, 0, 10_000)

Event = tuple[int, LoggedEvent, ActedBy, tuple[Seat, ...]]
"""The time of an event, the event, the origin of its action, and the seats that are to act after it."""


def dealt(*to_act: Seat, at: int = 1_000) -> Event:
    return at, CardsShuffled(()), ActedBy.PLAYER, to_act


def acted(seat: Seat, at: int, *to_act: Seat, by: ActedBy = ActedBy.PLAYER) -> Event:
    return at, SeatActed(seat, Pass()), by, to_act


def after(*events: Event) -> ClockState:
    clock = new_clock(3, CONFIG)
    for event in events:
        clock = clock_after(clock, CONFIG, *event)
    return clock


TIMED_OUT = (dealt(1), acted(1, 41_000, 1, by=ActedBy.TIMEOUT))
TIMED_OUT_2_IS_TO_ACT = (dealt(1), acted(1, 41_000, 2, by=ActedBy.TIMEOUT))
AWAY_WITH_RESERVE = (dealt(1), acted(1, 31_000, 1, by=ActedBy.TIMEOUT))
ONE_OF_ALL = (dealt(0, 1, 2), acted(1, 20_000, 0, 1, 2))
TWO_OF_ALL = (*ONE_OF_ALL, acted(0, 36_000, 1, 2))

CASES: dict[str, tuple[tuple[Event, ...], Due | None, tuple[int, ...], tuple[Seat, ...]]] = {
    "before the first entry no seat is to act": ((), None, FULL, ()),
    "a seat has the action time and its reserve": ((dealt(1),), Due(41_000, 1), FULL, ()),
    "an action in time costs no reserve": ((dealt(1), acted(1, 31_000, 2)), Due(71_000, 2), FULL, ()),
    "overtime comes out of the reserve": (
        (dealt(1), acted(1, 35_000, 1)),
        Due(35_000 + 30_000 + 6_000, 1),
        (10_000, 6_000, 10_000),
        (),
    ),
    "a reserve never goes below zero": ((dealt(1), acted(1, 999_000, 1)), Due(1_029_000, 1), EMPTY_1, ()),
    "a seat that timed out is away": (TIMED_OUT, Due(41_000 + AWAY_MILLISECONDS, 1), EMPTY_1, (1,)),
    "a seat that is away uses no reserve": (
        (*AWAY_WITH_RESERVE, acted(1, 99_000, 1, by=ActedBy.TIMEOUT)),
        Due(99_000 + AWAY_MILLISECONDS, 1),
        FULL,
        (1,),
    ),
    "a seat that acts again is back": ((*TIMED_OUT, acted(1, 42_000, 1)), Due(72_000, 1), EMPTY_1, ()),
    "actions of others bring no seat back": (
        (*TIMED_OUT_2_IS_TO_ACT, acted(2, 42_000, 1)),
        Due(42_000 + AWAY_MILLISECONDS, 1),
        EMPTY_1,
        (1,),
    ),
    "a seat that acts at the same time as others starts again": (ONE_OF_ALL, Due(41_000, 0), FULL, ()),
    "the others wait on": (TWO_OF_ALL, Due(41_000, 2), (5_000, 10_000, 10_000), ()),
    "each on its own clock": ((*TWO_OF_ALL, acted(2, 37_000, 1)), Due(60_000, 1), (5_000, 10_000, 4_000), ()),
    "between an action and a shuffle no seat is to act": ((dealt(0), acted(0, 2_000)), None, FULL, ()),
    "a shuffle in between restarts all clocks": (
        (dealt(0), acted(0, 2_000), dealt(0, 2, at=2_500)),
        Due(42_500, 0),
        FULL,
        (),
    ),
    "a computer player is never away": ((dealt(2), acted(2, 1_700, 0, by=ActedBy.BOT)), Due(41_700, 0), FULL, ()),
}


@pytest.mark.parametrize(("events", "due", "reserves", "away"), CASES.values(), ids=CASES)
def test_the_clock_after_events(
    events: tuple[Event, ...], due: Due | None, reserves: tuple[int, ...], away: tuple[Seat, ...]
) -> None:
    clock = after(*events)
    assert next_due(clock, CONFIG, people(3)) == due
    assert clock.reserves == reserves
    assert tuple(seat for seat, is_away in enumerate(clock.absences) if is_away) == away


def test_time_outs_are_counted_by_seat() -> None:
    clock = after(*TIMED_OUT, acted(1, 45_000, 2, by=ActedBy.TIMEOUT), acted(2, 46_000, 1), acted(1, 47_000, 2))
    assert clock.timeouts == (0, 2, 0)
    assert after(dealt(2), acted(2, 1_700, 0, by=ActedBy.BOT)).timeouts == (0, 0, 0)


def test_a_seat_that_is_away_never_gets_more_than_the_action_time() -> None:
    short = ClockConfig(1_000, 9_000, 0)
    assert next_due(after(*TIMED_OUT), short, people(3)) == Due(42_000, 1)


def test_the_engine_plays_for_a_seat_that_left_until_its_player_returns_with_all_their_time() -> None:
    clock = clock_after_away(after(dealt(1)), 1, 5_000, is_away=True)
    assert (next_due(clock, CONFIG, people(3)), clock.absences[1]) == (Due(1_700, 1), Absence.LEFT_IN_TURN)
    clock = clock_after(clock, CONFIG, *acted(1, 5_100, 2, by=ActedBy.TIMEOUT))
    clock = clock_after(clock, CONFIG, *acted(2, 6_000, 1))
    assert (next_due(clock, CONFIG, people(3)), clock.absences[1]) == (Due(6_700, 1), Absence.LEFT)
    clock = clock_after_away(clock, 1, 6_500, is_away=False)
    assert (next_due(clock, CONFIG, people(3)), clock.absences[1]) == (Due(46_500, 1), Absence.NONE)


def test_a_player_who_leaves_and_returns_in_one_turn_has_the_time_that_they_had() -> None:
    clock = clock_after_away(after(dealt(1)), 1, 5_000, is_away=True)
    clock = clock_after_away(clock, 1, 5_500, is_away=False)
    assert next_due(clock, CONFIG, people(3)) == Due(41_000, 1)


def test_overtime_before_a_player_leaves_comes_out_of_the_reserve() -> None:
    clock = clock_after_away(after(dealt(1)), 1, 35_000, is_away=True)
    clock = clock_after(clock, CONFIG, *acted(1, 35_000, 1, by=ActedBy.TIMEOUT))
    clock = clock_after(clock, CONFIG, *acted(1, 99_000, 1, by=ActedBy.TIMEOUT))
    assert clock.reserves == (10_000, 6_000, 10_000)


def test_a_seat_whose_time_ran_out_returns_with_all_its_time() -> None:
    clock = clock_after_away(after(*TIMED_OUT), 1, 42_000, is_away=False)
    assert (next_due(clock, CONFIG, people(3)), clock.absences[1]) == (Due(72_000, 1), Absence.NONE)


def test_the_time_of_a_seat_that_is_away_is_that_of_the_table() -> None:
    slow = replace(CONFIG, action_milliseconds=3_600_000, away_milliseconds=3_600_000)
    assert next_due(after(*TIMED_OUT), slow, people(3)) == Due(41_000 + 3_600_000, 1)


def test_a_table_that_all_people_left_ends_after_the_last_of_them() -> None:
    clock = after(dealt(1))
    for seat, at in ((2, 2_000), (0, 3_000), (1, 4_000)):
        clock = clock_after_away(clock, seat, at, is_away=True)
    assert abandoned_at(clock, CONFIG, people(3)) == 4_000 + 180_000


def timed_out(*seats: Seat) -> tuple[Event, ...]:
    """Return a deal after which the time of one seat after the other runs out, 41 s each; then seat 0 is to act."""
    following = zip(range(1, len(seats) + 1), seats, (*seats[1:], 0), strict=True)
    timeouts = (acted(seat, turn * 41_000, other, by=ActedBy.TIMEOUT) for turn, seat, other in following)
    return (dealt(seats[0], at=0), *timeouts)


def test_a_deserted_table_waits_for_the_person_who_went_away_last_and_ends() -> None:
    clock, seats = after(*timed_out(1, 2, 0)), people(3)
    assert abandoned_at(clock, CONFIG, seats) == 123_000 + 180_000
    assert next_due(clock, CONFIG, seats) == Due(123_000 + 180_000, 0)
    assert next_due(clock_after_compensation(clock, 5_000), CONFIG, seats) == Due(123_000 + 185_000, 0)
    # Not before the time of an action, and not at all where an earlier version prepared the table.
    slow, earlier = replace(CONFIG, action_milliseconds=86_400_000), replace(CONFIG, abandoned_milliseconds=0)
    assert next_due(clock, slow, seats) == Due(123_000 + 86_400_000, 0)
    assert abandoned_at(clock, earlier, seats) is None
    assert next_due(clock, earlier, seats) == Due(123_000 + AWAY_MILLISECONDS, 0)


def test_the_engine_plays_for_the_others_at_a_deserted_table() -> None:
    clock = after(*timed_out(0, 2, 1), acted(0, 126_000, 2, by=ActedBy.TIMEOUT))
    assert (clock.last_away, clock.last_away_at) == (1, 123_000)
    assert next_due(clock, CONFIG, people(3)) == Due(126_000 + AWAY_MILLISECONDS, 2)


@pytest.mark.parametrize("seats", [people(3), (*people(2), *bots(1))], ids=["a person", "a computer player"])
def test_a_deserted_table_ends_even_if_the_last_person_is_never_to_act(seats: tuple[SeatConfig, ...]) -> None:
    clock = after(*timed_out(*((2,) if not seats[2].bot else ()), 0, 1))
    ends_at = clock.last_away_at + 180_000
    clock = clock_after(clock, CONFIG, *acted(0, ends_at - 1, 2, by=ActedBy.TIMEOUT))
    assert next_due(clock, CONFIG, seats) == Due(ends_at, 2)


def test_a_table_is_not_deserted_while_one_person_is_not_away() -> None:
    clock = after(*timed_out(0, 1))
    assert abandoned_at(clock, CONFIG, people(3)) is None
    assert next_due(clock, CONFIG, people(3)) == Due(82_000 + AWAY_MILLISECONDS, 0)


def test_any_person_who_acts_brings_a_deserted_table_back() -> None:
    clock = after(*timed_out(1, 2, 0), acted(0, 200_000, 1))
    assert next_due(clock, CONFIG, people(3)) == Due(200_000 + AWAY_MILLISECONDS, 1)
    clock = after(*timed_out(1, 0, 2), acted(0, 124_000, 2))
    assert next_due(clock, CONFIG, people(3)) == Due(124_000 + AWAY_MILLISECONDS, 2)


def test_a_computer_player_acts_after_its_delay() -> None:
    assert next_due(after(dealt(2)), CONFIG, bots(3)) == Due(1_700, 2)


def test_of_two_seats_that_are_due_the_earlier_and_then_the_lower_is_first() -> None:
    clock = ClockState((500, 400, 400), (0,) * 3, (Absence.NONE,) * 3, (0,) * 3, (0,) * 3)
    assert next_due(clock, CONFIG, people(3)) == Due(30_400, 1)


def is_served_at(time: int, outages: Sequence[Outage]) -> bool:
    return not any(began <= time < ended for began, ended in outages)


def served(outages: Sequence[Outage], since: int, until: int) -> int:
    """Return the number of served milliseconds of a period, counted one by one."""
    return sum(is_served_at(time, outages) for time in range(since, until))


def test_overlapping_outages_count_once() -> None:
    every = [Outage(began, ended) for began, ended in product(range(8), repeat=2)]
    for both in product(every, repeat=2):
        assert unserved_milliseconds(both, 2, 6) == 4 - served(both, 2, 6)
        assert outage_until(both, 2) == next(time for time in count(2) if is_served_at(time, both))
    assert unserved_milliseconds([], 2, 6) == 0
    assert outage_until([], 2) == 2


def a_clock(*since: int, compensated: int = 0) -> ClockState:
    given = tuple(0 if started == NOT_WAITING else compensated for started in since)
    none = (0,) * len(since)
    return ClockState(since, none, (Absence.NONE,) * len(since), given, none, last_away_at=compensated)


WHOLE_TIME = [Outage(0, 1_000)]

DUE: dict[str, tuple[ClockState, int, list[Outage], int]] = {
    "no seat waits": (a_clock(NOT_WAITING, NOT_WAITING), 500, WHOLE_TIME, 0),
    "outages before and after": (a_clock(100), 500, [Outage(0, 100), Outage(500, 900)], 0),
    "the longest waiting seat decides": (a_clock(400, NOT_WAITING, 300), 500, WHOLE_TIME, 200),
    "partly compensated": (a_clock(450, compensated=350), 500, WHOLE_TIME, 50),
    "another outage, not known yet": (a_clock(300, compensated=300), 410, [Outage(100, 400)], 0),
}


@pytest.mark.parametrize(("clock", "now", "outages", "expected"), DUE.values(), ids=DUE)
def test_the_due_compensation(clock: ClockState, now: int, outages: list[Outage], expected: int) -> None:
    assert compensation_due(clock, now, outages) == (ClockCompensated(expected) if expected else None)


def test_compensations_add_up_for_all_waiting_seats() -> None:
    clock = clock_after_compensation(a_clock(100, NOT_WAITING, 300), 400)
    assert clock == a_clock(500, NOT_WAITING, 700, compensated=400)
    assert clock_after_compensation(clock, 5) == a_clock(505, NOT_WAITING, 705, compensated=405)


def test_a_waiting_seat_keeps_its_compensation_when_another_acts() -> None:
    clock = clock_after_compensation(a_clock(100, 300), 250)
    clock = clock_after(clock, ClockConfig(1_000, 0, 0), *acted(0, 600, 1))
    assert clock == a_clock(NOT_WAITING, 550, compensated=250)
    assert compensation_due(clock, 800, [Outage(400, 700)]) == ClockCompensated(50)


def random_outages(random: Random, length: int) -> list[Outage]:
    """Return short and long outages, separate and overlapping."""
    starts = [random.randrange(length) for _ in range(random.randrange(8))]
    return [Outage(began, began + random.randrange(1, 60)) for began in starts]


@pytest.mark.parametrize("number", range(60))
def test_time_runs_out_when_all_of_it_was_served(number: int, seed: int) -> None:
    """The clock is checked at random times, each time with the outages known then, and time is compensated.

    Before a seat's time expires, all its outages are known.
    """
    random = Random(f"{seed} {number}")
    config = ClockConfig(random.randrange(20, 120), 0, 0)
    reserve, began = random.randrange(80), random.randrange(50)
    allowed = config.action_milliseconds + reserve
    outages = random_outages(random, 300)
    clock = ClockState((began, NOT_WAITING), (reserve, 0), (Absence.NONE,) * 2, (0, 0), (0, 0))
    now, given = began, 0
    known: list[Outage] = []
    while True:
        due = next_due(clock, config, people(2))
        assert due
        # Never later than the deadline, with all outages until then.
        now = due.at if random.random() < 0.7 else min(due.at, now + random.randrange(30))
        known = [each for each in outages if each in known or now >= due.at or random.random() < 0.5]
        if due_time := compensation_due(clock, now, known):
            given += due_time.milliseconds
            clock = clock_after_compensation(clock, due_time.milliseconds)
            assert given == now - began - served(known, began, now)
        elif now >= due.at:
            break
    assert served(outages, began, now) >= allowed
    assert served(outages, began, due.at - 1) < allowed


@every_game
def test_a_compensation_moves_only_the_deadline(game: str, seed: int) -> None:
    config = make_config(game)
    before = new_table(config)
    for transition in walk(config, Random(seed)):
        event, after = transition.entry.event, transition.after
        if isinstance(event, ClockCompensated):
            clock = clock_after_compensation(before.clock, event.milliseconds)
            assert after == before._replace(sequence=after.sequence, at=after.at, due=after.due, clock=clock)
            assert after.deadline == before.deadline + event.milliseconds
            assert (transition.facts, transition.public) == ((), True)
        before = after
