"""Time that nobody served is given back: how much, to whom, and that it is never more."""

from collections.abc import Sequence
from itertools import count, product
from random import Random

import pytest

from croupier.engine.clock import NOBODY_WAITS, ClockState, clock_after, clock_after_credit, next_due
from croupier.engine.credits import Interruption, credit_due, interrupted_until, unserved_milliseconds
from croupier.engine.fact_codec import StreamEncoder
from croupier.engine.log import ClockConfig, Entry, TimeCredited
from croupier.engine.streams import message_of
from croupier.engine.table import new_table
from croupier.games.actions import Pass
from croupier.games.interface import SeatActed
from tests.engine.play import every_game, make_config, parsed, people, viewers, walk


def is_served(moment: int, interruptions: Sequence[Interruption]) -> bool:
    return not any(began <= moment < ended for began, ended in interruptions)


def served(interruptions: Sequence[Interruption], since: int, until: int) -> int:
    """How many milliseconds of a time were served, counted one by one."""
    return sum(is_served(moment, interruptions) for moment in range(since, until))


def test_what_any_two_interruptions_take_of_a_time_counts_once() -> None:
    every = [Interruption(began, ended) for began, ended in product(range(8), repeat=2)]
    for both in product(every, repeat=2):
        assert unserved_milliseconds(both, 2, 6) == 4 - served(both, 2, 6)
        assert interrupted_until(both, 2) == next(moment for moment in count(2) if is_served(moment, both))
    assert unserved_milliseconds([], 2, 6) == 0
    assert interrupted_until([], 2) == 2


def a_clock(*since: int, credited: int = 0) -> ClockState:
    given = tuple(0 if started == NOBODY_WAITS else credited for started in since)
    return ClockState(since, (0,) * len(since), (False,) * len(since), given)


WHOLE_TIME = [Interruption(0, 1_000)]
FIRST = Interruption(100, 400)
NOTICED_LATER = Interruption(300, 900)

DUE: dict[str, tuple[ClockState, int, list[Interruption], int]] = {
    "nobody waits": (a_clock(NOBODY_WAITS, NOBODY_WAITS), 500, WHOLE_TIME, 0),
    "all was served": (a_clock(100, NOBODY_WAITS), 500, [], 0),
    "interrupted before and after": (a_clock(100), 500, [Interruption(0, 100), Interruption(500, 900)], 0),
    "who waits longest decides": (a_clock(400, NOBODY_WAITS, 300), 500, WHOLE_TIME, 200),
    "part was given back": (a_clock(450, credited=350), 500, WHOLE_TIME, 50),
    "all was given back": (a_clock(500, credited=400), 500, WHOLE_TIME, 0),
    "all was given back, and more is due": (a_clock(500, credited=400), 700, WHOLE_TIME, 200),
    "another engine was gone, which nobody knows yet": (a_clock(300, credited=300), 410, [FIRST], 0),
    "and now they do": (a_clock(300, credited=300), 1_000, [FIRST, NOTICED_LATER], 500),
}


@pytest.mark.parametrize(("clock", "now", "interruptions", "expected"), DUE.values(), ids=DUE)
def test_what_is_due(clock: ClockState, now: int, interruptions: list[Interruption], expected: int) -> None:
    assert credit_due(clock, now, interruptions) == (TimeCredited(expected) if expected else None)


def test_what_is_given_back_adds_up_for_all_who_wait() -> None:
    clock = clock_after_credit(a_clock(100, NOBODY_WAITS, 300), 400)
    assert clock == a_clock(500, NOBODY_WAITS, 700, credited=400)
    assert clock_after_credit(clock, 5) == a_clock(505, NOBODY_WAITS, 705, credited=405)


def test_who_waits_on_when_another_acts_keeps_what_was_given_back() -> None:
    acted = Entry(2, 600, 0, SeatActed(0, Pass()))
    clock = clock_after(clock_after_credit(a_clock(100, 300), 250), ClockConfig(1_000, 0, 0), acted, (1,))
    assert clock == a_clock(NOBODY_WAITS, 550, credited=250)
    assert credit_due(clock, 800, [Interruption(400, 700)]) == TimeCredited(50)


def some_interruptions(random: Random, length: int) -> list[Interruption]:
    """Short and long ones, beside each other and overlapping."""
    starts = [random.randrange(length) for _ in range(random.randrange(8))]
    return [Interruption(began, began + random.randrange(1, 60)) for began in starts]


@pytest.mark.parametrize("number", range(60))
def test_nobodys_time_runs_out_before_all_of_it_was_served_nor_later(number: int, seed: int) -> None:
    """The clock is looked at now and then, each time by the interruptions known then, and time is given back.

    Before a seat's time runs out, all that interrupted it is known.
    """
    random = Random(f"{seed} {number}")
    config = ClockConfig(random.randrange(20, 120), 0, 0)
    reserve, began = random.randrange(80), random.randrange(50)
    allowed = config.action_milliseconds + reserve
    interruptions = some_interruptions(random, 300)
    clock = ClockState((began, NOBODY_WAITS), (reserve, 0), (False, False), (0, 0))
    now, given = began, 0
    known: list[Interruption] = []
    while True:
        due = next_due(clock, config, people(2))
        assert due
        # Never later than the deadline: what an engine sees late it judges by all that was not served until then.
        now = due.at if random.random() < 0.7 else min(due.at, now + random.randrange(30))
        known = [each for each in interruptions if each in known or now >= due.at or random.random() < 0.5]
        if credit := credit_due(clock, now, known):
            given += credit.milliseconds
            clock = clock_after_credit(clock, credit.milliseconds)
            assert given == now - began - served(known, began, now)
        elif now >= due.at:
            break
    assert served(interruptions, began, now) >= allowed
    assert served(interruptions, began, due.at - 1) < allowed


@every_game
def test_what_is_given_back_moves_the_deadline_and_nothing_else_and_is_told_to_everybody(game: str, seed: int) -> None:
    config = make_config(game)
    before = new_table(config)
    for made in walk(config, Random(seed)):
        updates = [parsed(message_of(StreamEncoder(), config, made, viewer)).update for viewer in viewers(config)]
        event, after = made.entry.event, made.after
        given = event.milliseconds if isinstance(event, TimeCredited) else 0
        assert {update.credited_milliseconds for update in updates} == {given}
        if given:
            clock = clock_after_credit(before.clock, given)
            assert after == before._replace(sequence=after.sequence, at=after.at, due=after.due, clock=clock)
            assert after.deadline == before.deadline + given
            for update in updates:
                assert (len(update.facts), update.HasField("seat")) == (0, False)
                assert update.clock.deadline_milliseconds == after.deadline
        before = after
