"""The rules of 101 by their ids, and the worked positions, 101-EX-1 to 101-EX-24, and tables of scores of the page."""

from random import Random
from typing import Any

import pytest

from croupier.conformance.fold import facts_for
from croupier.conformance.tables import sample_options
from croupier.conformance.walks import walk
from croupier.games.actions import Action, Bid, KeepBid, Pass, Play
from croupier.games.cards import STANDARD_DECK, card, cards, notation
from croupier.games.facts import (
    SPECTATOR,
    CardsMoved,
    Count,
    HandRevealed,
    Mark,
    MarkChanged,
    RoundEnded,
    Seat,
    SeatOut,
)
from croupier.games.interface import CardsShuffled, ShuffleNeeded
from croupier.games.one_oh_one.state import OneOhOneState
from croupier.games.values import (
    CardsValue,
    NumberValue,
    SeatsValue,
    SeatValue,
    SuitValue,
    WordValue,
    phrase,
)
from tests.games import dispatch
from tests.games.comparison import rule_against
from tests.games.positions import (
    acts,
    acts_with_facts,
    deal,
    due,
    ended,
    hand,
    legal,
    may,
    pile,
    ranking_text,
    refusal,
    to_act,
)
from tests.games.positions_one_oh_one import ONE_OH_ONE, new, position, stock

DECK_36 = tuple(value for value in STANDARD_DECK if notation([value])[0][0] not in "2345")


def test_101_DEAL_1_101_DEAL_2_101_DEAL_3_101_DEAL_5_101_D2_the_deal_as_it_is_written() -> None:
    for deck in (36, 52, 104):
        state = new(4, deck=deck, first_move_any=False)
        shuffled = Random(deck).sample(due(state).cards, deck)
        record = dispatch.event_record(state, CardsShuffled(tuple(shuffled), (2,)))
        assert list(record) == ["type", "starter", "hands", "stock"]
        assert (record["type"], record["starter"], record["stock"]) == ("deal", 2, notation(shuffled[20:]))
        assert record["hands"] == [notation(shuffled[place:20:4]) for place in (2, 3, 0, 1)]
        after, _ = dispatch.apply(state, CardsShuffled(tuple(shuffled), (2,)))
        assert [hand(after, seat) for seat in range(4)] == [set(held) for held in record["hands"]]
        assert due(state).draw_bounds == (4,)
        assert (to_act(after), legal(after)) == (2, record["hands"][2][-1])


def test_101_DEAL_3_101_DEAL_4_101_D16_101_D27_the_winner_begins_the_next_round() -> None:
    state = acts(position("KH 9H | 9C | AC", "TC", turn=1), "9C")
    assert due(state) == ShuffleNeeded(DECK_36, (), 2, 1)
    after = deal(state)
    assert (to_act(after), dispatch.view(after, 0).dealer, pile(after, "pile")) == (1, None, None)


FIRST = position("7C QH 6D 8D KS AS | 9C 9D | 9C 9D", "", "TD JD JH KH AH", may_draw_instead=True)
COVERING = position("8C 6D JC KS | 9D", "TC 6C", covers=True, may_draw_instead=True)
PLAIN = position("8C QD 9D | 8D", "9C", "TC")
ORDERED = position("QS 8D | QD 8H 9S KC | AS", "TC")


@pytest.mark.parametrize(
    ("state", "line", "seat", "text", "rule"),
    [
        *((PLAIN, "", 0, odd, "101-PLAY-1") for odd in (Pass(), Bid(3), KeepBid(), Play(-1), Play(53), Play(1 << 70))),
        pytest.param(PLAIN, "", 0, "draw", "101-DRAW-1", id="101-DRAW-1"),
        pytest.param(PLAIN, "", 1, "draw", "101-PLAY-2", id="101-PLAY-2"),
        pytest.param(PLAIN, "", 2, "8D", "101-PLAY-2", id="101-PLAY-2 no such seat"),
        pytest.param(PLAIN, "", 0, Play(card("QD")), "101-QUEEN-2", id="101-QUEEN-2 101-D18 101-D29"),
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


def test_101_LEAD_3_the_first_card_has_its_effect() -> None:
    assert (hand(acts(FIRST, "7C"), 1), to_act(acts(FIRST, "7C"))) == ({"9C", "9D", "TD", "JD"}, 2)
    assert (len(hand(acts(FIRST, "KS"), 1)), to_act(acts(FIRST, "AS"))) == (7, 2)
    assert (legal(acts(FIRST, "6D")), legal(acts(FIRST, "QH/D"))) == ("8D QH", "9D draw")


def test_101_SIX_2_101_SIX_6_the_twin_and_a_six_before_the_last_card_are_covered_in_turn() -> None:
    state = acts(position("6C 6C 8C KH | 9C", "TC", deck=104, finish_on_six=True), "6C")
    assert (legal(state), legal(acts(state, "6C"))) == ("6C 8C", "8C")
    assert legal(acts(position("6C KH | 9C 9D", "TC", "TD JD", finish_on_six=True), "6C")) == "draw"


@pytest.mark.parametrize(
    ("line", "marks"),
    [
        pytest.param("7C", {Mark("penalty", 1, WordValue("seven"))}, id="101-VIS-1 a penalty"),
        pytest.param("7C draw", set(), id="101-VIS-1 until the next card or draw"),
        pytest.param("6C", {Mark("cover", 0, SuitValue(0))}, id="101-VIS-1 a cover that is owed"),
        pytest.param("QD/H", {Mark("ordered_suit", None, SuitValue(2))}, id="101-VIS-1 an order"),
        pytest.param("QD/S QS/C 2:draw 0:8C", set(), id="101-VIS-1 an order that is over"),
    ],
)
def test_marks(line: str, marks: set[Mark]) -> None:
    view = dispatch.view(acts(position("6C 7C 8C QD | QS 9C | 9D", "TC", "TD JD JH"), line), SPECTATOR)
    assert set(view.marks) == {Mark("starter", None, SeatValue(0))} | marks


def test_101_STOCK_3_101_D11_the_table_shuffles_and_every_reshuffle_has_a_number() -> None:
    state, facts = acts_with_facts(position("8D KH | 6D 8H", "AC JC 9C", recycle="shuffle"), "draw")
    assert MarkChanged(Mark("to_take", 0, NumberValue(1))) in facts
    assert (state.phase, due(state)) == ("reshuffle", ShuffleNeeded(cards("AC JC")[::-1], (), 1, 2))
    assert {refusal(state, "draw", seat) for seat in range(2)} == {"101-STOCK-3"}
    event = CardsShuffled(cards("JC AC"))
    assert dispatch.event_record(state, event) == {"type": "reshuffle", "stock": ["JC", "AC"]}
    state, facts = dispatch.apply(state, event)
    assert MarkChanged(Mark("to_take", 0, None)) in facts
    assert (hand(state, 0), stock(state), to_act(state)) == ({"8D", "KH", "JC"}, "AC", 1)
    again = acts(state._replace(stock=(), pile=position("|", "JS 9C").pile), "draw")
    assert due(again) == ShuffleNeeded(cards("JS"), (), 1, 3)


def test_101_LAST_2_a_reshuffle_comes_before_the_end() -> None:
    state, facts = acts_with_facts(position("7C | 9D | 9H", "TH KC", "6D", recycle="shuffle"), "7C")
    assert (state.phase, dispatch.scores(state)) == ("reshuffle", (0, 0, 0))
    assert not [fact for fact in facts if isinstance(fact, RoundEnded | HandRevealed)]
    after, _ = dispatch.apply(state, CardsShuffled(cards("KC TH")))
    assert (after.phase, dispatch.scores(after)) == ("deal", (0, 9 + 6 + 4, 9))


def test_101_SCORE_5_the_summary_of_a_round() -> None:
    hands, before = "QH | QC QS | AD | 9D KC", (10, 0, 90, 97)
    _, facts = acts_with_facts(position(hands, "TC", scores=before, exact_101_reset=True, floor_zero=True), "QH/S")
    assert ended(facts).details == (
        Mark("starter", None, SeatValue(0)),
        Mark("winner", None, SeatValue(0)),
        Mark("last_card", None, CardsValue(cards("QH"))),
        Mark("hand", 1, CardsValue(cards("QC QS"))),
        Mark("hand", 2, CardsValue(cards("AD"))),
        Mark("hand", 3, CardsValue(cards("KC 9D"))),
        Mark("floored", None, SeatsValue((0,))),
        Mark("reset", None, SeatsValue((2,))),
        Mark("losers", None, SeatsValue((3,))),
    )
    assert (ended(facts).points, ended(facts).totals) == ((-40, 40, 11, 13), (0, 40, 0, 110))
    assert ended(facts).headline == (phrase("finished_with", card=CardsValue(cards("QH"))),)
    two_left = phrase("cards_left", count=NumberValue(2))
    assert ended(facts).notes == (
        (phrase("first_out"), phrase("last_queen", points=NumberValue(40)), phrase("floored")),
        (two_left, phrase("only_queens")),
        (phrase("cards_left", count=NumberValue(1)), phrase("reset")),
        (two_left, phrase("lost")),
    )
    names = ("rounds_won", "queen_finishes", "caught_with_queens", "exact_101", "times_lost")
    assert ended(facts).counts == tuple(Count(name, seat) for name, seat in zip(names, (0, 0, 1, 2, 3), strict=True))


@pytest.mark.parametrize(
    ("scores", "options", "rule"),
    [
        pytest.param((0, 0), {}, "101-DEAL-1", id="101-DEAL-1 between rounds"),
        pytest.param((0, 95), {}, "101-END-2", id="101-END-2 a loser"),
        pytest.param((0, 0), {"max_rounds": 1}, "101-END-4", id="101-END-4 the last round"),
        pytest.param((0, 95), {"elimination": True}, "101-ELIM-1", id="101-ELIM-1 one is left"),
    ],
)
def test_after_a_round_nobody_acts_and_after_the_game_nothing_is_dealt(
    scores: tuple[int, int], options: dict[str, Any], rule: str
) -> None:
    state = acts(position("9C | AD", "TC", "TD TH", scores=scores, **options), "9C")
    for seat in (-1, 0, 1, 2):
        assert {refusal(state, text, seat) for text in ("AD", "draw", "pass")} == {rule}
    if state.phase == "over":
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


HEARTS, CLUBS, COVERS = {"ordered": "H"}, {"ordered": "C"}, {"covers": True}
STRICT = COVERS | {"queen_covers_six": False}
FREE = {"may_draw_instead": True}
BOTH = {"floor_zero": True, "exact_101_reset": True}
ADDED: dict[str, Any] = {"queen_penalty": "added"}
OUT: dict[str, Any] = {"elimination": True}
LAST: dict[str, Any] = {"max_rounds": 1}
FOUR, FOUR_LEFT = (50, 95, 39, 99), "AS | AD | KH"
"""Scores of four seats and three hands with which two of them lose."""
ALONE: Any = OUT | {"dropped": ((3,), (1,))}
ALONE_BEFORE, ALONE_AFTER = (50, 106, 50, 103), (50, 106, 108, 103, "0 > 2 > 3 > 1")


@pytest.mark.parametrize(
    ("held", "top", "options", "expected"),
    [
        pytest.param("8C 9D 9S KC QH AS", "TC 9C", {}, "8C 9D 9S KC QH", id="101-EX-1 101-QUEEN-1 101-PLAY-1 101-D20"),
        pytest.param("8D KH", "TC 9C", {}, "draw", id="101-EX-2"),
        pytest.param("QD 8H", "TC 9C", {}, "QD", id="101-EX-3 101-DRAW-1"),
        pytest.param("QD 8H", "TC 9C", FREE, "QD draw", id="101-EX-3 101-DRAW-3"),
        pytest.param("QD 8H 9S KC", "TC QS", HEARTS, "8H QD", id="101-EX-4 101-QUEEN-3 101-D18"),
        pytest.param("6H KC", "TC QS", CLUBS, "KC", id="101-EX-5"),
        pytest.param("8C 6D QH KS", "TC 6C", COVERS, "8C QH", id="101-EX-6 101-D8"),
        pytest.param("8C 6D QH KS", "TC 6C", STRICT, "8C", id="101-EX-6 101-SIX-3"),
        pytest.param("QC 6D QH KS", "TC 6C", COVERS, "QC QH", id="101-EX-7"),
        pytest.param("8D 6D KS", "TC 6C", COVERS, "draw", id="101-EX-8"),
        pytest.param("9C 6D QS 8H", "TC 6C", {}, "9C 6D QS", id="101-EX-9"),
        pytest.param("7C 9D QS KH 6C", "", {}, "7C 9D QS KH 6C", id="101-EX-10 101-LEAD-1"),
        pytest.param("2D 4D JD", "TC JC", {"deck": 52}, "JD", id="101-EX-24 101-D22"),
    ],
)
def test_which_cards_are_legal(held: str, top: str, options: dict[str, Any], expected: str) -> None:
    assert may(position(f"{held} | 9D | 9H", top, "TD JD", **options)) == set(expected.split())


def test_101_EX_10_101_LEAD_2_101_D4_101_D28_only_the_card_that_was_dealt_last() -> None:
    state = new(2, first_move_any=False)
    deck = [*cards("7C 8C 9D 8D QS 8H KH 8S 6C TC")]
    deck += [value for value in due(state).cards if value not in deck]
    state, _ = dispatch.apply(state, CardsShuffled(tuple(deck), (0,)))
    assert (legal(state), may(acts(state, "6C"))) == ("6C", {"7C", "QS"})


@pytest.mark.parametrize(
    ("hands", "lying", "line", "options", "seat", "held", "next_seat"),
    [
        pytest.param("7C 8D | 9C | 9D", "TC", "7C", {}, 1, "9C TD JD", 2, id="101-EX-11 101-SEVEN-1 101-SKIP-2"),
        pytest.param("7C 8D | 9C", "TC", "7C", {}, 1, "9C TD JD", 0, id="101-EX-12 101-SKIP-1 101-D13"),
        pytest.param("AC 8D | 9C | 9D | 9H", "TC", "AC", {}, 1, "9C", 2, id="101-EX-13 101-ACE-1"),
        pytest.param("9C | 9D | KS 9H", "TS", "2:KS", {}, 0, "9C TD JD JH 8C 8H", 1, id="101-EX-14 101-KING-1"),
        pytest.param("KC 9D | 9C", "TC", "KC", {}, 1, "9C", 1, id="101-KING-1 another king"),
        pytest.param("6C 8C KH | 9C", "TC", "6C", {}, 0, "8C KH", 0, id="101-SIX-1 101-D1 101-D21"),
        pytest.param("6C 7C 8D | 9C 9D | 9H", "TC", "6C 7C", {}, 1, "9C 9D TD JD", 2, id="101-EX-15 101-SIX-7"),
        pytest.param("6C | 9C 9D", "TC", "6C draw", {}, 0, "TD", 1, id="101-EX-16 101-SIX-5 101-D9"),
        pytest.param("8D KH | 6D", "9C", "draw", {}, 0, "8D KH TD", 1, id="101-DRAW-2 101-D7 101-D30 101-STOCK-1"),
        pytest.param("8D 6D KS | 9D", "TC 6C", "draw", COVERS, 0, "8D 6D KS TD", 1, id="101-SIX-4 101-D8a 101-D30"),
        pytest.param("QS 8D | 8S 9S | 6D", "9C", "QS/H draw draw", {}, 2, "6D JD", 0, id="101-EX-21"),
        pytest.param("8C 9D | 8D 8H | 8S 9S", "9C", "8C 8H", {}, 1, "8D", 2, id="101-PLAY-2"),
        pytest.param("7C 8D || 9D |", "TC", "7C", {"dropped": ((1, 3),)}, 2, "9D TD JD", 0, id="101-SKIP-1 101-ELIM-1"),
    ],
)
def test_the_position_after_a_card_or_a_draw(
    hands: str, lying: str, line: str, options: dict[str, Any], seat: Seat, held: str, next_seat: Seat
) -> None:
    turn = int(line[0]) if line[1] == ":" else 0
    state = acts(position(hands, lying, "TD JD JH 8C 8H 8S", turn=turn, **options), line)
    assert (hand(state, seat), to_act(state)) == (set(held.split()), next_seat)


@pytest.mark.parametrize(
    ("hands", "lying", "left", "line", "seat", "held", "stock_left", "pile_left"),
    [
        pytest.param("8D KH | 6D", "AC JC TH 9C", "", "draw", 0, "8D KH AC", "JC TH", "9C", id="101-EX-17 101-STOCK-2"),
        pytest.param("KS 9D | 6D | 7D", "AC JC TH 9S", "8H", "KS", 1, "6D 8H AC JC TH 9S", "", "KS", id="101-EX-18"),
        pytest.param("7C KH | 6D 9C | 6H", "TC", "", "7C", 1, "6D 9C TC", "", "7C", id="101-EX-19 101-STOCK-4"),
        pytest.param("8D KH | 6D 9C", "TC", "", "draw", 0, "8D KH", "", "TC", id="101-EX-20 101-DRAW-4 101-D12"),
    ],
)
def test_the_renewal_of_the_stock(
    hands: str, lying: str, left: str, line: str, seat: Seat, held: str, stock_left: str, pile_left: str
) -> None:
    below = tuple(value for value in cards(lying) if value not in cards(pile_left))
    for recycle in ("flip", "shuffle"):
        state = acts(position(hands, lying, left, recycle=recycle), line)
        if recycle == "shuffle" and below:
            assert due(state).cards == tuple(sorted(below))
            state, _ = dispatch.apply(state, CardsShuffled(below))
        assert (hand(state, seat), stock(state)) == (set(held.split()), stock_left)
        assert pile(state, "pile") == (len(pile_left.split()), pile_left)


@pytest.mark.parametrize(
    ("before", "left", "last", "options", "after"),
    [
        pytest.param((10, 0, 30), "JC QD KH AS | QC QS", "9C", {}, (10, 20, 70), id="example 1 101-POINTS-1 101-D31"),
        pytest.param((10, 0), "9D", "QC/C", {}, (-10, 9), id="101-EX-22 example 2 101-POINTS-4 101-D14 101-D24"),
        pytest.param((10, 0), "9D", "QC/H", {}, (-10, 9), id="101-EX-22 101-QUEEN-2"),
        pytest.param((50, 0), "9D", "QH/C", {}, (10, 9), id="example 3 101-POINTS-4"),
        pytest.param((10, 0), "9D", "QH/C", {"floor_zero": True}, (0, 9), id="example 4 101-SCORE-2"),
        pytest.param((0, 0, 0), "9D | TD", "7C", {}, (0, 19, 10), id="example 5 101-LAST-2 101-D10"),
        pytest.param((0, 0, 0), "9D | TD", "7C", {"last_card_effects": False}, (0, 9, 10), id="example 6"),
        pytest.param((0, 0), "9D", "KC", {}, (0, 9), id="101-LAST-1 101-LAST-2 no effect"),
        pytest.param((0, 0), "QD", "7C", {}, (0, 13), id="example 7 101-POINTS-3"),
        pytest.param((0, 0), "QC QH QS", "9C", {}, (0, 80), id="example 8 101-POINTS-3 101-D15"),
        pytest.param((0, 0), "QH 6C", "9C", {}, (0, 9), id="example 9 101-POINTS-3"),
        pytest.param((0, 0), "QC QH QS", "9C", ADDED, (0, 89), id="example 10 101-POINTS-5 101-D25"),
        pytest.param((10, 0, 30), "JC QD KH AS | QC QS", "9C", ADDED, (10, 20, 76), id="example 11 101-POINTS-5"),
        pytest.param((0, 0), "QC QH", "9C", {}, (0, 60), id="101-EX-23 101-POINTS-3"),
        pytest.param((0, 0), "QC QH", "9C", ADDED, (0, 66), id="101-EX-23 101-POINTS-5"),
        pytest.param((0, 0), "QD", "7C", ADDED, (0, 13), id="101-POINTS-5 not queens only"),
        pytest.param((50, 0), "9D", "QH/C", ADDED, (10, 9), id="101-POINTS-5 a last queen"),
        pytest.param((1, 2, 3), "KS KD | AD 6H", "9C", {}, (1, 10, 20), id="101-POINTS-2"),
        pytest.param((0, 0), "9C 9D", "6C", {"finish_on_six": True}, (0, 18), id="101-EX-16 101-SIX-6"),
        pytest.param((0, 81), "TD TH", "9C", {}, (0, 101, "0 > 1"), id="101-END-1 101-D5 81"),
        pytest.param((0, 81), "TD TH", "9C", {"exact_101_reset": True}, (0, 0), id="101-SCORE-3 101-D3 101-D23"),
        pytest.param((0, 81), "TD TH", "9C", {"lose_at": "exceed"}, (0, 101), id="101-END-1 101-D5 101-D26 exceed 81"),
        pytest.param((0, 82), "TD TH", "9C", {"lose_at": "exceed"}, (0, 102, "0 > 1"), id="101-END-1 exceed 82"),
        pytest.param((10, 92, 91, 91), "9D | TD | AD", "QH/C", BOTH, (0, 0, 0, 102, "0 = 1 = 2 > 3"), id="101-SCORE-1"),
        pytest.param((99, 95, 90), "AD | AH KH", "9C", {}, (99, 106, 105, "0 > 2 > 1"), id="101-END-2 101-D6 101-D19"),
        pytest.param(FOUR, FOUR_LEFT, "9C", {}, (50, 106, 50, 103, "0 = 2 > 3 > 1"), id="101-END-3"),
        pytest.param(FOUR, FOUR_LEFT, "9C", OUT, (50, 106, 50, 103), id="101-ELIM-1"),
        pytest.param((0, 0, 0), "KD | KH", "9C", LAST, (0, 4, 4, "0 > 1 = 2"), id="101-END-4 101-D17"),
        pytest.param((0, 0, 0), "KD | KH", "9C", {"max_rounds": 2}, (0, 4, 4), id="101-END-4 a round is left"),
        pytest.param((90, 99, 0), "KD | KH", "9C", OUT | LAST, (90, 103, 4, "2 > 0 > 1"), id="101-END-4 101-ELIM-3"),
        pytest.param((100, 95, 95), "AD | AH", "9C", OUT, (100, 106, 106, "0 > 1 = 2"), id="101-ELIM-2"),
        pytest.param(ALONE_BEFORE, "| AS KD AD AH AC TD |", "9C", ALONE, ALONE_AFTER, id="101-ELIM-3 the later"),
    ],
)
def test_the_scores_after_a_round(
    before: tuple[int, ...], left: str, last: str, options: dict[str, Any], after: tuple[Any, ...]
) -> None:
    state = acts(position(f"{last[:2]} | {left}", "TC", "8D JS", scores=before, **options), last)
    ranking = ranking_text(dispatch.view(state, SPECTATOR).ranking)
    assert (*dispatch.scores(state), *([ranking] if ranking else [])) == after
    assert state.phase == ("over" if ranking else "deal")


def test_the_example_round_of_the_page() -> None:
    hands = [cards("8C KH 9D JS 8H"), cards("6C 9C AD QH TD"), cards("AC 8D 7D 9S TH")]
    top = [value for turn in zip(*hands, strict=True) for value in turn] + [*cards("TS JC")]
    rest = tuple(value for value in due(new(3)).cards if value not in top)
    state, _ = dispatch.apply(new(3), CardsShuffled((*top, *rest), (0,)))
    state = acts(state, "0:8C 1:6C 1:9C 2:AC 1:AD 0:9D 1:TD")
    assert (hand(state, 1), to_act(state)) == ({"QH"}, 2)
    state, facts = acts_with_facts(state, "2:7D 1:QH/S")
    assert Mark("hand", 0, CardsValue(cards("JC 8H KH TS JS"))) in ended(facts).details
    assert ended(facts).points == dispatch.scores(state) == (26, -40, 27)
    assert to_act(deal(state)) == 1
