"""The rules of Thulla from the deal to the stall, one by one."""

import json
from random import Random
from typing import Any

import pytest

from croupier.games.actions import PLAYS
from croupier.games.cards import STANDARD_DECK, card, cards, cards_of_mask, notation
from croupier.games.facts import PileCard, Seat, SeatOut
from croupier.games.interface import (
    CardsShuffled,
    IllegalAction,
    SeatActed,
    SeatsToAct,
    ShuffleNeeded,
    resolve_options,
)
from croupier.games.thulla import ThullaState
from croupier.games.thulla.table import REMOVAL_ORDER
from tests.games.comparison import rule_against
from tests.games.positions_thulla import THULLA, hand, legal, order, plays, plays_with_facts, position, to_act

AFTER_TRICK = "safe_after_trick"


def new(seats: int, **options: Any) -> ThullaState:
    """A table before its first deal."""
    return THULLA.new(seats, resolve_options(THULLA, seats, options))


def due(state: ThullaState) -> ShuffleNeeded:
    """The shuffle that a table awaits."""
    assert isinstance(state.awaiting, ShuffleNeeded)
    return state.awaiting


def deal(state: ThullaState, seed: int = 1, drawn: tuple[int, ...] = ()) -> ThullaState:
    """The table after a deal by chance."""
    shuffled = Random(seed).sample(due(state).cards, len(due(state).cards))
    return state.apply(CardsShuffled(tuple(shuffled), drawn))[0]


# The players, the deck, the options


def test_THU_DECK_1_all_52_cards_and_no_joker() -> None:
    assert due(new(4)).cards == STANDARD_DECK == tuple(range(52))


def test_THU_DECK_3_threes_and_the_ace_of_spades_always_stay() -> None:
    assert notation(REMOVAL_ORDER) == ["2C", "2D", "2H", "2S", "3C", "3D", "3H", "3S"]
    for seats in THULLA.seats:
        assert {*cards("3C 3D 3H 3S AS")} <= {*due(new(seats)).cards}


# The deal


def test_THU_DEAL_2_one_card_at_a_time_from_the_left_of_the_dealer() -> None:
    state, _ = new(4, first_dealer=1).apply(CardsShuffled(STANDARD_DECK))
    assert [cards_of_mask(held)[:3] for held in state.hands] == [(2, 6, 10), (3, 7, 11), (0, 4, 8), (1, 5, 9)]


def test_THU_DEAL_3_the_deal_as_it_is_written() -> None:
    state = new(2, start="random")
    assert due(state).draw_bounds == (2,)
    record = state.event_record(CardsShuffled(STANDARD_DECK, (1,)))
    assert json.loads(json.dumps(record)) == {
        "type": "deal",
        "hands": [notation(STANDARD_DECK[1::2]), notation(STANDARD_DECK[::2])],
        "starter": 1,
    }
    assert set(new(2).event_record(CardsShuffled(STANDARD_DECK))) == {"type", "hands"}


def test_THU_DEAL_3_a_deal_that_is_not_due_or_not_valid_is_refused() -> None:
    state = new(3)
    assert rule_against(state, CardsShuffled(STANDARD_DECK)) == "THU-DECK-2"
    assert rule_against(state, CardsShuffled((1, *range(1, 51)))) == "THU-DECK-2"
    assert rule_against(state, CardsShuffled(due(state).cards, (0,))) == "THU-START-3"
    assert rule_against(deal(state), CardsShuffled(due(state).cards)) == "THU-DEAL-3"
    with pytest.raises(IllegalAction):
        deal(state).event_record(CardsShuffled(due(state).cards))


# The start


@pytest.mark.parametrize("seed", range(5))
def test_THU_START_1_the_holder_of_the_ace_of_spades_leads(seed: int) -> None:
    state = deal(new(5), seed)
    assert "AS" in hand(state, state.queue[0])


def test_THU_START_2_the_first_play_of_every_game_is_the_ace_of_spades() -> None:
    state = deal(new(4, best_of=3, scoring="cards"))
    while state.match.round_number < 3:
        leader = state.queue[0]
        assert legal(state, leader) == {"AS"}
        other = next(value for value in hand(state, leader) if value != "AS")
        assert rule_against(state, SeatActed(leader, PLAYS[card(other)])) == "THU-START-2"
        while state.queue:
            state, _ = state.apply(SeatActed(state.queue[0], state.legal_actions(state.queue[0]).actions[0]))
        state = deal(state)


def test_THU_START_2_THU_D2_an_ace_of_spades_picked_up_is_an_ordinary_card() -> None:
    state = plays(position({0: "AS 2C", 1: "5H 6H", 2: "7S"}), "0:AS 1:5H")
    assert legal(state, 0) == {"AS", "2C", "5H"}


def test_THU_START_3_the_seat_that_was_drawn_leads_any_card() -> None:
    state = new(4, start="random")
    assert [to_act(deal(state, drawn=(seat,))) for seat in range(4)] == [0, 1, 2, 3]
    assert len(legal(deal(state, drawn=(2,)), 2)) == 13
    for drawn in ((), (4,), (-1,), (0, 0)):
        assert rule_against(state, CardsShuffled(STANDARD_DECK, drawn)) == "THU-START-3"


def test_THU_START_6_THU_D2_the_leader_of_the_first_trick_may_have_to_pick_it_up() -> None:
    order_of_deal = [
        card(text) for pair in zip(notation(range(26)), notation(range(26, 52)), strict=True) for text in pair
    ]
    state, _ = new(2).apply(CardsShuffled(tuple(order_of_deal)))
    state = plays(state, "0:AS 1:2C")
    assert {"AS", "2C"} < hand(state, 0)
    assert to_act(state) == 0


# Playing


def test_THU_PLAY_1_the_holders_play_clockwise_one_card_each() -> None:
    state = position({0: "2H 3C", 2: "3H 4C", 3: "4H 5C"}, leader=2, out=(1,))
    for seat, line in ((2, "2:3H"), (3, "3:4H"), (0, "0:2H")):
        assert state.awaiting == SeatsToAct((seat,))
        for other in {0, 1, 2, 3, -1, 4} - {seat}:
            assert not state.legal_actions(other).actions
            assert rule_against(state, SeatActed(other, PLAYS[card("3C")])) == "THU-PLAY-1"
        state = plays(state, line)
    assert to_act(state) == 3


def test_THU_D10_who_is_out_is_left_out_without_an_action() -> None:
    state = plays(position({0: "9H 2S", 1: "TH", 2: "3H 4D"}), "0:9H 1:TH 2:3H")
    assert state.awaiting == SeatsToAct((2,))
    assert to_act(plays(state, "2:4D")) is None


# Clean tricks and cuts


def test_THU_CLEAN_1_THU_D8_the_highest_card_wins_wherever_it_lies() -> None:
    hands = {0: "AH 2C", 1: "3H 3C", 2: "KH 4C"}
    assert to_act(plays(position(hands), "0:AH 1:3H 2:KH")) == 0
    assert to_act(plays(position(hands, leader=1), "1:3H 2:KH 0:AH")) == 0
    assert to_act(plays(position(hands, leader=2), "2:KH 0:AH 1:3H")) == 0


# Going out and leading


def test_THU_OUT_1_a_seat_is_out_in_the_instant_of_its_last_card() -> None:
    state, facts = plays_with_facts(position({0: "5H 2C", 1: "QH", 2: "9H KD"}), "0:5H 1:QH")
    assert facts[-2:-1] == (SeatOut(1, 1),)
    assert state.out == (1,)
    assert to_act(plays(state, "2:9H")) == 2


def test_THU_OUT_2_after_the_trick_seats_go_out_in_the_order_of_play() -> None:
    hands = {0: "5H", 1: "QH", 2: "9H", 3: "2H KD KS"}
    state, facts = plays_with_facts(position(hands, leader=2, last_card=AFTER_TRICK), "2:9H 3:2H 0:5H")
    assert state.out == ()
    state, facts = plays_with_facts(state, "1:QH")
    assert [fact for fact in facts if isinstance(fact, SeatOut)] == [SeatOut(2, 1), SeatOut(0, 2), SeatOut(1, 3)]
    assert order(state) == [2, 0, 1, 3]


# The end


# The stall


def test_THU_STALL_1_the_counter_counts_pick_ups_in_which_nobody_goes_out() -> None:
    hands = {0: "5H 6H 2D", 1: "3C 4C", 2: "8H 9H TH"}
    state = plays(position(hands, stalled=7), "0:5H 1:3C")
    assert state.stalled == 8
    assert plays(state, "0:2D 1:4C").stalled == 0  # seat 1 is out
    clean = plays(position({0: "5H 6H", 1: "7H 8H"}, stalled=7), "0:5H 1:7H")
    assert clean.stalled == 0
    wasted = plays(position({0: "5H", 1: "3C 4C", 2: "8H 9H"}, stalled=7), "0:5H 1:3C")
    assert wasted.stalled == 0


def test_THU_STALL_1_a_seat_that_went_out_early_in_the_trick_is_progress() -> None:
    state = plays(position({0: "5H 6H", 1: "QH", 2: "3C 4C", 3: "3H"}, stalled=7), "0:5H 1:QH 2:3C")
    assert (state.out, hand(state, 0), state.stalled) == ((1,), {"5H", "6H", "QH", "3C"}, 0)


def test_THU_STALL_2_fewer_cards_then_fewer_points_then_distance() -> None:
    fewer = plays(position({0: "5H 9C", 1: "2S 3S 4S", 2: "AC"}, stall_limit=1), "0:5H 1:2S")
    assert order(fewer) == [2, 1, 0]
    points = plays(position({0: "5H", 1: "2S 3S", 2: "AC KC", 3: "2D 4D"}, leader=1, stall_limit=1), "1:2S 2:AC")
    assert order(points) == [0, 2, 3, 1]
    hands = {0: "9C 2H", 1: "5H 2D 9D", 2: "2S 5S", 3: "3C 8D"}
    equal = plays(position(hands, leader=1, stall_limit=1, pickup="cutter"), "1:5H 2:5S")
    assert order(equal) == [1, 0, 3, 2]


def test_THU_STALL_3_THU_D20_each_holder_pays_for_his_own_cards() -> None:
    hands: dict[Seat, str] = {0: "5H KD", 1: "2S AS", 2: "QH"}
    paid = {
        name: plays(position(hands, scoring=name, stall_limit=1), "0:5H 1:2S").scores
        for name in ("none", "cards", "cards_each_out", "points")
    }
    assert paid == {"none": (0, 0, 1), "cards": (3, 1, 1), "cards_each_out": (3, 1, 1), "points": (17, 11, 10)}


# What is public


def test_THU_VIS_2_the_trick_is_shown_in_the_order_of_play() -> None:
    view = plays(position({0: "5H 2C", 1: "QH 2D", 2: "9H KD"}, leader=2), "2:9H 0:5H").view(1)
    trick = next(pile for pile in view.piles if pile.name == "trick")
    assert trick.cards == (PileCard(card("9H"), 2), PileCard(card("5H"), 0))


def test_THU_VIS_1_THU_VIS_3_a_seat_that_is_out_sees_what_a_spectator_sees() -> None:
    state = plays(position({0: "5H 2C", 1: "QH", 2: "9H KD", 3: "3H 4H"}), "0:5H 1:QH")
    assert state.view(1) == state.view(30)
    assert not any(seat.cards for seat in state.view(1).seats)


def test_the_marks_of_a_table() -> None:
    options: dict[str, Any] = {"pickup": "cutter", "scoring": "cards_each_out", "best_of": 3}
    state = position({0: "5H 6H", 1: "3C", 2: "2S", 3: "3S 8S"}, stalled=3, **options)
    state = plays(state, "0:5H 1:3C")
    assert [(mark.name, mark.seat, mark.value) for mark in state.view(0).marks] == [
        ("pickup", None, "cutter"),
        ("points", 0, "1"),
        ("points", 2, "1"),
        ("points", 3, "2"),
        ("starter", None, "0"),
    ]
    state = plays(position({0: "5H 6H", 1: "3C 4C"}, stalled=3), "0:5H 1:3C")
    assert [mark[:3] for mark in state.view(0).marks] == [("stall", None, "4"), ("starter", None, "0")]


def test_THU_VIS_4_hands_are_open_from_the_end_of_a_game_to_the_next_deal() -> None:
    state = plays(position({0: "5H", 1: "QH AD"}, best_of=3), "0:5H")
    for viewer in (0, 1, 30):
        assert notation(state.view(viewer).seats[1].cards) == ["AD", "QH"]
    assert not any(seat.cards for seat in deal(state).view(30).seats)
