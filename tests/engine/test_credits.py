"""Time that nobody served is given back: how much, to whom, and that it is never more."""

from collections.abc import Iterator, Sequence
from random import Random

import pytest

from croupier.engine.clock import NOBODY_WAITS, ClockState, clock_after_credit, next_due
from croupier.engine.credits import Interruption, credit_due, interrupted_until, unserved_milliseconds
from croupier.engine.fact_codec import StreamEncoder
from croupier.engine.log import ClockConfig, Entry, TableConfig, TimeCredited, body_to_json, entry_from_row
from croupier.engine.replay import verify_replay, write_replay
from croupier.engine.streams import message_of
from croupier.engine.table import Step, TableState, advance, steps_of
from tests.engine.play import CLOCK, every_game, make_config, parsed, people, viewers, walk

UNSERVED: list[tuple[list[tuple[int, int]], int]] = [
    ([], 0),
    ([(0, 90)], 0),
    ([(0, 100)], 0),
    ([(200, 300)], 0),
    ([(0, 300)], 100),
    ([(0, 110)], 10),
    ([(190, 300)], 10),
    ([(120, 130)], 10),
    ([(120, 120)], 0),
    ([(130, 120)], 0),
    ([(120, 130), (120, 130)], 10),
    ([(120, 140), (130, 150)], 30),
    ([(130, 150), (120, 140)], 30),
    ([(120, 160), (130, 140)], 40),
    ([(130, 140), (120, 160)], 40),
    ([(120, 130), (130, 140)], 20),
    ([(120, 130), (150, 155), (0, 101), (199, 900)], 17),
]


@pytest.mark.parametrize(("interruptions", "expected"), UNSERVED)
def test_of_a_time_what_falls_into_any_interruption_counts_once(
    interruptions: list[tuple[int, int]], expected: int
) -> None:
    assert unserved_milliseconds([Interruption(*each) for each in interruptions], 100, 200) == expected


@pytest.mark.parametrize(
    ("interruptions", "expected"),
    [
        ([], 100),
        ([(0, 100)], 100),
        ([(101, 200)], 100),
        ([(100, 101)], 101),
        ([(0, 150), (150, 170), (171, 180)], 170),
        ([(140, 160), (0, 150), (20, 30)], 160),
    ],
)
def test_an_interruption_lasts_as_long_as_others_begin_before_its_end(
    interruptions: list[tuple[int, int]], expected: int
) -> None:
    assert interrupted_until([Interruption(*each) for each in interruptions], 100) == expected


def a_clock(*since: int, credited: int = 0) -> ClockState:
    given = tuple(0 if started == NOBODY_WAITS else credited for started in since)
    return ClockState(since, (0,) * len(since), (False,) * len(since), given)


WHOLE_TIME = [Interruption(0, 1_000)]


def test_nothing_is_due_when_nobody_waits_or_all_was_served() -> None:
    assert credit_due(a_clock(NOBODY_WAITS, NOBODY_WAITS), 500, WHOLE_TIME) is None
    assert credit_due(a_clock(100, NOBODY_WAITS), 500, []) is None
    assert credit_due(a_clock(100, NOBODY_WAITS), 500, [Interruption(0, 100), Interruption(500, 900)]) is None


def test_whoever_waits_longest_decides_how_much_is_given_back() -> None:
    assert credit_due(a_clock(400, NOBODY_WAITS, 300), 500, WHOLE_TIME) == TimeCredited(200)


def test_what_was_given_back_is_not_given_again() -> None:
    assert credit_due(a_clock(450, credited=350), 500, WHOLE_TIME) == TimeCredited(50)
    assert credit_due(a_clock(500, credited=400), 500, WHOLE_TIME) is None
    clock = clock_after_credit(a_clock(100, NOBODY_WAITS), 400)
    assert clock == a_clock(500, NOBODY_WAITS, credited=400)
    assert credit_due(clock, 500, WHOLE_TIME) is None
    assert credit_due(clock, 700, WHOLE_TIME) == TimeCredited(200)


def test_an_interruption_that_becomes_known_after_a_credit_is_given_back_too() -> None:
    """One engine was gone until 400; that another was gone from 300 to 900 was noticed only after 410."""
    first = Interruption(100, 400)
    clock = clock_after_credit(a_clock(0), 300)
    assert credit_due(clock, 410, [first]) is None
    assert credit_due(clock, 1_000, [first, Interruption(300, 900)]) == TimeCredited(500)


def test_what_a_seat_got_with_another_counts_when_its_own_time_is_not_served() -> None:
    clock = clock_after_credit(a_clock(100, 300), 250)
    alone = clock._replace(since=(NOBODY_WAITS, clock.since[1]))
    assert credit_due(alone, 800, [Interruption(400, 700)]) == TimeCredited(50)


# The law


def served(interruptions: Sequence[Interruption], since: int, until: int) -> int:
    """How many milliseconds of a time were served, counted one by one."""
    return sum(not any(began <= moment < ended for began, ended in interruptions) for moment in range(since, until))


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


# In logs, streams and replays


def with_credits(config: TableConfig, random: Random) -> Iterator[Step]:
    """A random game in which time is given back now and then."""
    shift = 0
    table: TableState | None = None
    for made in walk(config, random):
        if table is not None and table.seats_to_act and random.random() < 0.2:
            shift += 1
            (credit,) = advance(config, table, table.at + 1, TimeCredited(random.randrange(1, 9_000)))
            yield credit
            table = credit.after
        event, by = made.entry.event, made.entry.acted_by
        at = max(made.entry.at, table.at if table else 0)
        entry = made.entry._replace(sequence=made.entry.sequence + shift, at=at)
        before = table
        (again, *_) = advance(config, before, at, event, by, entry.request_id) if before else [made]
        yield again
        table = again.after


def a_log_with_credits(config: TableConfig, random: Random) -> list[Entry]:
    log = [made.entry for made in with_credits(config, random)]
    return log if any(isinstance(entry.event, TimeCredited) for entry in log) else a_log_with_credits(config, random)


@every_game
def test_what_was_given_back_comes_back_from_its_row_and_moves_the_deadline(game: str, seed: int) -> None:
    config = make_config(game)
    log = a_log_with_credits(config, Random(seed))
    assert [entry_from_row(*entry[:3], body_to_json(entry)) for entry in log] == log
    before: TableState | None = None
    for made in steps_of(config, log):
        assert made.after.deadline == made.entry.deadline
        if isinstance(made.entry.event, TimeCredited):
            assert before
            given = made.entry.event.milliseconds
            assert made.after.deadline == before.deadline + given
            assert made.after._replace(sequence=0, at=0, clock=before.clock, due=None) == before._replace(
                sequence=0, at=0, due=None
            )
            assert made.after.clock.since == tuple(
                since if since == NOBODY_WAITS else since + given for since in before.clock.since
            )
            assert made.after.clock.credited == tuple(
                credited if since == NOBODY_WAITS else credited + given
                for since, credited in zip(before.clock.since, before.clock.credited, strict=True)
            )
        before = made.after


@every_game
def test_streams_tell_everybody_what_was_given_back_and_nothing_else(game: str, seed: int) -> None:
    config = make_config(game)
    for made in steps_of(config, a_log_with_credits(config, Random(seed))):
        given = made.entry.event.milliseconds if isinstance(made.entry.event, TimeCredited) else 0
        for viewer in viewers(config):
            update = parsed(message_of(StreamEncoder(), config, made, viewer)).update
            assert update.credited_milliseconds == given
            if given:
                assert (len(update.facts), update.HasField("seat")) == (0, False)
                assert update.clock.deadline_milliseconds == made.after.deadline


@every_game
def test_a_replay_leaves_out_what_was_given_back(game: str, seed: int) -> None:
    config = make_config(game)
    log = a_log_with_credits(config, Random(seed))
    replay = write_replay(config, log)
    assert "credited" not in replay
    assert verify_replay(replay).entries == sum(not isinstance(entry.event, TimeCredited) for entry in log)


def test_who_acts_after_time_was_given_back_has_his_whole_time_again() -> None:
    config = make_config()
    table = next(walk(config, Random(1))).after
    (seat,) = table.seats_to_act
    (given,) = advance(config, table, table.at + 40_000, TimeCredited(15_000))
    assert given.after.clock.since[seat] == table.at + 15_000
    assert given.after.deadline == table.at + 15_000 + CLOCK.action_milliseconds + CLOCK.reserve_milliseconds
