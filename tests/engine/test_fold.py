"""The fold of a log to a table."""

from random import Random

import pytest

from croupier.engine.core.fold import TableState, Transition, advance, new_table, transition_of
from croupier.engine.core.log import ActedBy, ClockConfig, Entry
from croupier.games.actions import Pass, Play
from croupier.games.interface import CardsShuffled, IllegalAction, SeatActed
from croupier.games.registry import GAMES
from tests.engine.fakes import START
from tests.engine.folds import transitions_of
from tests.engine.play import bots, choice, every_game, make_config, walk


@every_game
def test_the_log_gives_the_same_transitions(game: str, seed: int) -> None:
    random = Random(seed)
    for seats in GAMES[game].seats:
        config = make_config(game, seats)
        played = list(walk(config, random))
        assert list(transitions_of(config, [transition.entry for transition in played])) == played


@every_game
def test_a_transition_has_its_sequence_time_deadline_audience_and_reports(game: str, seed: int) -> None:
    transitions = list(walk(make_config(game), Random(seed)))
    for number, transition in enumerate(transitions, start=1):
        assert transition.entry.sequence == transition.after.sequence == number
        assert transition.entry.deadline == transition.after.deadline
        # A seat may exceed its time, since this walk has no time-outs.
        assert (transition.entry.deadline > 0) == bool(transition.after.seats_to_act)
        if transition.after.due:
            assert transition.after.due.seat in transition.after.seats_to_act
        assert transition.public == all(fact.audience == -1 for fact in transition.facts)
    times = [transition.entry.at for transition in transitions]
    assert times == sorted(times)
    assert transitions[-1].after.is_over
    assert sum(transition.reports for transition in transitions) >= 2


@pytest.fixture
def dealt() -> TableState:
    config = make_config()
    return advance(config, new_table(config), START, None)[-1].after


def test_time_in_a_log_never_runs_backwards(dealt: TableState) -> None:
    config = make_config()
    (transition, *_) = advance(config, dealt, START - 60_000, SeatActed(*choice(dealt, Random(1))))
    assert transition.entry.at == START
    assert transition.entry.deadline == START + config.clock.action_milliseconds + config.clock.reserve_milliseconds


def test_an_illegal_event_makes_no_transition(dealt: TableState) -> None:
    config = make_config()
    (seat,) = dealt.seats_to_act
    for event in (SeatActed(1 - seat, Play(0)), SeatActed(seat, Pass()), CardsShuffled(tuple(range(52)))):
        with pytest.raises(IllegalAction):
            transition_of(config, dealt, Entry(2, START, 0, event))


def test_deadlines_of_computer_players_are_their_delay() -> None:
    config = make_config(seats=bots(3), clock=ClockConfig(30_000, 0, 250))
    assert advance(config, new_table(config), START, None)[-1].after.deadline == START + 250


def test_an_action_and_the_deal_that_follows_are_stored_together(seed: int) -> None:
    config = make_config("thulla", options={"best_of": 3, "scoring": "cards"})
    random = Random(seed)
    table = advance(config, new_table(config), START, None)[-1].after
    transitions: list[Transition] = []
    while len(transitions) < 2:
        assert not table.is_over
        transitions = advance(config, table, START, SeatActed(*choice(table, random)), ActedBy.PLAYER, "r")
        table = transitions[-1].after
    acted, shuffled = (transition.entry for transition in transitions)
    assert isinstance(shuffled.event, CardsShuffled)
    assert (acted.request_id, acted.deadline, shuffled.request_id) == ("r", 0, "")
