"""The clock of a table: what an action costs, when time runs out, and who is away."""

from croupier.engine.clock import AWAY_MILLISECONDS, ClockState, Due, clock_after, new_clock, next_due
from croupier.engine.log import ActedBy, ClockConfig, Entry, SeatConfig
from croupier.games.actions import Pass
from croupier.games.interface import CardsShuffled, SeatActed
from tests.engine.play import bots, people

CONFIG = ClockConfig(action_milliseconds=30_000, reserve_milliseconds=10_000, bot_delay_milliseconds=700)
SEATS = people(3)
DEALT = Entry(1, 1_000, 0, CardsShuffled(()))


def acted(seat: int, at: int, by: ActedBy = ActedBy.PLAYER) -> Entry:
    return Entry(2, at, 0, SeatActed(seat, Pass()), by)


def dealt(*seats_to_act: int) -> ClockState:
    return clock_after(new_clock(3, CONFIG), CONFIG, DEALT, seats_to_act)


def due(clock: ClockState, seats: tuple[SeatConfig, ...] = SEATS) -> Due | None:
    return next_due(clock, CONFIG, seats)


def test_before_the_first_entry_nobody_is_to_act() -> None:
    assert due(new_clock(3, CONFIG)) is None


def test_a_seat_has_the_action_time_and_its_reserve() -> None:
    assert due(dealt(1)) == Due(1_000 + 30_000 + 10_000, 1)


def test_an_action_in_time_costs_no_reserve() -> None:
    clock = clock_after(dealt(1), CONFIG, acted(1, 31_000), (2,))
    assert clock.reserves == (10_000,) * 3
    assert due(clock) == Due(31_000 + 40_000, 2)


def test_overtime_comes_out_of_the_reserve_of_the_one_who_acted() -> None:
    clock = clock_after(dealt(1), CONFIG, acted(1, 31_000 + 4_000), (1,))
    assert clock.reserves == (10_000, 6_000, 10_000)
    assert due(clock) == Due(35_000 + 30_000 + 6_000, 1)


def test_a_reserve_never_goes_below_zero() -> None:
    clock = clock_after(dealt(1), CONFIG, acted(1, 999_000), (1,))
    assert clock.reserves[1] == 0
    assert due(clock) == Due(999_000 + 30_000, 1)


def test_a_seat_whose_time_ran_out_is_away_and_waited_for_shortly() -> None:
    clock = clock_after(dealt(1), CONFIG, acted(1, 41_000, ActedBy.TIMEOUT), (1,))
    assert clock.away == (False, True, False)
    assert clock.reserves[1] == 0
    assert due(clock) == Due(41_000 + AWAY_MILLISECONDS, 1)


def test_being_away_takes_no_more_of_the_reserve() -> None:
    config = ClockConfig(1_000, 9_000, 0)
    clock = ClockState((0, -1, -1), (5_000,) * 3, (True, False, False), (0,) * 3)
    assert clock_after(clock, config, acted(0, 3_000, ActedBy.TIMEOUT), ()).reserves == (5_000,) * 3


def test_a_seat_that_is_away_never_gets_more_than_the_action_time() -> None:
    short = ClockConfig(1_000, 9_000, 0)
    assert next_due(ClockState((50, -1, -1), (9_000,) * 3, (True, False, False), (0,) * 3), short, SEATS) == Due(
        1_050, 0
    )


def test_who_acts_again_gets_his_seat_back() -> None:
    away = clock_after(dealt(1), CONFIG, acted(1, 41_000, ActedBy.TIMEOUT), (1,))
    back = clock_after(away, CONFIG, acted(1, 42_000), (1,))
    assert back.away == (False, False, False)
    assert due(back) == Due(42_000 + 30_000, 1)


def test_others_acting_do_not_bring_a_seat_back() -> None:
    away = clock_after(dealt(1), CONFIG, acted(1, 41_000, ActedBy.TIMEOUT), (2,))
    assert clock_after(away, CONFIG, acted(2, 42_000), (1,)).away == (False, True, False)


def test_seats_that_act_at_the_same_time_wait_each_on_its_own_clock() -> None:
    clock = clock_after(dealt(0, 1, 2), CONFIG, acted(1, 20_000), (0, 1, 2))
    assert clock.since == (1_000, 20_000, 1_000)
    assert due(clock) == Due(41_000, 0)
    clock = clock_after(clock, CONFIG, acted(0, 36_000), (1, 2))
    assert clock.reserves == (5_000, 10_000, 10_000)
    assert clock.since == (-1, 20_000, 1_000)
    assert due(clock) == Due(41_000, 2)


def test_a_shuffle_in_between_starts_all_clocks_anew() -> None:
    nobody = clock_after(dealt(0), CONFIG, acted(0, 2_000), ())
    assert due(nobody) is None
    assert due(clock_after(nobody, CONFIG, Entry(3, 2_500, 0, CardsShuffled(())), (0, 2))) == Due(42_500, 0)


def test_a_computer_player_acts_after_its_delay_and_is_never_away() -> None:
    assert due(dealt(2), bots(3)) == Due(1_700, 2)
    clock = clock_after(dealt(2), CONFIG, acted(2, 1_700, ActedBy.BOT), (0,))
    assert clock.away == (False,) * 3
    assert clock.reserves == (10_000,) * 3


def test_of_two_seats_that_are_due_the_earlier_and_then_the_lower_is_first() -> None:
    assert due(ClockState((500, 400, 400), (0,) * 3, (False,) * 3, (0,) * 3)) == Due(30_400, 1)
