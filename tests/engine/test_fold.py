"""The fold of a log to a table: of the events of the game, and of proposals and votes."""

from random import Random

import pytest

from croupier.engine.core.fold import TableState, Transition, advance, new_table, refusal_of, transition_of
from croupier.engine.core.guarded_rules import RulesUnusable
from croupier.engine.core.log import ActedBy, Entry, LoggedEvent, Proposed, TableConfig, Voted
from croupier.games.actions import Pass, Play
from croupier.games.facts import RoundEnded
from croupier.games.interface import CardsShuffled, IllegalAction, ProposalAgreed, SeatActed
from croupier.games.registry import OWN_GAMES
from tests.engine.fakes import START
from tests.engine.folds import transitions_of
from tests.engine.play import CLOCK, FULL_MILLISECONDS, choice, dealt, every_game, make_config, some_action, walk

LATER = START + 20_000
EXPIRY = LATER + 30_000
SOLO = make_config("solo")
PROPOSED = Proposed(1, "restart_same", EXPIRY)


@every_game
def test_the_log_gives_the_same_transitions(game: str, seed: int) -> None:
    random = Random(seed)
    for seats in OWN_GAMES[game].seats:
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
        away = [seat for seat, absence in enumerate(transition.after.clock.absences) if absence]
        assert transition.after.turn == tuple(
            sum(1 << seat for seat in it) for it in (transition.after.seats_to_act, away)
        )
    times = [transition.entry.at for transition in transitions]
    assert times == sorted(times)
    assert transitions[-1].after.is_over
    assert sum(transition.reports for transition in transitions) >= 2


def test_time_in_a_log_never_runs_backwards() -> None:
    table = dealt(make_config())
    (transition, *_) = advance(make_config(), table, START - 60_000, some_action(table))
    assert transition.entry.at == START
    assert transition.entry.deadline == START + FULL_MILLISECONDS


def test_an_illegal_event_makes_no_transition() -> None:
    table = dealt(make_config())
    (seat,) = table.seats_to_act
    for event in (SeatActed(1 - seat, Play(0)), SeatActed(seat, Pass()), CardsShuffled(tuple(range(52)))):
        with pytest.raises(IllegalAction):
            advance(make_config(), table, START, event)
        # It was stored, so the rules accepted it once.
        with pytest.raises(RulesUnusable, match="failed at this table, by IllegalAction"):
            transition_of(make_config(), table, Entry(2, START, 0, event))


def test_an_action_and_the_deal_that_follows_are_stored_together(seed: int) -> None:
    config = make_config("thulla", options={"best_of": 3, "scoring": "cards"})
    random, table = Random(seed), dealt(config)
    transitions: list[Transition] = []
    while len(transitions) < 2:
        assert not table.is_over
        transitions = advance(config, table, START, SeatActed(*choice(table, random)), ActedBy.PLAYER, "r")
        table = transitions[-1].after
    acted, shuffled = (transition.entry for transition in transitions)
    assert isinstance(shuffled.event, CardsShuffled)
    assert (acted.request_id, acted.deadline, shuffled.request_id) == ("r", 0, "")


def after(config: TableConfig, table: TableState, event: LoggedEvent, at: int = LATER) -> TableState:
    return advance(config, table, at, event, request_id="r")[-1].after


@pytest.mark.parametrize("event", [PROPOSED, Voted(0, 2, True), Voted(0, 2, False)], ids=repr)
def test_proposals_and_votes_change_neither_game_nor_clock_and_have_no_facts(event: LoggedEvent) -> None:
    before = after(SOLO, dealt(SOLO), PROPOSED, at=START + 5)
    (transition,) = advance(SOLO, before, LATER, event, request_id="r")
    assert (transition.facts, transition.public, transition.reports) == ((), True, 0)
    assert transition.entry == Entry(3, LATER, before.deadline, event, ActedBy.PLAYER, "r")
    assert transition.after == before._replace(sequence=3, at=LATER, proposal=transition.after.proposal)
    assert transition.after.game is before.game


def test_a_proposal_stays_open_during_play_until_it_expires() -> None:
    table = after(SOLO, dealt(SOLO), PROPOSED)
    for at, is_open in ((EXPIRY - 1, True), (EXPIRY, False), (EXPIRY + 1, False)):
        assert bool(after(SOLO, table, some_action(table), at=at).proposal) == is_open


@pytest.mark.parametrize(("name", "following"), [("restart_same", []), ("restart_new", [CardsShuffled])])
def test_an_agreed_proposal_is_closed_and_restarts_all_clocks(name: str, following: list[type]) -> None:
    table = after(SOLO, dealt(SOLO), PROPOSED._replace(proposal=name))
    transitions = advance(SOLO, table, LATER + 5, ProposalAgreed(name))
    table = transitions[-1].after
    assert [type(transition.entry.event) for transition in transitions[1:]] == following
    assert table.proposal is None
    (seat,) = table.seats_to_act
    assert table.clock.since[seat] == LATER + 5
    assert table.clock.reserves == (CLOCK.reserve_milliseconds,) * 4
    assert table.deadline == LATER + 5 + FULL_MILLISECONDS


def test_a_proposal_that_becomes_impossible_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    table = after(SOLO, dealt(SOLO), PROPOSED)
    assert after(SOLO, table, some_action(table)).proposal == table.proposal
    assert isinstance(refusal_of(table.rules, new_table(SOLO).game, "restart_same"), IllegalAction)
    monkeypatch.setattr("croupier.engine.core.fold.refusal_of", lambda *_: IllegalAction("X-1", "not now"))
    assert after(SOLO, table, some_action(table)).proposal is None


def test_the_end_of_a_hand_closes_its_proposal(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("croupier.engine.core.fold.refusal_of", lambda *_: None)
    random, table, ended = Random(seed), dealt(SOLO), 0
    while not table.is_over and ended < 3:
        table = after(SOLO, table, PROPOSED)
        transitions = advance(SOLO, table, LATER, SeatActed(*choice(table, random)))
        is_end = any(isinstance(fact, RoundEnded) for fact in transitions[0].facts)
        assert (transitions[-1].after.proposal is None) == is_end
        ended += is_end
        table = transitions[-1].after
