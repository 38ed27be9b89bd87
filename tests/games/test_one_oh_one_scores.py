"""Points, losers, the end of the game and what is to be seen of 101."""

from typing import Any

import pytest

from croupier.games.actions import PLAYS, Action, Draw, Pass
from croupier.games.cards import STANDARD_DECK, card, cards, notation
from croupier.games.facts import (
    SPECTATOR,
    CardsMoved,
    Count,
    GameEnded,
    HandRevealed,
    Mark,
    Marked,
    Pile,
    PileCard,
    RoundEnded,
    SeatOut,
    TurnChanged,
)
from croupier.games.interface import CardsShuffled, Event, IllegalAction, SeatActed
from croupier.games.one_oh_one import scoring
from tests.games.fold import heard
from tests.games.positions_one_oh_one import (
    acts,
    acts_with_facts,
    deal,
    due,
    ended,
    hand,
    new,
    over,
    position,
    refusal,
)

# The last card


def test_101_LAST_1_the_round_is_won_with_the_last_card() -> None:
    state, line = ended(position(["9C", "KD", "AD"], "TC", "8D"), "0:9C")
    assert dict(line.details)["winner"] == "0"
    assert state.scores == (0, 4, 11)


@pytest.mark.parametrize(
    ("last", "options", "taken"),
    [
        ("7C", {}, 2),
        ("KS", {}, 5),
        ("AC", {}, 0),
        ("8C", {}, 0),
        ("7C", {"last_card_effects": False}, 0),
        ("KS", {"last_card_effects": False}, 0),
    ],
)
def test_101_LAST_2_101_D10_the_last_card_still_hits(last: str, options: dict[str, Any], taken: int) -> None:
    start = position([last, "9D", "9H"], "KC", "6D 7D 8D TD JD KD", **options)
    state, facts = acts_with_facts(start, f"0:{last}")
    assert len(hand(state, 1)) == 1 + taken
    marks = [fact for fact in facts if isinstance(fact, Marked)]
    names = {0: [], 2: ["seven"], 5: ["king_of_spades"]}
    assert marks == [Marked("penalty", 1, name) for name in names[taken]]
    assert state.phase == "deal"


def test_101_LAST_2_a_reshuffle_comes_before_the_end() -> None:
    start = position(["7C", "9D", "9H"], "TH KC", "6D", recycle="shuffle")
    state, facts = acts_with_facts(start, "0:7C")
    assert (state.phase, state.scores) == ("reshuffle", (0, 0, 0))
    assert not [fact for fact in facts if isinstance(fact, RoundEnded | HandRevealed)]
    after, facts = state.apply(CardsShuffled(cards("KC TH")))
    assert (after.phase, after.scores) == ("deal", (0, 9 + 6 + 4, 9))
    assert [fact for fact in facts if isinstance(fact, RoundEnded)]


# Points


def test_101_POINTS_1_101_D15_what_each_card_costs() -> None:
    beside = {text: "3D" if text == "3C" else "3C" for text in notation(STANDARD_DECK)}
    values = {text: scoring.hand_points(cards(f"{text} {other}")) - 3 for text, other in beside.items()}
    by_rank = {rank: {values[rank + suit] for suit in "CDHS"} for rank in "23456789TJQKA"}
    expected = {"J": 2, "Q": 3, "K": 4, "A": 11, "T": 10} | {str(number): number for number in range(2, 10)}
    assert by_rank == {rank: {points} for rank, points in expected.items()}


def test_101_POINTS_2_everybody_but_the_winner_pays() -> None:
    state, line = ended(position(["9C", "KS KD", "AD 6H", "JC"], "TC", scores=(1, 2, 3, 4)), "0:9C")
    assert (line.points, state.scores) == ((0, 8, 17, 2), (1, 10, 20, 6))


@pytest.mark.parametrize(
    ("left", "points"), [("QC", 20), ("QH", 40), ("QC QH", 60), ("QC QC QH QH", 120), ("QC JC", 5), ("QC QH KS", 10)]
)
def test_101_POINTS_3_101_D15_nothing_but_queens(left: str, points: int) -> None:
    assert scoring.hand_points(cards(left)) == points


# Scores


def test_101_SCORE_1_points_then_nought_then_101() -> None:
    both: dict[str, Any] = {"floor_zero": True, "exact_101_reset": True}
    state, line = ended(position(["QH", "9D", "TD", "AD"], "TC", scores=(10, 92, 91, 91), **both), "0:QH/C")
    assert line.points == (-40, 9, 10, 11)
    assert line.totals == (0, 0, 0, 102)
    assert over(state).ranking == ((0, 1, 2), (3,))


def test_101_SCORE_3_101_D3_exactly_101() -> None:
    start = position(["9C", "AD"], "TC", scores=(0, 90), exact_101_reset=True)
    state, line = ended(start, "0:9C")
    assert (state.scores, line.points, line.notes[1]) == ((0, 0), (0, 11), "1 card left, 101 became 0")
    assert Count("exact_101", 1) in line.counts
    assert acts(start._replace(table=position(["", ""]).table), "0:9C").scores == (0, 101)


def test_101_SCORE_5_the_summary_of_a_round() -> None:
    start = position(
        ["QH", "QC QS", "AD", "9D KC"], "TC", scores=(10, 0, 90, 97), exact_101_reset=True, floor_zero=True
    )
    _, line = ended(start, "0:QH/S")
    assert line.details == (
        ("round", "1"),
        ("starter", "0"),
        ("winner", "0"),
        ("last_card", "QH"),
        ("hand_1", "QC QS"),
        ("hand_2", "AD"),
        ("hand_3", "KC 9D"),
        ("points", "-40 40 11 13"),
        ("floored", "0"),
        ("reset", "2"),
        ("totals", "0 40 0 110"),
        ("losers", "3"),
    )
    assert (line.headline, line.round_number) == ("finished with the queen of hearts", 1)
    assert line.notes == (
        "first to go out, 40 off for a last queen, no score below 0",
        "2 cards left, nothing but queens",
        "1 card left, 101 became 0",
        "2 cards left, lost the game",
    )
    assert line.counts == (
        Count("rounds_won", 0),
        Count("queen_finishes", 0),
        Count("caught_with_queens", 1),
        Count("exact_101", 2),
        Count("times_lost", 3),
    )


# The end of the game


def test_101_END_2_101_D6_101_D19_all_who_get_there_are_losers() -> None:
    state, line = ended(position(["9C", "AD", "AH KH"], "TC", scores=(100, 95, 90)), "0:9C")
    assert dict(line.details)["losers"] == "1 2"
    assert over(state) == (((0,), (2,), (1,)), "loser")


@pytest.mark.parametrize(
    ("scores", "options", "rule"),
    [
        pytest.param((0, 95), {}, "101-END-2", id="101-END-2 a loser"),
        pytest.param((0, 0), {"max_rounds": 1}, "101-END-4", id="101-END-4 the last round"),
        pytest.param((0, 95), {"elimination": True}, "101-ELIM-1", id="101-ELIM-1 one is left"),
    ],
)
def test_after_the_end_nothing_can_be_played_or_dealt(
    scores: tuple[int, int], options: dict[str, Any], rule: str
) -> None:
    state = acts(position(["9C", "AD"], "TC", "TD TH", scores=scores, **options), "0:9C")
    assert state.phase == "over"
    said: tuple[Action, ...] = (PLAYS[card("AD")], Draw(), Pass())
    deals = [CardsShuffled(state.table.deck), CardsShuffled((), ()), CardsShuffled(state.table.deck, (0,))]
    events: list[Event] = [*deals, *(SeatActed(seat, action) for seat in (-1, 0, 1, 2) for action in said)]
    for event in events:
        refused = refusal(state, event)
        assert (refused.rule, "the game is over" in str(refused)) == (rule, True)
    with pytest.raises(IllegalAction, match="the game is over"):
        state.event_record(deals[0])


def test_101_END_4_101_D17_no_more_rounds_than_agreed() -> None:
    start = position(["9C", "KD", "KH"], "TC", max_rounds=2)
    state = acts(start, "0:9C")
    assert state.phase == "deal"
    second = start._replace(match=state.match._replace(round_number=2))
    assert over(acts(second, "0:9C")) == (((0,), (1, 2)), "max_rounds")
    assert acts(position(["9C", "KD", "KH"], "TC", max_rounds=1), "0:9C").awaiting == over(acts(second, "0:9C"))
    both = position(["9C", "KD"], "TC", scores=(0, 99), max_rounds=1)
    assert over(acts(both, "0:9C")).reason == "loser"


def test_101_END_4_with_elimination_those_who_are_left_come_first() -> None:
    start = position(["9C", "KD", "KH", "AD"], "TC", scores=(90, 99, 0, 95), max_rounds=1, elimination=True)
    assert over(acts(start, "0:9C")) == (((2,), (0,), (1,), (3,)), "max_rounds")


def test_101_ELIM_1_the_others_play_on() -> None:
    start = position(["9C", "KD 8C", "KH", "AD"], "TC", scores=(0, 0, 99, 95), elimination=True)
    state, facts = acts_with_facts(start, "0:9C")
    assert state.phase == "deal"
    assert [fact for fact in facts if isinstance(fact, SeatOut)] == [SeatOut(2, 3), SeatOut(3, 4)]
    state, facts = state.apply(CardsShuffled(due(state).cards))
    assert [fact for fact in facts if isinstance(fact, SeatOut)] == [SeatOut(2, 3), SeatOut(3, 4)]
    assert [(seat.out, seat.place, seat.score) for seat in state.view(SPECTATOR).seats] == [
        (False, 0, 0),
        (False, 0, 12),
        (True, 3, 103),
        (True, 4, 106),
    ]
    last = position(["9C", "AD", "", ""], "TC", scores=(0, 95, 103, 106), dropped=((2,), (3,)), elimination=True)
    assert over(acts(last, "0:9C")) == (((0,), (1,), (2,), (3,)), "one_left")


def test_101_ELIM_2_the_winner_stays() -> None:
    start = position(["9C", "AD", "AH"], "TC", scores=(100, 95, 95), elimination=True)
    state = acts(start, "0:9C")
    assert over(state) == (((0,), (1, 2)), "one_left")


# What is to be seen


def test_101_VIS_1_what_everybody_sees() -> None:
    start = position(["7C 6C 8C QD", "9C", "9D"], "TC", "TD JD JH", scores=(1, 2, 3))
    view = acts(start, "0:7C 2:draw").view(SPECTATOR)
    assert view.piles == (Pile("pile", 2, (PileCard(card("TC"), 0), PileCard(card("7C"), 0))),)
    assert [(seat.card_count, seat.cards, seat.score) for seat in view.seats] == [(3, (), 1), (3, (), 2), (2, (), 3)]
    assert view.seats_to_act == (0,)
    assert view.marks == (Mark("starter", None, "0"),)
    six = acts(start, "0:6C").view(SPECTATOR)
    assert six.marks == (Mark("cover", 0, "C"), Mark("starter", None, "0"))
    assert six.piles[1] == Pile("stock", 3, ())
    assert acts(start, "0:7C").view(SPECTATOR).marks == (Mark("penalty", 1, "seven"), Mark("starter", None, "0"))
    assert acts(start, "0:QD/H").view(1).marks == (Mark("ordered_suit", None, "H"), Mark("starter", None, "0"))


def test_101_VIS_2_a_hand_and_what_is_drawn_are_private() -> None:
    state, facts = acts_with_facts(position(["8D KH", "6D"], "9C", "TC JC"), "0:draw")
    for viewer in (1, SPECTATOR):
        assert state.view(viewer).seats[0].cards == ()
        assert not [fact for fact in heard(facts, viewer) if isinstance(fact, CardsMoved) and fact.cards]
    assert state.view(0).seats[0].cards == cards("TC 8D KH")


def test_101_VIS_2_the_card_dealt_last_shows_in_nothing_but_the_starters_legal_actions() -> None:
    order = due(new(2, first_move_any=False)).cards
    other = (*order[:6], order[8], order[7], order[6], *order[9:])
    one, facts = new(2, first_move_any=False).apply(CardsShuffled(order, (0,)))
    two, other_facts = new(2, first_move_any=False).apply(CardsShuffled(other, (0,)))
    assert one.legal_actions(0) != two.legal_actions(0)
    for viewer in (0, 1, SPECTATOR):
        assert one.view(viewer) == two.view(viewer)
        assert heard(facts, viewer) == heard(other_facts, viewer)


def test_101_VIS_3_nobody_sees_the_stock() -> None:
    state, facts = acts_with_facts(position(["8D KH", "6D"], "AC JC TH 9C"), "0:draw")
    for viewer in (0, 1, SPECTATOR):
        assert state.view(viewer).piles[1] == Pile("stock", 2, ())
    assert not [fact for fact in facts if isinstance(fact, CardsMoved) and fact.target == "stock" and fact.cards]


def test_101_VIS_4_all_hands_are_laid_open_and_the_stock_is_not() -> None:
    state, facts = acts_with_facts(position(["9C", "KD 8C", "AD"], "TC", "TD JD"), "0:9C")
    assert [fact for fact in facts if isinstance(fact, HandRevealed)] == [
        HandRevealed(1, cards("8C KD")),
        HandRevealed(2, cards("AD")),
    ]
    view = state.view(SPECTATOR)
    assert [seat.cards for seat in view.seats] == [(), cards("8C KD"), cards("AD")]
    assert view.piles[1] == Pile("stock", 2, ())
    assert deal(state).view(SPECTATOR).seats[1].cards == ()


def test_the_end_is_told_last() -> None:
    state, facts = acts_with_facts(position(["KH", "9C", "AD"], "TC", turn=1, scores=(0, 0, 99)), "1:9C")
    assert facts[-3:] == (
        Marked("starter", None, "1"),
        TurnChanged("over", ()),
        GameEnded(((1,), (0,), (2,)), "loser"),
    )
    with pytest.raises(IllegalAction):
        state.apply(CardsShuffled(state.table.deck))
