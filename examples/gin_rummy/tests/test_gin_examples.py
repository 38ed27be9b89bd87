"""The worked positions of the page, GIN-EX-1 to GIN-EX-10, and its tables of points and of final scores."""

from typing import Any

import pytest

from croupier.games.facts import Count, Mark, RoundEnded, RoundScore
from croupier.games.interface import GameOver, IllegalAction, SeatActed
from croupier.games.values import NumberValue, PointsValue, SeatValue, WordValue, phrase
from croupier_gin_rummy.state import GinState
from gin_positions import HAND, OTHER, acts, acts_with_facts, defending, laying, legal, position, refusal, to_act
from gin_table import GIN_RUMMY

TEN = "2C 3C 4C 7D 7H 7S 9C TC JC QC"
"""A hand without deadwood."""


def ended(state: GinState, line: str) -> RoundScore:
    """Return the summary of a hand that a line ends."""
    _, facts = acts_with_facts(state, line)
    return next(fact.score for fact in facts if isinstance(fact, RoundEnded))


def test_GIN_EX_1_a_knock_leaves_ten_at_most() -> None:
    assert legal(acts(position(stock="KD 2H 8C"), "stock knock")) == "KD AH"


def test_GIN_EX_2_a_card_from_the_discard_pile_makes_gin() -> None:
    state = acts(position(discards="5C", big_gin=True), "discard")
    assert acts(state, "knock AH").knock == "gin"
    assert refusal(state, "big_gin") == "GIN-BIG-2"


def test_GIN_EX_3_GIN_D2_big_gin_is_31_points_and_the_deadwood_of_the_defender() -> None:
    state = position(f"{TEN} | {OTHER}", "5C", big_gin=True)
    score = ended(state, "discard big_gin run:2C,3C,4C,5C set:7D,7H,7S run:9C,TC,JC,QC")
    assert score.points == (31 + 67, 0)
    plain = acts(position(f"{TEN} | {OTHER}", "5C"), "discard knock")
    assert "2C" in legal(plain).split()


def test_GIN_EX_4_every_card_but_the_one_that_was_taken_may_be_discarded() -> None:
    state = acts(position(), "discard")
    assert set(legal(state).split()) == {*HAND.split(), "knock"}
    assert refusal(state, "5D") == "GIN-DISCARD-2"


def test_GIN_EX_5_the_same_dealer_deals_again_after_a_hand_that_nobody_won() -> None:
    state = acts(position(stock="KD 2H 8C"), "stock KD")
    assert (to_act(state), state.progress.next_dealer) == ((), 1)


def test_GIN_EX_6_cards_continue_a_run_one_after_the_other() -> None:
    state = defending("AH | 4S 8S 9S KD")
    assert legal(state) == "off:4S/1 off:8S/1 done"
    assert refusal(state, "off:9S/1") == "GIN-OFF-3"
    assert ended(state, "off:8S/1 off:9S/1 off:4S/1").points == (9, 0)


def test_GIN_EX_7_a_card_fits_a_set_and_a_run() -> None:
    state = defending("AH | 6S 7S", "7C 7D 7H / 8S 9S TS")
    assert legal(state) == "off:7S/1 off:7S/2 done"
    assert ended(state, "off:7S/1").points == (5, 0)
    assert ended(state, "off:7S/2 off:6S/2").points == (0, 11)


def test_GIN_EX_8_the_knocker_lays_what_keeps_within_the_limit() -> None:
    state = laying("4H 4D 4S 5S 6S AC 2C 3C AD AH | KC QC JD")
    assert set(legal(state).split()) == {"run:2C,3C,AC", "run:4S,5S,6S"}
    assert {refusal(state, text) for text in ("set:4D,4H,4S", "set:AC,AD,AH")} == {"GIN-LAY-3"}
    assert ended(state, "run:4S,5S,6S run:2C,3C,AC").points == (20, 0)


def test_GIN_EX_9_GIN_D5_the_knocker_need_not_lay_the_best_melds() -> None:
    state = acts(laying("4H 4D 4S 5S 6S 7S AC 2C 3C AD | KC QC JD"), "run:4S,5S,6S,7S")
    assert refusal(state, "done") == "GIN-LAY-4"
    assert ended(state, "run:2C,3C,AC").points == (21, 0)


def test_GIN_EX_10_nothing_is_laid_off_after_gin() -> None:
    state = defending("| 8S 9S", knock="gin")
    assert (refusal(state, "off:8S/1"), legal(state)) == ("GIN-OFF-2", "done")
    assert ended(state, "done").points == (17 + 20, 0)


@pytest.mark.parametrize(
    ("hands", "knock", "options", "points", "ending"),
    [
        pytest.param("3D | KC 7H", "knock", {}, (14, 0), "knock", id="GIN-SCORE-1 GIN-SCORE-2"),
        pytest.param("9D | 9S", "knock", {}, (0, 10), "undercut", id="GIN-SCORE-3 equal"),
        pytest.param("9D | 2S", "knock", {"undercut_bonus": 25}, (0, 32), "undercut", id="GIN-SCORE-3 less"),
        pytest.param("| 2S", "gin", {}, (22, 0), "gin", id="GIN-SCORE-4 gin"),
        pytest.param("|", "gin", {"gin_bonus": 25}, (25, 0), "gin", id="GIN-SCORE-4 no deadwood at all"),
        pytest.param("| KC", "big_gin", {"big_gin": True}, (41, 0), "big_gin", id="GIN-SCORE-4 big gin"),
    ],
)
def test_points(hands: str, knock: str, options: dict[str, Any], points: tuple[int, ...], ending: str) -> None:
    score = ended(defending(hands, knock=knock, **options), "done")
    assert score.points == points
    assert score.details[0] == Mark("ending", None, WordValue(ending))


@pytest.mark.parametrize(
    ("scores", "boxes", "options", "totals"),
    [
        pytest.param((90, 40), (3, 1), {}, (284, 60), id="GIN-END-1 GIN-END-3 the bonus for the game"),
        pytest.param((90, 0), (3, 0), {}, (384, 0), id="GIN-END-3 the other has nothing"),
        pytest.param((90, 40), (3, 1), {"end_bonuses": False}, (104, 40), id="GIN-END-3 no bonuses"),
        pytest.param((90, 99), (2, 12), {}, (264, 339), id="GIN-END-4 GIN-D8 boxes decide"),
    ],
)
def test_final_scores(
    scores: tuple[int, ...], boxes: tuple[int, ...], options: dict[str, Any], totals: tuple[int, ...]
) -> None:
    state = acts(defending("3D | KC 7H", scores=scores, boxes=boxes, **options), "done")
    best = totals.index(max(totals))
    assert state.progress.totals == totals
    assert GIN_RUMMY.awaiting(state) == GameOver(((best,), (1 - best,)), "target")
    assert refusal(state, "stock", 0) == "GIN-END-1"


def test_GIN_END_1_GIN_END_2_GIN_END_3_GIN_D9_the_last_of_all_hands() -> None:
    state = acts(position(stock="KD 2H 8C", scores=(20, 40), boxes=(1, 1), max_rounds=1), "stock KD")
    assert GIN_RUMMY.awaiting(state) == GameOver(((1,), (0,)), "max_rounds")
    assert state.progress.totals == (40, 60)
    assert refusal(state, "stock", 0) == "GIN-END-2"


def test_GIN_END_4_equal_scores_share_a_place() -> None:
    state = acts(position(stock="KD 2H 8C", scores=(40, 40), max_rounds=1, end_bonuses=False), "stock KD")
    assert GIN_RUMMY.awaiting(state) == GameOver(((0, 1),), "max_rounds")


def test_GIN_END_5_a_limit_ends_the_table_by_the_scores() -> None:
    assert GIN_RUMMY.ranking_at_limit(position(scores=(10, 40))) == ((1,), (0,))
    assert GIN_RUMMY.ranking_at_limit(position()) is None


def test_GIN_SCORE_6_the_summary_of_the_last_hand() -> None:
    score = ended(defending("3D | KC 7H", scores=(90, 40), boxes=(3, 1)), "done")
    assert score.headline == (phrase("knock_by", seat=SeatValue(0)),)
    assert score.notes == (
        (
            phrase("deadwood", points=NumberValue(3)),
            phrase("for_game", points=NumberValue(100)),
            phrase("for_boxes", points=NumberValue(80)),
        ),
        (phrase("deadwood", points=NumberValue(17)), phrase("for_boxes", points=NumberValue(20))),
    )
    assert score.details == (
        Mark("ending", None, WordValue("knock")),
        Mark("knocker", None, SeatValue(0)),
        Mark("deadwood", None, PointsValue((3, 17))),
        Mark("game_bonus", None, PointsValue((100, 0))),
        Mark("box_bonus", None, PointsValue((80, 20))),
    )
    assert score.counts == (Count("rounds_won", 0), Count("knocks", 0))


def test_GIN_SCORE_6_what_statistics_count() -> None:
    undercut = ended(defending("9D | 9S"), "done")
    assert undercut.counts == (Count("rounds_won", 1), Count("knocks", 0), Count("undercuts", 1))
    assert ended(defending("| 2S", knock="gin"), "done").counts == (Count("rounds_won", 0), Count("gins", 0))
    assert ended(position(stock="KD 2H 8C"), "stock KD").counts == ()


def test_a_refused_action_changes_nothing() -> None:
    state = position()
    with pytest.raises(IllegalAction, match="draw from"):
        GIN_RUMMY.apply(state, SeatActed(0, GIN_RUMMY.legal_actions(acts(state, "stock"), 0).actions[0]))
    assert state == position()
