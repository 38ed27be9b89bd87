"""The rules of 101 by their ids, apart from the worked positions."""

from random import Random
from typing import Any

import pytest

from croupier.games.actions import Action, Bid, KeepBid, Pass, Play
from croupier.games.cards import STANDARD_DECK, card, cards, notation
from croupier.games.facts import SPECTATOR, CardsMoved, Count, HandRevealed, Mark, MarkChanged, RoundEnded, SeatOut
from croupier.games.interface import CardsShuffled, ShuffleNeeded
from croupier.games.one_oh_one import OneOhOneState, scoring
from tests.games import dispatch
from tests.games.comparison import rule_against
from tests.games.fold import facts_for
from tests.games.positions import acts, acts_with_facts, deal, due, ended, hand, legal, may, pile, refusal, to_act
from tests.games.positions_one_oh_one import ONE_OH_ONE, new, position, stock
from tests.games.walk import sample_options, walk

DECK_36 = tuple(value for value in STANDARD_DECK if notation([value])[0][0] not in "2345")


# The deal


def test_101_DEAL_1_101_DEAL_2_101_DEAL_5_101_D2_the_deal_as_it_is_written() -> None:
    for deck in (36, 52, 104):
        state = new(4, deck=deck, first_move_any=False)
        shuffled = Random(deck).sample(due(state).cards, deck)
        record = dispatch.event_record(state, CardsShuffled(tuple(shuffled), (2,)))
        assert list(record) == ["type", "starter", "hands", "stock"]
        assert (record["type"], record["starter"], record["stock"]) == ("deal", 2, notation(shuffled[20:]))
        assert record["hands"] == [notation(shuffled[place:20:4]) for place in (2, 3, 0, 1)]
        after, _ = dispatch.apply(state, CardsShuffled(tuple(shuffled), (2,)))
        assert [hand(after, seat) for seat in range(4)] == [set(held) for held in record["hands"]]
        assert legal(after) == record["hands"][2][-1]


def test_101_DEAL_1_between_rounds_nobody_acts() -> None:
    for state in (new(2), acts(position("9C | KC", "TC"), "9C")):
        refused = {refusal(state, text, seat) for seat, text in ((0, "9C"), (1, "draw"), (2, "draw"), (-1, "KC"))}
        assert (state.phase, refused) == ("deal", {"101-DEAL-1"})


def test_101_DEAL_3_the_first_deal_draws_a_seat() -> None:
    assert due(new(3)).draw_bounds == (3,)
    assert [to_act(dispatch.apply(new(3), CardsShuffled(DECK_36, (seat,)))[0]) for seat in range(3)] == [0, 1, 2]


def test_101_DEAL_3_101_DEAL_4_101_D16_the_winner_begins_the_next_round() -> None:
    state = acts(position("KH 9H | 9C | AC", "TC", turn=1), "9C")
    assert due(state) == ShuffleNeeded(DECK_36, (), 2, 1)
    after = deal(state)
    assert (to_act(after), dispatch.view(after, 0).dealer, pile(after, "pile")) == (1, None, None)


def test_101_LEAD_2_either_twin_counts_as_the_last() -> None:
    order = list(due(new(2, deck=104)).cards)
    for place in (0, 8):
        at = order.index(card("9C"), place)
        order[place], order[at] = order[at], order[place]
    state, _ = dispatch.apply(new(2, deck=104, first_move_any=False), CardsShuffled(tuple(order), (0,)))
    assert (legal(state), hand(acts(state, "9C"), 0)) == ("9C", hand(state, 0))


# Refusals


FIRST = position("7C QH 6D 8D KS AS | 9C 9D | 9C 9D", "", "TD JD JH KH AH", may_draw_instead=True)
COVERING = position("8C 6D JC KS | 9D", "TC 6C", covers=True, may_draw_instead=True)
PLAIN = position("8C QD 9D | 8D", "9C", "TC")
ORDERED = position("QS 8D | QD 8H 9S KC | AS", "TC")


@pytest.mark.parametrize(
    ("state", "line", "seat", "text", "rule"),
    [
        *((PLAIN, "", 0, odd, "101-PLAY-1") for odd in (Pass(), Bid(3), KeepBid(), Play(-1), Play(53), Play(1 << 70))),
        pytest.param(PLAIN, "", 0, "8D", "101-PLAY-1", id="101-PLAY-1 a card of somebody else"),
        pytest.param(PLAIN, "", 0, "draw", "101-DRAW-1", id="101-DRAW-1"),
        pytest.param(PLAIN, "", 1, "draw", "101-PLAY-2", id="101-PLAY-2"),
        pytest.param(PLAIN, "", 2, "8D", "101-PLAY-2", id="101-PLAY-2 no such seat"),
        pytest.param(PLAIN, "", 0, Play(card("QD")), "101-QUEEN-2", id="101-QUEEN-2 101-D18"),
        pytest.param(PLAIN, "", 0, Play(card("QD"), 4), "101-QUEEN-2", id="101-QUEEN-2 no such suit"),
        pytest.param(PLAIN, "", 0, Play(card("8C"), 0), "101-QUEEN-2", id="101-QUEEN-2 no queen"),
        pytest.param(ORDERED, "QS/H", 1, "9S", "101-QUEEN-3", id="101-QUEEN-3 101-D18"),
        pytest.param(ORDERED, "QS/H 8H", 2, "AS", "101-PLAY-1", id="101-QUEEN-3 the order is over"),
        pytest.param(FIRST, "", 0, "draw", "101-LEAD-3", id="101-LEAD-3"),
        pytest.param(COVERING, "", 0, "6D", "101-SIX-2", id="101-SIX-2"),
        pytest.param(COVERING, "", 0, "draw", "101-SIX-4", id="101-SIX-4"),
        pytest.param(position("8C KH | 6D", "9C", may_draw_instead=True), "", 0, "draw", "101-DRAW-3", id="101-DRAW-3"),
    ],
)
def test_refusals(state: OneOhOneState, line: str, seat: int, text: str | Action, rule: str) -> None:
    assert refusal(acts(state, line), text, seat) == rule


@pytest.mark.parametrize("seats", ONE_OH_ONE.seats)
def test_101_DRAW_5_nobody_blocks_the_game(seats: int, seed: int) -> None:
    random = Random(seed)
    options = sample_options(ONE_OH_ONE, seats, random) | {"deck": 36}
    idle = 0
    for step in walk(ONE_OH_ONE, ONE_OH_ONE.new(seats, options), random):
        moved = any(isinstance(fact, CardsMoved) for fact in step.facts)
        idle = 0 if moved else idle + 1
        assert idle < seats


# Effects


def test_101_LEAD_3_the_first_card_has_its_effect() -> None:
    assert (hand(acts(FIRST, "7C"), 1), to_act(acts(FIRST, "7C"))) == ({"9C", "9D", "TD", "JD"}, 2)
    assert (len(hand(acts(FIRST, "KS"), 1)), to_act(acts(FIRST, "AS"))) == (7, 2)
    assert (legal(acts(FIRST, "6D")), legal(acts(FIRST, "QH/D"))) == ("8D QH", "9D draw")


def test_101_SIX_2_101_SIX_6_the_twin_and_a_six_before_the_last_card_are_covered_in_turn() -> None:
    state = acts(position("6C 6C 8C KH | 9C", "TC", deck=104, finish_on_six=True), "6C")
    assert (legal(state), legal(acts(state, "6C"))) == ("6C 8C", "8C")
    assert legal(acts(position("6C KH | 9C 9D", "TC", "TD JD", finish_on_six=True), "6C")) == "draw"


def test_101_SIX_4_101_D8a_nothing_is_owed_after_the_draw() -> None:
    state = acts(position("8D 6S | KH AD", "TC 6C", "JC JD", covers=True), "draw")
    assert (legal(state), may(acts(state, "draw"))) == ("draw", {"JC", "6S"})


@pytest.mark.parametrize(
    ("line", "marks"),
    [
        pytest.param("7C", {("penalty", 1, "seven")}, id="101-VIS-1 a penalty"),
        pytest.param("7C draw", set(), id="101-VIS-1 until the next card or draw"),
        pytest.param("6C", {("cover", 0, "C")}, id="101-VIS-1 a cover that is owed"),
        pytest.param("QD/H", {("ordered_suit", None, "H")}, id="101-VIS-1 an order"),
        pytest.param("QD/H QS/S", {("ordered_suit", None, "S")}, id="101-VIS-1 another order"),
        pytest.param("QD/S QS/C 2:draw 0:8C", set(), id="101-VIS-1 an order that is over"),
    ],
)
def test_marks(line: str, marks: set[tuple[str, int | None, str]]) -> None:
    view = dispatch.view(acts(position("6C 7C 8C QD | QS 9C | 9D", "TC", "TD JD JH"), line), SPECTATOR)
    assert set(view.marks) == {("starter", None, "0")} | marks


# The stock


def test_101_STOCK_3_101_D11_the_table_shuffles_and_every_reshuffle_has_a_number() -> None:
    state, facts = acts_with_facts(position("8D KH | 6D 8H", "AC JC 9C", recycle="shuffle"), "draw")
    assert MarkChanged(Mark("to_take", 0, "1")) in facts
    assert (state.phase, due(state)) == ("reshuffle", ShuffleNeeded(cards("AC JC")[::-1], (), 1, 2))
    assert {refusal(state, "draw", seat) for seat in range(2)} == {"101-STOCK-3"}
    event = CardsShuffled(cards("JC AC"))
    assert dispatch.event_record(state, event) == {"type": "reshuffle", "stock": ["JC", "AC"]}
    state, facts = dispatch.apply(state, event)
    assert MarkChanged(Mark("to_take", 0, "")) in facts
    assert (hand(state, 0), stock(state), to_act(state)) == ({"8D", "KH", "JC"}, "AC", 1)
    again = acts(state._replace(stock=(), pile=position("|", "JS 9C").pile), "draw")
    assert due(again) == ShuffleNeeded(cards("JS"), (), 1, 3)


# The end of a round


def test_101_LAST_2_a_reshuffle_comes_before_the_end() -> None:
    state, facts = acts_with_facts(position("7C | 9D | 9H", "TH KC", "6D", recycle="shuffle"), "7C")
    assert (state.phase, dispatch.scores(state)) == ("reshuffle", (0, 0, 0))
    assert not [fact for fact in facts if isinstance(fact, RoundEnded | HandRevealed)]
    after, _ = dispatch.apply(state, CardsShuffled(cards("KC TH")))
    assert (after.phase, dispatch.scores(after)) == ("deal", (0, 9 + 6 + 4, 9))


def test_101_POINTS_1_101_POINTS_3_101_D15_what_each_card_costs() -> None:
    expected = {"J": 2, "Q": 3, "K": 4, "A": 11, "T": 10} | {str(number): number for number in range(2, 10)}
    for text in notation(STANDARD_DECK):
        other = "3D" if text == "3C" else "3C"
        assert scoring.hand_points(cards(f"{text} {other}")) == expected[text[0]] + 3
    queens = {"QC": 20, "QH": 40, "QC QC QH QH": 120, "QC JC": 5, "QC QH KS": 10}
    assert {left: scoring.hand_points(cards(left)) for left in queens} == queens


def test_101_SCORE_5_the_summary_of_a_round() -> None:
    hands, before = "QH | QC QS | AD | 9D KC", (10, 0, 90, 97)
    _, facts = acts_with_facts(position(hands, "TC", scores=before, exact_101_reset=True, floor_zero=True), "QH/S")
    found = dict(ended(facts).details)
    assert (found["last_card"], found["hand_3"], found["points"]) == ("QH", "KC 9D", "-40 40 11 13")
    assert (found["floored"], found["reset"], found["totals"], found["losers"]) == ("0", "2", "0 40 0 110", "3")
    assert ended(facts).headline == "finished with the queen of hearts"
    assert ended(facts).notes == (
        "first to go out, 40 off for a last queen, no score below 0",
        "2 cards left, nothing but queens",
        "1 card left, 101 became 0",
        "2 cards left, lost the game",
    )
    names = ("rounds_won", "queen_finishes", "caught_with_queens", "exact_101", "times_lost")
    assert ended(facts).counts == tuple(Count(name, seat) for name, seat in zip(names, (0, 0, 1, 2, 3), strict=True))


# The end of the game


@pytest.mark.parametrize(
    ("scores", "options", "rule"),
    [
        pytest.param((0, 95), {}, "101-END-2", id="101-END-2 a loser"),
        pytest.param((0, 0), {"max_rounds": 1}, "101-END-4", id="101-END-4 the last round"),
        pytest.param((0, 95), {"elimination": True}, "101-ELIM-1", id="101-ELIM-1 one is left"),
    ],
)
def test_after_the_end_nothing_is_played_or_dealt(scores: tuple[int, int], options: dict[str, Any], rule: str) -> None:
    state = acts(position("9C | AD", "TC", "TD TH", scores=scores, **options), "9C")
    for seat in (-1, 0, 1, 2):
        assert {refusal(state, text, seat) for text in ("AD", "draw", "pass")} == {rule}
    deck = state.options.deck
    assert {rule_against(state, CardsShuffled(*wrong)) for wrong in ((deck, ()), ((), ()), (deck, (0,)))} == {rule}


def test_101_ELIM_1_the_others_play_on() -> None:
    start = position("9C | KD 8C | KH | AD", "TC", scores=(0, 0, 99, 95), elimination=True)
    state, facts = acts_with_facts(start, "9C")
    assert [fact for fact in facts if isinstance(fact, SeatOut)] == [SeatOut(2, 3), SeatOut(3, 4)]
    state, facts = dispatch.apply(state, CardsShuffled(due(state).cards))
    assert [len(hand(state, seat)) for seat in range(4)] == [5, 5, 0, 0]
    assert [fact for fact in facts if isinstance(fact, SeatOut)] == [SeatOut(2, 3), SeatOut(3, 4)]
    seats = [(seat.is_out, seat.place, seat.score) for seat in dispatch.view(state, SPECTATOR).seats]
    assert seats == [(False, None, 0), (False, None, 12), (True, 3, 103), (True, 4, 106)]


# Visibility


def test_101_VIS_2_the_card_dealt_last_shows_in_nothing_but_the_starters_legal_actions() -> None:
    order = due(new(2, first_move_any=False)).cards
    other = (*order[:6], order[8], order[7], order[6], *order[9:])
    one, facts = dispatch.apply(new(2, first_move_any=False), CardsShuffled(order, (0,)))
    two, other_facts = dispatch.apply(new(2, first_move_any=False), CardsShuffled(other, (0,)))
    assert dispatch.legal_actions(one, 0) != dispatch.legal_actions(two, 0)
    for viewer in (0, 1, SPECTATOR):
        assert dispatch.view(one, viewer) == dispatch.view(two, viewer)
        assert facts_for(facts, viewer) == facts_for(other_facts, viewer)


def test_101_VIS_3_101_VIS_4_all_hands_are_laid_open_and_the_stock_is_never_shown() -> None:
    state, facts = acts_with_facts(position("9C | KD 8C | AD", "TC", "TD JD"), "9C")
    assert [fact for fact in facts if isinstance(fact, HandRevealed)] == [
        HandRevealed(1, cards("8C KD")),
        HandRevealed(2, cards("AD")),
    ]
    assert [seat.cards for seat in dispatch.view(state, SPECTATOR).seats] == [(), cards("8C KD"), cards("AD")]
    assert {pile(state, "stock", viewer) for viewer in (0, 1, 2, SPECTATOR)} == {(2, "")}
    assert dispatch.view(deal(state), SPECTATOR).seats[1].cards == ()
