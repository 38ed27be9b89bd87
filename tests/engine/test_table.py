"""A table is a fold over its log: the same log gives the same table, and every entry says until when."""

from random import Random

import pytest

from croupier.engine.log import ActedBy, ClockConfig, Entry
from croupier.engine.table import advance, new_table, step, steps_of
from croupier.games.actions import Pass, Play
from croupier.games.catalogue import GAMES
from croupier.games.interface import CardsShuffled, IllegalAction, SeatActed
from tests.engine.fakes import START
from tests.engine.play import bots, choice, every_game, make_config, walk


@every_game
def test_the_log_gives_the_very_steps_that_were_played(game: str, seed: int) -> None:
    random = Random(seed)
    for seats in GAMES[game].seats:
        config = make_config(game, seats)
        played = list(walk(config, random))
        assert list(steps_of(config, [made.entry for made in played])) == played


@every_game
def test_every_entry_has_its_number_its_time_and_its_deadline(game: str, seed: int) -> None:
    config = make_config(game)
    at = 0
    for number, made in enumerate(walk(config, Random(seed)), start=1):
        assert made.entry.sequence == made.after.sequence == number
        assert made.entry.at >= at
        at = made.entry.at
        assert made.entry.deadline == made.after.deadline
        # Whose turn it was already may have let his time pass: nobody acts for him in this walk.
        assert (made.entry.deadline > 0) == bool(made.after.seats_to_act)
        if made.after.due:
            assert made.after.due.seat in made.after.seats_to_act


@every_game
def test_a_step_says_whether_it_is_public_and_how_many_reports_it_makes(game: str, seed: int) -> None:
    steps = list(walk(make_config(game), Random(seed)))
    for made in steps:
        assert made.public == all(fact.audience == -1 for fact in made.facts)
    assert steps[-1].after.is_over
    assert sum(made.reports for made in steps) >= 2


def test_time_in_a_log_never_runs_backwards() -> None:
    config = make_config()
    table = advance(config, new_table(config), START, None)[-1].after
    seat, action = choice(table, Random(1))
    (made, *_) = advance(config, table, START - 60_000, SeatActed(seat, action))
    assert made.entry.at == START
    assert made.entry.deadline == START + config.clock.action_milliseconds + config.clock.reserve_milliseconds


def test_an_action_that_the_rules_refuse_makes_no_step() -> None:
    config = make_config()
    table = advance(config, new_table(config), START, None)[-1].after
    (seat,) = table.seats_to_act
    for event in (SeatActed(1 - seat, Play(0)), SeatActed(seat, Pass())):
        with pytest.raises(IllegalAction) as refusal:
            advance(config, table, START, event)
        assert refusal.value.rule


def test_a_shuffle_that_is_not_due_is_refused() -> None:
    config = make_config()
    table = advance(config, new_table(config), START, None)[-1].after
    with pytest.raises(IllegalAction):
        step(config, table, Entry(2, START, 0, CardsShuffled(tuple(range(52)))))


def test_computer_players_deadlines_are_their_delay() -> None:
    config = make_config(seats=bots(3), clock=ClockConfig(30_000, 0, 250))
    assert advance(config, new_table(config), START, None)[-1].after.deadline == START + 250


def test_an_action_and_the_deal_that_follows_are_stored_together(seed: int) -> None:
    config = make_config("thulla", options={"best_of": 3, "scoring": "cards"})
    random = Random(seed)
    table = advance(config, new_table(config), START, None)[-1].after
    for _ in range(5000):
        seat, action = choice(table, random)
        steps = advance(config, table, START, SeatActed(seat, action), ActedBy.PLAYER, "r")
        table = steps[-1].after
        if len(steps) == 2:
            assert isinstance(steps[1].entry.event, CardsShuffled)
            assert steps[1].entry.request_id == ""
            assert steps[0].entry.deadline == 0
            return
    raise AssertionError("no round ended")
