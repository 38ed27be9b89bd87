"""The rules of 101 from the deal to the stock, one by one."""

import json
from random import Random
from typing import Any

import pytest

from croupier.games.actions import Bid, Keep, Pass, Play
from croupier.games.cards import STANDARD_DECK, card, cards, notation
from croupier.games.facts import CardsMoved, Marked, MoveReason, TurnChanged
from croupier.games.hands import cards_in
from croupier.games.interface import (
    CardsShuffled,
    IllegalAction,
    ProposalAgreed,
    SeatActed,
    ShuffleNeeded,
)
from tests.games.positions_one_oh_one import (
    ONE_OH_ONE,
    action,
    acts,
    acts_with_facts,
    deal,
    due,
    hand,
    legal,
    new,
    pile,
    position,
    refusal,
    rule_of,
    stock,
    to_act,
)
from tests.games.walk import sample_options, walk

DECK_36 = tuple(value for value in STANDARD_DECK if notation([value])[0][0] not in "2345")


# Seats, options, the deck


# The deal


def test_101_DEAL_1_the_deal_as_it_is_written() -> None:
    state = new(2)
    shuffled = CardsShuffled(DECK_36, (1,))
    record = json.loads(json.dumps(state.event_record(shuffled)))
    assert list(record) == ["type", "starter", "hands", "stock"]
    assert (record["type"], record["starter"]) == ("deal", 1)
    assert record["hands"] == [["7C", "9C", "JC", "KC", "6D"], ["6C", "8C", "TC", "QC", "AC"]]
    assert record["stock"] == notation(DECK_36[10:])
    after, _ = state.apply(shuffled)
    assert (pile(after), stock(after).split()) == ("", record["stock"])
    assert refusal(after, shuffled).rule == "101-DEAL-1"
    assert "in progress" in str(refusal(after, shuffled))


def test_101_DEAL_1_between_rounds_nobody_acts() -> None:
    between = acts(position(["9C", "KC"], "TC"), "0:9C")
    for state in (new(2), between):
        assert state.phase == "deal"
        for seat, said in ((0, "9C"), (1, "draw"), (2, "draw"), (-1, "KC")):
            refused = refusal(state, SeatActed(seat, action(said)))
            assert (refused.rule, str(refused)) == ("101-DEAL-1", "nobody can act before the next deal")


@pytest.mark.parametrize("deck", [36, 52, 104])
def test_101_DEAL_2_101_DEAL_5_101_D2_five_cards_each_in_the_order_in_which_they_came(deck: int, seed: int) -> None:
    state = new(4, deck=deck, first_move_any=False)
    shuffled = Random(seed).sample(due(state).cards, deck)
    event = CardsShuffled(tuple(shuffled), (2,))
    record = state.event_record(event)
    rounds = [notation(shuffled[at : at + 4]) for at in range(0, 20, 4)]
    assert record["hands"] == [[turn[place] for turn in rounds] for place in (2, 3, 0, 1)]
    assert record["stock"] == notation(shuffled[20:])
    after, _ = state.apply(event)
    assert [cards_in(held) for held in after.hands] == [tuple(sorted(cards(" ".join(h)))) for h in record["hands"]]
    assert legal(after, 2) == record["hands"][2][-1]


def test_101_DEAL_2_those_who_dropped_out_get_no_cards() -> None:
    state = acts(position(["9C", "KC", "AC"], "TC", scores=(0, 0, 95), elimination=True), "0:9C")
    assert state.event_record(CardsShuffled(DECK_36))["hands"] == [
        ["6C", "8C", "TC", "QC", "AC"],
        ["7C", "9C", "JC", "KC", "6D"],
        [],
    ]


@pytest.mark.parametrize("drawn", [(), (3,), (-1,), (0, 0)])
def test_101_DEAL_3_the_first_deal_draws_a_seat(drawn: tuple[int, ...]) -> None:
    assert due(new(3)).draw_bounds == (3,)
    assert refusal(new(3), CardsShuffled(DECK_36, drawn)).rule == "101-DEAL-3"
    assert [to_act(deal(new(3), starter=seat)) for seat in range(3)] == [0, 1, 2]


def test_101_DEAL_3_101_DEAL_4_101_D16_the_winner_begins_the_next_round() -> None:
    state = acts(position(["KH 9H", "9C", "AC"], "TC", turn=1), "1:9C")
    assert due(state) == ShuffleNeeded(DECK_36, (), 2, 1)
    assert refusal(state, CardsShuffled(DECK_36, (0,))).rule == "101-DEAL-3"
    after = deal(state)
    assert to_act(after) == 1
    assert after.view(0).dealer is None
    assert pile(after) == ""


# The first card


def test_101_LEAD_2_101_D4_only_the_card_that_was_dealt_last() -> None:
    state, _ = new(2, first_move_any=False).apply(CardsShuffled(DECK_36, (1,)))
    assert legal(state, 1) == "AC"
    assert rule_of(state, 1, "6C") == "101-LEAD-2"
    assert rule_of(state, 1, "7C") == "101-PLAY-1"
    after = acts(state, "1:AC")
    assert to_act(after) == 1
    assert legal(after, 1) == "6C 8C TC QC"


def test_101_LEAD_2_either_twin_counts_as_the_last() -> None:
    order = list(due(new(2, deck=104)).cards)
    for place in (0, 8):
        at = order.index(card("9C"), place)
        order[place], order[at] = order[at], order[place]
    state, _ = new(2, deck=104, first_move_any=False).apply(CardsShuffled(tuple(order), (0,)))
    assert legal(state, 0) == "9C"
    after = acts(state, "0:9C")
    assert cards_in(after.hands[0]).count(card("9C")) == 1


def test_101_LEAD_3_the_starter_cannot_draw_and_his_card_has_its_effect() -> None:
    state = position(["7C QH 6D 8D KS AS", "9C 9D", "9C 9D"], "", "TD JD JH KH AH", may_draw_instead=True)
    assert rule_of(state, 0, "draw") == "101-LEAD-3"
    assert to_act(acts(state, "0:7C")) == 2
    assert hand(acts(state, "0:7C"), 1) == {"9C", "9D", "TD", "JD"}
    assert len(hand(acts(state, "0:KS"), 1)) == 7
    assert to_act(acts(state, "0:AS")) == 2
    assert legal(acts(state, "0:6D"), 0) == "8D QH"
    assert legal(acts(state, "0:QH/D"), 1) == "9D draw"


# Following, drawing


@pytest.mark.parametrize(
    "odd",
    [Pass(), Bid(3), Keep(), Play(-1), Play(52), Play(53), Play(1 << 70), Play(card("8D")), Play(card("8D"), 1)],
    ids=repr,
)
def test_101_PLAY_1_other_verbs_and_cards_are_refused(odd: Any) -> None:
    state = position(["8C 9D", "8D"], "9C")
    assert refusal(state, SeatActed(0, odd)).rule == "101-PLAY-1"


def test_101_PLAY_1_nothing_can_be_proposed() -> None:
    for state in (new(2), position(["8C 9D", "8D"], "9C")):
        proposal = ProposalAgreed("redeal")
        refused = refusal(state, proposal)
        assert (refused.rule, "proposed" in str(refused)) == ("101-PLAY-1", True)
        with pytest.raises(IllegalAction, match="proposed") as unwritten:
            state.event_record(proposal)
        assert unwritten.value.rule == "101-PLAY-1"


def test_101_PLAY_2_the_next_player_is_to_act() -> None:
    state = position(["8C 9D", "8D 8H", "8S 9S"], "9C")
    after = acts(state, "0:8C")
    assert (to_act(after), to_act(acts(after, "1:8H")), to_act(acts(after, "1:8H 2:8S"))) == (1, 2, 0)
    for seat in (-1, 0, 2, 3):
        assert rule_of(after, seat, "8D") == rule_of(after, seat, "draw") == "101-PLAY-2"
        assert not after.legal_actions(seat).actions


def test_101_DRAW_2_101_D7_one_card_and_the_turn_passes() -> None:
    state, facts = acts_with_facts(position(["8D KH", "6D", "6H"], "9C", "TC JC"), "0:draw")
    assert (hand(state, 0), stock(state), to_act(state)) == ({"8D", "KH", "TC"}, "JC", 1)
    assert facts == (
        CardsMoved("stock", 0, cards("TC"), 1, MoveReason.DRAW, 1 << 0),
        CardsMoved("stock", 0, (), 1, MoveReason.DRAW, ~(1 << 0)),
        TurnChanged("play", (1,)),
    )


def test_101_DRAW_3_101_D7_drawing_instead() -> None:
    state = position(["8C KH", "6D"], "JC 9C", "TC", may_draw_instead=True)
    assert legal(state, 0) == "8C draw"
    assert hand(acts(state, "0:draw"), 0) == {"8C", "KH", "TC"}
    assert legal(state._replace(stock=()), 0) == "8C draw"
    bare = state._replace(stock=(), pile=state.pile[-1:])
    assert legal(bare, 0) == "8C"
    assert rule_of(bare, 0, "draw") == "101-DRAW-3"
    first = position(["8C KH", "6D"], "", "TC", may_draw_instead=True)
    assert legal(first, 0) == "8C KH"
    six = position(["8C KH", "6D"], "9C 6C", "TC", covers=True, may_draw_instead=True)
    assert (legal(six, 0), rule_of(six, 0, "draw")) == ("8C", "101-SIX-4")


@pytest.mark.parametrize("seats", ONE_OH_ONE.seats)
def test_101_DRAW_5_nobody_blocks_the_game(seats: int, seed: int) -> None:
    random = Random(seed)
    options = sample_options(ONE_OH_ONE, seats, random) | {"deck": 36}
    idle = 0
    for step in walk(ONE_OH_ONE, ONE_OH_ONE.new(seats, options), random):
        moved = any(isinstance(fact, CardsMoved) for fact in step.facts)
        idle = 0 if moved else idle + 1
        assert idle < seats


# Queens


def test_101_QUEEN_2_101_D18_a_suit_belongs_to_queens_and_to_nothing_else() -> None:
    state = position(["QD 8D 9C", "6D"], "9C")
    assert [play for play in state.legal_actions(0).actions if isinstance(play, Play) and play.suit is not None] == [
        Play(card("QD"), suit) for suit in range(4)
    ]
    for odd in (Play(card("QD")), Play(card("QD"), 4), Play(card("QD"), -1), Play(card("9C"), 0)):
        assert refusal(state, SeatActed(0, odd)).rule == "101-QUEEN-2"
    last = position(["QD", "6D"], "9C")
    assert refusal(last, SeatActed(0, Play(card("QD")))).rule == "101-QUEEN-2"


def test_101_QUEEN_3_101_D18_the_ordered_suit_only() -> None:
    state = position(["QS 8D", "QD 8H 9S KC", "AS"], "TC")
    after, facts = acts_with_facts(state, "0:QS/H")
    assert Marked("ordered_suit", None, "H") in facts
    assert legal(after, 1) == "QD 8H"
    assert rule_of(after, 1, "9S") == "101-QUEEN-3"
    again, facts = acts_with_facts(after, "1:QD/H")
    assert not [fact for fact in facts if isinstance(fact, Marked)]
    assert {(mark.name, mark.value) for mark in again.view(0).marks} >= {("ordered_suit", "H")}
    _, facts = acts_with_facts(after, "1:QD/S")
    assert [fact for fact in facts if isinstance(fact, Marked)] == [Marked("ordered_suit", None, "S")]
    other, facts = acts_with_facts(after, "1:8H")
    assert Marked("ordered_suit", None, "") in facts
    assert rule_of(other, 2, "AS") == "101-PLAY-1"


# Sixes


def test_101_SIX_1_101_D1_who_played_it_covers_it() -> None:
    state, facts = acts_with_facts(position(["6C 8C KH", "9C", "9D"], "TC"), "0:6C")
    assert (to_act(state), legal(state, 0)) == (0, "8C")
    assert facts[1:] == (Marked("cover", 0, "C"), TurnChanged("play", (0,)))
    after, facts = acts_with_facts(state, "0:8C")
    assert Marked("cover", 0, "") in facts
    assert to_act(after) == 1


def test_101_SIX_2_101_D8_the_suit_covers_another_six_does_not() -> None:
    state = position(["8C 6D JC KS", "9D"], "TC 6C", covers=True)
    assert legal(state, 0) == "8C JC"
    assert rule_of(state, 0, "6D") == rule_of(state, 0, "KS") == "101-SIX-2"


def test_101_SIX_2_the_twin_covers_and_is_covered_in_turn() -> None:
    state = acts(position(["6C 6C 8C KH", "9C"], "TC", deck=104), "0:6C")
    assert legal(state, 0) == "6C 8C"
    assert legal(acts(state, "0:6C"), 0) == "8C"


def test_101_SIX_4_101_D8a_no_cover_one_card_and_no_debt() -> None:
    state = position(["8D KS", "KH AD", "6H"], "TC 6C", "JD JC", covers=True)
    assert legal(state, 0) == "draw"
    after, facts = acts_with_facts(state, "0:draw")
    assert Marked("cover", 0, "") in facts
    assert (hand(after, 0), legal(after, 1)) == ({"8D", "KS", "JD"}, "draw")
    after = acts(after, "1:draw")
    assert (hand(after, 1), legal(after, 2)) == ({"KH", "AD", "JC"}, "6H")
    drawn = position(["8D 6S", "KH AD"], "TC 6C", "JC JD", covers=True)
    assert legal(acts(drawn, "0:draw 1:draw"), 0) == "JC 6S"


def test_101_SIX_6_but_a_six_before_the_last_card_is_covered() -> None:
    state = acts(position(["6C KH", "9C 9D"], "TC", "TD JD", finish_on_six=True), "0:6C")
    assert (to_act(state), legal(state, 0)) == (0, "draw")


# Seven, ace, king of spades


def test_101_SEVEN_1_two_cards_and_a_turn() -> None:
    state, facts = acts_with_facts(position(["7C 8D", "9C", "9D"], "TC", "TD JD JH"), "0:7C")
    assert (hand(state, 1), to_act(state), stock(state)) == ({"9C", "TD", "JD"}, 2, "JH")
    assert facts == (
        CardsMoved(0, "pile", cards("7C"), 1, MoveReason.PLAY),
        Marked("penalty", 1, "seven"),
        CardsMoved("stock", 1, cards("TD JD"), 2, MoveReason.PENALTY, 1 << 1),
        CardsMoved("stock", 1, (), 2, MoveReason.PENALTY, ~(1 << 1)),
        TurnChanged("play", (2,)),
    )
    _, facts = acts_with_facts(state, "2:draw")
    assert facts[0] == Marked("penalty", 1, "")


def test_101_ACE_1_a_turn_and_no_card() -> None:
    state, facts = acts_with_facts(position(["AC 8D", "9C", "9D"], "TC", "TD"), "0:AC")
    assert (hand(state, 1), to_act(state)) == ({"9C"}, 2)
    assert facts[1:] == (Marked("penalty", 1, "ace"), TurnChanged("play", (2,)))


@pytest.mark.parametrize("hit", ["7S", "KS", "AS"])
def test_101_SKIP_1_101_D13_between_two_it_is_the_same_players_turn(hit: str) -> None:
    state = acts(position([f"{hit} 8D 9S", "9C"], "TS", "TD JD JH 8C 8H 8S"), f"0:{hit}")
    assert (to_act(state), legal(state, 0)) == (0, "9S")
    alone = acts(position([f"{hit} 8D", "9C"], "TS", "TD JD JH 8C 8H 8S"), f"0:{hit}")
    assert legal(alone, 0) == "draw"


def test_101_SKIP_1_seats_that_dropped_out_are_passed_over() -> None:
    state = position(["7C 8D", "", "9D", ""], "TC", "TD JD", dropped=((1, 3),), elimination=True)
    after = acts(state, "0:7C")
    assert (hand(after, 2), to_act(after)) == ({"9D", "TD", "JD"}, 0)
