"""Proposals and votes as a fold over the log: what is proposed when, and that neither game nor clock hears of it."""

from random import Random

import pytest

from croupier.engine.log import ActedBy, Entry, LoggedEvent, Proposed, TableConfig, Voted
from croupier.engine.proposals import refusal_of
from croupier.engine.table import TableState, advance, new_table
from croupier.games.facts import RoundEnded
from croupier.games.interface import CardsShuffled, IllegalAction, ProposalAgreed, SeatActed
from tests.engine.fakes import START
from tests.engine.play import CLOCK, choice, make_config

LATER = START + 20_000
EXPIRY = LATER + 30_000
PROPOSED = Proposed(1, "restart_same", EXPIRY)


def dealt(config: TableConfig) -> TableState:
    return advance(config, new_table(config), START, None)[-1].after


def after(config: TableConfig, table: TableState, *events: LoggedEvent, at: int = LATER) -> TableState:
    for event in events:
        table = advance(config, table, at, event, request_id="r")[-1].after
    return table


def some_action(table: TableState) -> SeatActed:
    return SeatActed(*choice(table, Random(1)))


@pytest.mark.parametrize("event", [PROPOSED, Voted(0, 2, True), Voted(0, 2, False)], ids=repr)
def test_what_seats_say_touches_neither_game_nor_clock_and_makes_nothing_known(event: LoggedEvent) -> None:
    config = make_config("solo")
    before = after(config, dealt(config), PROPOSED, at=START + 5)
    (made,) = advance(config, before, LATER, event, request_id="r")
    assert (made.facts, made.public, made.reports) == ((), True, 0)
    assert made.entry == Entry(3, LATER, before.deadline, event, ActedBy.PLAYER, "r")
    assert made.after == before._replace(sequence=3, at=LATER, proposal=made.after.proposal)
    assert made.after.game is before.game


def test_a_proposal_stays_while_play_goes_on_and_goes_with_its_time() -> None:
    config = make_config("solo")
    table = after(config, dealt(config), PROPOSED)
    for at, is_open in ((EXPIRY - 1, True), (EXPIRY, False), (EXPIRY + 1, False)):
        assert bool(after(config, table, some_action(table), at=at).proposal) == is_open


def test_what_happens_is_not_proposed_any_more_and_all_clocks_begin_anew() -> None:
    config = make_config("solo")
    for name in ("restart_same", "restart_new"):
        table = after(config, dealt(config), PROPOSED._replace(proposal=name))
        steps = advance(config, table, LATER + 5, ProposalAgreed(name))
        table = steps[-1].after
        assert [type(made.entry.event) for made in steps[1:]] == [CardsShuffled] * (name == "restart_new")
        assert table.proposal is None
        (seat,) = table.seats_to_act
        assert table.clock.since[seat] == LATER + 5
        assert table.clock.reserves == (CLOCK.reserve_milliseconds,) * 4
        assert table.deadline == LATER + 5 + CLOCK.action_milliseconds + CLOCK.reserve_milliseconds


def test_a_proposal_goes_when_it_cannot_happen_any_more(monkeypatch: pytest.MonkeyPatch) -> None:
    config = make_config("solo")
    table = after(config, dealt(config), PROPOSED)
    assert after(config, table, some_action(table)).proposal == table.proposal
    assert isinstance(refusal_of(new_table(config).game, "restart_same"), IllegalAction)
    monkeypatch.setattr("croupier.engine.proposals.refusal_of", lambda game, name: IllegalAction("X-1", "not now"))
    assert after(config, table, some_action(table)).proposal is None


def test_nothing_stays_proposed_when_the_hand_is_over(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("croupier.engine.proposals.refusal_of", lambda game, name: None)
    config = make_config("solo")
    random, table, ended = Random(seed), dealt(config), 0
    while not table.is_over and ended < 3:
        table = after(config, table, PROPOSED)
        steps = advance(config, table, LATER, SeatActed(*choice(table, random)))
        is_end = any(isinstance(fact, RoundEnded) for fact in steps[0].facts)
        assert (steps[-1].after.proposal is None) == is_end
        ended += is_end
        table = steps[-1].after
