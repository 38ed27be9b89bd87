"""Clock compensation of outages: its amount, and its effect on clocks."""

from collections.abc import Sequence
from itertools import count, product
from random import Random

import pytest

from croupier.engine.api.stream_codec import StreamEncoder
from croupier.engine.core.clock import NOT_WAITING, ClockState, clock_after, clock_after_compensation, next_due
from croupier.engine.core.compensation import Outage, compensation_due, outage_until, unserved_milliseconds
from croupier.engine.core.fold import new_table
from croupier.engine.core.log import ClockCompensated, ClockConfig, Entry
from croupier.engine.tables.subscription import encode_transition
from croupier.games.actions import Pass
from croupier.games.interface import SeatActed
from tests.engine.play import event_of, every_game, make_config, people, viewers, walk


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
    return ClockState(since, none, (False,) * len(since), given, none, left_at=compensated)


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
    acted = Entry(2, 600, 0, SeatActed(0, Pass()))
    clock = clock_after(clock_after_compensation(a_clock(100, 300), 250), ClockConfig(1_000, 0, 0), acted, (1,))
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
    clock = ClockState((began, NOT_WAITING), (reserve, 0), (False, False), (0, 0), (0, 0))
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
def test_a_compensation_moves_only_the_deadline_and_is_sent_to_all(game: str, seed: int) -> None:
    config = make_config(game)
    before = new_table(config)
    for transition in walk(config, Random(seed)):
        updates = [
            event_of(encode_transition(StreamEncoder(), config, transition, viewer, 0)).update
            for viewer in viewers(config)
        ]
        event, after = transition.entry.event, transition.after
        given = event.milliseconds if isinstance(event, ClockCompensated) else 0
        assert {update.compensated_ms for update in updates} == {given}
        if given:
            clock = clock_after_compensation(before.clock, given)
            assert after == before._replace(sequence=after.sequence, at=after.at, due=after.due, clock=clock)
            assert after.deadline == before.deadline + given
            for update in updates:
                assert (len(update.facts), update.HasField("seat")) == (0, False)
                assert update.clock.deadline_unix_ms == after.deadline
        before = after
