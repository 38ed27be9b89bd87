"""The worked positions of the rules page, THU-EX-1 to THU-EX-20."""

from typing import Any

import pytest

from croupier.games.actions import PLAYS, Action, Pass
from croupier.games.cards import STANDARD_DECK, card, notation
from croupier.games.facts import Seat
from croupier.games.interface import CardsShuffled, IllegalAction, SeatActed, ShuffleNeeded, resolve_options
from croupier.games.thulla import ThullaState, scoring
from tests.games.positions_thulla import THULLA, hand, legal, order, plays, position, to_act


def scores(hands: dict[Seat, str], line: str, **options: Any) -> dict[str, list[int]]:
    """The scores of the same line with each scoring."""
    names = ("cards", "points", "cards_each_out")
    return {name: list(plays(position(hands, scoring=name, **options), line).scores) for name in names}


def dealt(seats: int, hands: dict[Seat, str], **options: Any) -> ThullaState:
    """A fresh deal by seat 0 that gives these seats these cards, and the rest somewhere."""
    state = THULLA.new(seats, resolve_options(THULLA, seats, options))
    assert isinstance(state.awaiting, ShuffleNeeded)
    rest = [value for value in state.awaiting.cards if notation([value])[0] not in " ".join(hands.values())]
    lying = [0] * len(state.awaiting.cards)
    for at in range(len(lying)):
        given = hands.get((1 + at) % seats, "").split()
        turn = at // seats
        lying[at] = card(given[turn]) if turn < len(given) else rest.pop()
    return state.apply(CardsShuffled(tuple(lying)))[0]


@pytest.mark.parametrize(
    ("seats", "removed", "each"), [(2, "", 26), (3, "2C", 17), (5, "2C 2D", 10), (6, "2C 2D 2H 2S", 8)]
)
def test_THU_EX_1_THU_DECK_2_THU_D1_low_cards_leave_until_the_deal_is_equal(
    seats: int, removed: str, each: int
) -> None:
    state = THULLA.new(seats, resolve_options(THULLA, seats, {}))
    assert isinstance(state.awaiting, ShuffleNeeded)
    assert set(notation(STANDARD_DECK)) - set(notation(state.awaiting.cards)) == set(removed.split())
    after, _ = state.apply(CardsShuffled(state.awaiting.cards))
    assert [held.bit_count() for held in after.hands] == [each] * seats


def test_THU_EX_1_a_deal_for_three_with_the_two_of_clubs_is_refused() -> None:
    state = THULLA.new(3, resolve_options(THULLA, 3, {}))
    with pytest.raises(IllegalAction) as refusal:
        state.apply(CardsShuffled(STANDARD_DECK[:51]))
    assert refusal.value.rule == "THU-DECK-2"


def test_THU_EX_2_the_ace_of_spades_opens() -> None:
    state = dealt(4, {2: "AS KC", 3: "4S QS 2H 3H 4H 5H 6H 7H 8H 9H TH JH QH"})
    assert to_act(state) == 2
    assert legal(state, 2) == {"AS"}
    assert legal(plays(state, "2:AS"), 3) == {"4S", "QS"}


def test_THU_EX_2_the_first_trick_can_be_cut() -> None:
    state = plays(dealt(4, {2: "AS KC", 3: "2H 3H 4H 5H 6H 7H 8H 9H TH JH QH KH AH"}), "2:AS")
    assert len(legal(state, 3)) == 13
    state = plays(state, "3:9H")
    assert to_act(state) == 2
    assert {"AS", "9H"} < hand(state, 2)
    assert len(legal(state, 2)) == 14


def test_THU_EX_3_THU_CUT_2_THU_CUT_6_THU_D17_THU_LEAD_1_the_highest_card_of_the_led_suit_picks_up() -> None:
    hands = {0: "7H 2S", 1: "KH 3S", 2: "4D 4S"}
    state = plays(position(hands), "0:7H 1:KH 2:4D")
    assert hand(state, 1) == {"7H", "KH", "4D", "3S"}
    assert to_act(state) == 1
    state = plays(position(hands, pickup="cutter"), "0:7H 1:KH 2:4D")
    assert hand(state, 2) == {"7H", "KH", "4D", "4S"}
    assert to_act(state) == 2


def test_THU_EX_4_THU_CUT_1_a_cut_stops_the_trick_and_never_counts() -> None:
    state = position({0: "9C 2S", 1: "QC 3S", 2: "AH 4S", 3: "2C 5S", 4: "3C 6S"})
    state = plays(state, "0:9C 1:QC 2:AH")
    assert hand(state, 1) == {"9C", "QC", "AH", "3S"}
    assert to_act(state) == 1
    assert hand(state, 3) == {"2C", "5S"}


def test_THU_EX_5_THU_CLEAN_2_a_clean_trick_goes_to_the_waste() -> None:
    state = position({0: "TS 2H", 1: "8S 3H", 2: "JS 4H", 3: "2S 5H"}, leader=1)
    state = plays(state, "1:8S 2:JS 3:2S 0:TS")
    assert notation(laid.card for laid in state.waste[-4:]) == ["8S", "JS", "2S", "TS"]
    assert to_act(state) == 2


def test_THU_EX_6_THU_LEAD_2_THU_D5_the_next_holder_leads_for_a_winner_who_is_out() -> None:
    state = position({0: "KH", 1: "5H 6C", 2: "9H 3D 4D"})
    assert plays(state, "0:KH").out == (0,)
    assert to_act(plays(state, "0:KH 1:5H 2:9H")) == 1


def test_THU_EX_7_THU_CUT_3_THU_CUT_4_THU_D3_the_obligation_passes_a_seat_that_is_out() -> None:
    hands = {0: "5H 2C", 1: "KH", 2: "4D 7S"}
    state = plays(position(hands), "0:5H 1:KH 2:4D")
    assert state.out == (1,)
    assert hand(state, 0) == {"2C", "5H", "KH", "4D"}
    assert to_act(state) == 0
    state = plays(position(hands, last_card="safe_after_trick"), "0:5H 1:KH 2:4D")
    assert state.out == ()
    assert hand(state, 1) == {"5H", "KH", "4D"}
    assert to_act(state) == 1


def test_THU_EX_8_THU_CUT_5_THU_D4_a_trick_that_nobody_can_pick_up_goes_to_the_waste() -> None:
    hands = {0: "KH", 1: "4D 9C", 2: "3H 8S"}
    state = plays(position(hands), "0:KH 1:4D")
    assert notation(laid.card for laid in state.waste[-2:]) == ["KH", "4D"]
    assert to_act(state) == 1
    assert hand(state, 1) == {"9C"}
    assert hand(state, 2) == {"3H", "8S"}
    state = plays(position(hands, last_card="safe_after_trick"), "0:KH 1:4D")
    assert hand(state, 0) == {"KH", "4D"}
    assert to_act(state) == 0


def test_THU_EX_9_THU_END_2_the_last_card_ends_a_game_of_two() -> None:
    hands = {0: "9C", 1: "3C 4C KD"}
    assert order(plays(position(hands), "0:9C")) == [0, 1]
    assert scores(hands, "0:9C") == {"cards": [0, 3], "points": [0, 17], "cards_each_out": [0, 3]}
    state = plays(position(hands, last_card="safe_after_trick"), "0:9C")
    assert legal(state, 1) == {"3C", "4C"}
    assert order(plays(state, "1:3C")) == [0, 1]
    after_trick = scores(hands, "0:9C 1:3C", last_card="safe_after_trick")
    assert after_trick["cards"] == [0, 2]
    assert after_trick["points"] == [0, 14]


def test_THU_EX_10_a_cut_with_the_last_card() -> None:
    hands = {0: "9H QS AS", 1: "4D"}
    assert order(plays(position(hands), "0:9H 1:4D")) == [1, 0]
    assert scores(hands, "0:9H 1:4D") == {"cards": [2, 0], "points": [21, 0], "cards_each_out": [2, 0]}
    assert order(plays(position(hands, last_card="safe_after_trick"), "0:9H 1:4D")) == [1, 0]
    after_trick = scores(hands, "0:9H 1:4D", last_card="safe_after_trick")
    assert after_trick == {"cards": [4, 0], "points": [34, 0], "cards_each_out": [4, 0]}


def test_THU_EX_11_THU_END_3_THU_D7_the_last_two_cards() -> None:
    hands = {0: "9H", 1: "QH"}
    state = plays(position(hands, scoring="cards"), "0:9H")
    assert (order(state), state.scores) == ([0, 1], (0, 1))
    state = plays(position(hands, scoring="cards", last_card="safe_after_trick"), "0:9H 1:QH")
    assert (order(state), state.scores) == ([0, 1], (0, 0))
    state = plays(position({0: "QH", 1: "9H"}, last_card="safe_after_trick"), "0:QH 1:9H")
    assert order(state) == [1, 0]


def test_THU_EX_12_the_cutter_picks_up_unless_it_is_out() -> None:
    hands = {0: "5H 2C", 1: "4D", 2: "7S 8S"}
    state = plays(position(hands, pickup="cutter"), "0:5H 1:4D")
    assert state.out == (1,)
    assert notation(laid.card for laid in state.waste[-2:]) == ["5H", "4D"]
    assert to_act(state) == 2
    state = plays(position(hands, pickup="cutter", last_card="safe_after_trick"), "0:5H 1:4D")
    assert hand(state, 1) == {"5H", "4D"}
    assert to_act(state) == 1


def test_THU_EX_13_THU_STALL_2_THU_D11_a_stall_between_two() -> None:
    hands = {0: "5H 6H 7H", 1: "2S 3S"}
    state = plays(position(hands, pickup="cutter", stall_limit=2), "0:5H 1:2S")
    assert state.stalled == 1
    assert hand(state, 1) == {"2S", "3S", "5H"}
    state = plays(state, "1:3S 0:6H")
    assert state.stalled == 2
    assert (hand(state, 0), hand(state, 1)) == ({"3S", "6H", "7H"}, {"2S", "5H"})
    assert order(state) == [1, 0]
    assert state.match.reason == "stall"
    totals = scores(hands, "0:5H 1:2S 1:3S 0:6H", pickup="cutter", stall_limit=2)
    assert totals == {"cards": [3, 2], "points": [16, 7], "cards_each_out": [3, 2]}


def test_THU_EX_14_the_order_of_a_stall() -> None:
    state = position({0: "2H 9H", 2: "5C 6C", 3: "AC 2D"}, leader=2, out=(1,))
    assert (*state.out, *scoring.stall_order(state.hands, state.queue)) == (1, 0, 2, 3)


def test_THU_EX_15_each_going_out_costs() -> None:
    state = plays(position({0: "KH", 1: "5H 6C", 2: "9H 3D 4D"}, scoring="cards_each_out"), "0:KH")
    assert state.points == (0, 2, 3)
    state = plays(state, "1:5H 2:9H 1:6C")
    assert hand(state, 2) == {"3D", "4D"}
    assert (order(state), state.scores) == ([0, 1, 2], (0, 2, 5))


def test_THU_EX_16_THU_END_1_THU_D6_the_end_in_the_middle_of_a_trick() -> None:
    hands = {0: "9C", 1: "TC", 2: "3C 4C 5C"}
    state = plays(position(hands, scoring="cards"), "0:9C 1:TC")
    assert (order(state), state.scores) == ([0, 1, 2], (0, 0, 3))
    state = plays(position(hands, scoring="cards", last_card="safe_after_trick"), "0:9C 1:TC")
    assert to_act(state) == 2
    state = plays(state, "2:4C")
    assert (order(state), state.scores) == ([0, 1, 2], (0, 0, 2))


@pytest.mark.parametrize(
    ("name", "totals", "orders", "over", "ranking"),
    [
        ("none", (2, 0, 0), [(0, 1, 2), (0, 2, 1)], True, ((0,), (1, 2))),
        ("none", (1, 1, 1), [(0, 1, 2), (1, 2, 0), (2, 1, 0)], True, ((1,), (2,), (0,))),
        ("none", (1, 2, 0), [(0, 1, 2), (1, 0, 2), (1, 2, 0)], True, ((1,), (0,), (2,))),
        ("cards", (0, 3, 2), [(0, 1, 2), (0, 2, 1)], False, None),
        ("cards", (0, 7, 5), [(0, 1, 2), (0, 2, 1), (0, 1, 2)], True, ((0,), (2,), (1,))),
    ],
)
def test_THU_EX_17_matches(
    name: str, totals: tuple[int, ...], orders: list[tuple[int, ...]], over: bool, ranking: tuple[tuple[int, ...], ...]
) -> None:
    assert scoring.match_over(name, 3, tuple(orders), 3) == over
    if over:
        assert scoring.ranking(name, totals, tuple(orders)) == ranking


@pytest.mark.parametrize(("start", "leaders"), [("dealer", [3, 0, 1]), ("left_of_dealer", [0, 1, 2])])
def test_THU_EX_18_THU_DEAL_1_THU_D12_THU_START_4_THU_START_5_matches(start: str, leaders: list[Seat]) -> None:
    options: dict[str, Any] = {"best_of": 3, "first_dealer": 3, "start": start, "scoring": "cards"}
    state = THULLA.new(4, resolve_options(THULLA, 4, options))
    found = []
    while isinstance(due := state.awaiting, ShuffleNeeded):
        state, _ = state.apply(CardsShuffled(due.cards))
        found.append(to_act(state))
        while (seat := to_act(state)) is not None:
            state, _ = state.apply(SeatActed(seat, state.legal_actions(seat).actions[0]))
    assert found == leaders


def test_THU_EX_19_THU_PLAY_3_THU_PLAY_4_legal_cards() -> None:
    hands = {0: "9H 9S 2H 3H", 1: "5H KH 2C", 2: "2D 3D 4D"}
    assert legal(plays(position(hands), "0:9H"), 1) == {"5H", "KH"}
    assert legal(plays(position(hands), "0:9S"), 1) == {"5H", "KH", "2C"}
    assert legal(position(hands, leader=1), 1) == {"5H", "KH", "2C"}
    assert legal(plays(position({0: "9H 2H", 1: "2C", 2: "3C"}), "0:9H"), 1) == {"2C"}


def test_THU_EX_19_THU_PLAY_2_THU_D9_never_legal() -> None:
    state = plays(position({0: "9H", 1: "5H KH 2C", 2: "2D 3D 4D"}), "0:9H")
    refused: list[tuple[Seat, Action, str]] = [
        (1, PLAYS[card("AH")], "THU-PLAY-2"),
        (2, PLAYS[card("2D")], "THU-PLAY-1"),
        (1, Pass(), "THU-D9"),
    ]
    for seat, action, rule in [*refused, (0, PLAYS[card("9H")], "THU-PLAY-1")]:
        with pytest.raises(IllegalAction) as refusal:
            state.apply(SeatActed(seat, action))
        assert refusal.value.rule == rule


def test_THU_EX_20_an_endless_cycle_is_stopped() -> None:
    hands = {0: "2H 3H 4H", 1: "2C 3C 4C", 2: "2D 3D 4D"}
    line = "0:2H 1:2C 0:2C 1:3C 2:2D 1:2D 2:3D 0:2H 2:2H 0:3H 1:2C"
    after_first = plays(position(hands), "0:2H 1:2C")
    after_fourth = plays(position(hands), line)
    assert after_fourth.hands == after_first.hands
    assert (to_act(after_fourth), after_fourth.stalled) == (0, 4)
    assert hand(after_fourth, 0) == {"2C", "2H", "3H", "4H"}
    state = plays(position(hands, stall_limit=4, scoring="cards"), line)
    assert (order(state), state.scores) == ([1, 2, 0], (4, 2, 3))
