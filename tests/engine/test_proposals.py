"""Proposals and votes as a fold over the log, without effect on game and clock."""

from random import Random

import pytest

from croupier.engine.core.fold import TableState, advance, new_table
from croupier.engine.core.log import ActedBy, Entry, LoggedEvent, Proposed, TableConfig, Voted
from croupier.engine.core.proposals import refusal_of
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
def test_proposals_and_votes_change_neither_game_nor_clock_and_have_no_facts(event: LoggedEvent) -> None:
    config = make_config("solo")
    before = after(config, dealt(config), PROPOSED, at=START + 5)
    (transition,) = advance(config, before, LATER, event, request_id="r")
    assert (transition.facts, transition.public, transition.reports) == ((), True, 0)
    assert transition.entry == Entry(3, LATER, before.deadline, event, ActedBy.PLAYER, "r")
    assert transition.after == before._replace(sequence=3, at=LATER, proposal=transition.after.proposal)
    assert transition.after.game is before.game


def test_a_proposal_stays_open_during_play_until_it_expires() -> None:
    config = make_config("solo")
    table = after(config, dealt(config), PROPOSED)
    for at, is_open in ((EXPIRY - 1, True), (EXPIRY, False), (EXPIRY + 1, False)):
        assert bool(after(config, table, some_action(table), at=at).proposal) == is_open


def test_an_agreed_proposal_is_closed_and_restarts_all_clocks() -> None:
    config = make_config("solo")
    for name in ("restart_same", "restart_new"):
        table = after(config, dealt(config), PROPOSED._replace(proposal=name))
        transitions = advance(config, table, LATER + 5, ProposalAgreed(name))
        table = transitions[-1].after
        assert [type(transition.entry.event) for transition in transitions[1:]] == [CardsShuffled] * (
            name == "restart_new"
        )
        assert table.proposal is None
        (seat,) = table.seats_to_act
        assert table.clock.since[seat] == LATER + 5
        assert table.clock.reserves == (CLOCK.reserve_milliseconds,) * 4
        assert table.deadline == LATER + 5 + CLOCK.action_milliseconds + CLOCK.reserve_milliseconds


def test_a_proposal_that_becomes_impossible_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    config = make_config("solo")
    table = after(config, dealt(config), PROPOSED)
    assert after(config, table, some_action(table)).proposal == table.proposal
    assert isinstance(refusal_of(new_table(config).rules, new_table(config).game, "restart_same"), IllegalAction)
    monkeypatch.setattr("croupier.engine.core.proposals.refusal_of", lambda *_: IllegalAction("X-1", "not now"))
    assert after(config, table, some_action(table)).proposal is None


def test_the_end_of_a_hand_closes_its_proposal(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("croupier.engine.core.proposals.refusal_of", lambda *_: None)
    config = make_config("solo")
    random, table, ended = Random(seed), dealt(config), 0
    while not table.is_over and ended < 3:
        table = after(config, table, PROPOSED)
        transitions = advance(config, table, LATER, SeatActed(*choice(table, random)))
        is_end = any(isinstance(fact, RoundEnded) for fact in transitions[0].facts)
        assert (transitions[-1].after.proposal is None) == is_end
        ended += is_end
        table = transitions[-1].after
