"""Proposals and votes as a fold over the log: what is proposed when, and that neither game nor clock hears of it."""

from random import Random
from typing import Any, NoReturn

import pytest

from croupier.engine.log import ActedBy, Entry, LoggedEvent, Proposed, TableConfig, Voted, body_to_json, entry_from_row
from croupier.engine.proposals import OpenProposal, proposal_after_event
from croupier.engine.table import TableState, advance, new_table
from croupier.games.actions import Pass
from croupier.games.facts import RoundEnded, TurnChanged
from croupier.games.interface import CardsShuffled, IllegalAction, ProposalAgreed, SeatActed
from tests.engine.fakes import START
from tests.engine.play import CLOCK, bots, choice, make_config, people

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


@pytest.mark.parametrize("event", [PROPOSED, Proposed(0, 'ö"', 0), Voted(3, 17, True), Voted(0, 1, False)], ids=repr)
def test_what_seats_say_comes_back_from_its_row(event: LoggedEvent) -> None:
    entry = Entry(7, LATER, EXPIRY, event, ActedBy.PLAYER, 'é"\n x')
    text = body_to_json(entry)
    assert entry_from_row(7, LATER, EXPIRY, text) == entry
    assert type(entry_from_row(7, LATER, EXPIRY, text).event) is type(event)


def test_what_was_agreed_comes_back_from_its_row() -> None:
    entry = Entry(7, LATER, EXPIRY, ProposalAgreed("restart_new"))
    assert entry_from_row(7, LATER, EXPIRY, body_to_json(entry)) == entry


def test_a_proposal_has_the_name_of_its_entry_and_its_proposer_agrees() -> None:
    config = make_config("solo")
    table = after(config, dealt(config), PROPOSED)
    assert table.proposal == OpenProposal(2, "restart_same", 1, frozenset({1}), EXPIRY)


def test_computer_players_agree_from_the_beginning() -> None:
    config = make_config("solo", seats=(*people(2), *bots(2)))
    table = after(config, dealt(config), PROPOSED)
    assert table.proposal
    assert table.proposal.agreed == {1, 2, 3}


def test_what_seats_say_touches_neither_the_game_nor_the_clock() -> None:
    config = make_config("solo")
    before = dealt(config)
    for events in ((PROPOSED,), (PROPOSED, Voted(0, 2, True)), (PROPOSED, Voted(0, 2, False))):
        table = after(config, before, *events)
        same = table._replace(sequence=before.sequence, at=before.at, proposal=None)
        assert same == before
        assert table.game is before.game
        assert (table.sequence, table.at) == (before.sequence + len(events), LATER)


def test_what_seats_say_makes_nothing_known_and_keeps_the_deadline() -> None:
    config = make_config("solo")
    before = dealt(config)
    (made,) = advance(config, before, LATER, PROPOSED, request_id="r")
    assert (made.facts, made.public, made.reports) == ((), True, 0)
    assert made.entry == Entry(2, LATER, before.deadline, PROPOSED, ActedBy.PLAYER, "r")


def test_votes_add_up_until_one_refuses() -> None:
    config = make_config("solo")
    table = after(config, dealt(config), PROPOSED, Voted(0, 2, True), Voted(3, 2, True))
    assert table.proposal
    assert table.proposal.agreed == {0, 1, 3}
    assert after(config, table, Voted(2, 2, False)).proposal is None


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


class Willing:
    """A state of a game that always takes what all agreed to."""

    def apply(self, event: object) -> tuple["Willing", tuple[()]]:
        assert isinstance(event, ProposalAgreed)
        return self, ()


class Unwilling:
    """A state of a game that never does."""

    def apply(self, event: object) -> NoReturn:
        raise IllegalAction("X-1", "not now")


def test_a_proposal_goes_when_its_round_ends_or_it_cannot_happen_any_more() -> None:
    proposal = OpenProposal(2, "restart_same", 1, frozenset({1}), EXPIRY)
    acted = Entry(3, LATER, 0, SeatActed(0, Pass()))
    willing: Any = Willing()
    unwilling: Any = Unwilling()
    assert proposal_after_event(proposal, acted, willing, (TurnChanged("play", (0,)),)) == proposal
    assert proposal_after_event(proposal, acted, willing, (RoundEnded(1, (), (), ()),)) is None
    assert proposal_after_event(proposal, acted, unwilling, ()) is None


def test_at_a_table_nothing_stays_proposed_when_the_hand_is_over(seed: int) -> None:
    config = make_config("solo")
    random, table, ended = Random(seed), dealt(config), 0
    while not table.is_over and ended < 3:
        table = after(config, table, PROPOSED)
        steps = advance(config, table, LATER, SeatActed(*choice(table, random)))
        is_end = any(isinstance(fact, RoundEnded) for fact in steps[0].facts)
        assert (steps[-1].after.proposal is None) == is_end
        ended += is_end
        table = steps[-1].after
