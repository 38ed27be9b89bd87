"""Points, the bonus, made and failed bids, the winner and the ranking of 110."""

from typing import Any

import pytest

from croupier.games.actions import PLAYS, Pass
from croupier.games.facts import GameEnded, RoundEnded, Seat, TurnChanged
from croupier.games.interface import GameOver, resolve_options
from croupier.games.one_ten import OneTenState, scoring
from croupier.games.one_ten.scoring import Line, Round, Top
from croupier.games.one_ten.table import Table
from tests.games.positions_one_ten import (
    ONE_TEN,
    ROUND,
    ROUND_HANDS,
    acts_with_facts,
    position,
    refusal,
    round_end,
)

OTHER_LEADER = "2:KH 0:2H 1:QH 2:KD 0:QD 1:TD 2:9D 0:5S 1:2S 0:JS 1:3S 2:2D 0:KC 1:4C 2:5C"
FIVE_FIRST = "0:5S 1:2S 2:9D 0:QD 1:TD 2:KD 2:KH 0:2H 1:QH 2:5C 0:KC 1:4C 0:JS 1:3S 2:2D"
PLAIN_FIRST = "0:QD 1:TD 2:KD 2:KH 0:2H 1:QH 2:5C 0:KC 1:4C 0:5S 1:2S 2:9D 0:JS 1:3S 2:2D"
SCORE, SILENT, LONG = {"bonus_forfeit": "score"}, {"bonus_counts_for_bid": False}, {"bid_ladder": "long"}


def played(
    bid: int, before: tuple[int, ...] = (0, 0, 0), bidder: Seat = 0, line: str = ROUND, **options: Any
) -> tuple[OneTenState, RoundEnded]:
    """The round of the examples, with its end."""
    start = position(ROUND_HANDS, bidder=bidder, bid=bid, scores=before, hand_size="5", **options)
    state, facts = acts_with_facts(start, line)
    return state, round_end(facts)


@pytest.mark.parametrize(
    ("bid", "before", "options", "points", "after"),
    [
        pytest.param(15, (0, 0, 0), {}, (20, 0, 10), (20, 0, 10), id="110-EX-36 110-SCORE-1 110-SCORE-4"),
        pytest.param(20, (0, 0, 0), {}, (20, 0, 10), (20, 0, 10), id="110-EX-37 110-D16"),
        pytest.param(25, (0, 0, 0), {}, (-25, 0, 10), (-25, 0, 10), id="110-EX-38"),
        pytest.param(20, (0, 0, 0), SILENT, (-20, 0, 10), (-20, 0, 10), id="110-EX-39"),
        pytest.param(15, (0, 0, 0), SILENT, (20, 0, 10), (20, 0, 10), id="110-EX-40"),
        pytest.param(15, (85, 0, 0), {}, (20, 0, 10), (105, 0, 10), id="110-EX-41"),
        pytest.param(15, (85, 0, 0), SCORE, (15, 0, 10), (100, 0, 10), id="110-EX-42"),
        pytest.param(20, (85, 0, 0), SCORE, (-20, 0, 10), (65, 0, 10), id="110-EX-43"),
        pytest.param(85, (0, 0, 0), LONG, (-85, 0, 10), (-85, 0, 10), id="110-EX-44"),
    ],
)
def test_the_round_of_the_examples(
    bid: int, before: tuple[int, ...], options: dict[str, Any], points: tuple[int, ...], after: tuple[int, ...]
) -> None:
    state, ended = played(bid, before, **options)
    assert ended.points == points
    assert state.scores == ended.totals == after


def test_110_EX_45_with_seat_2_as_the_bid_winner_the_bonus_goes_elsewhere() -> None:
    state, ended = played(15, bidder=2, line=OTHER_LEADER)
    assert ended.points == state.scores == (20, 0, -15)
    assert ended.notes == ("3 tricks, top trump", "0 tricks", "bid 15 failed, 2 tricks")


def line(winners: tuple[Seat, ...], top: Top | None, bid: int = 15, bidder: Seat = 0, **options: Any) -> Line:
    """The line of a round in which these seats of three took the tricks; scores are those in `before`, else nought."""
    before = options.pop("before", (0, 0, 0))
    table = Table.of(3, resolve_options(ONE_TEN, 3, options))
    return scoring.scored(table, before, Round(bidder, bid, winners, top))


def test_110_SCORE_2_110_D18_the_bonus_goes_to_who_played_the_highest_trump() -> None:
    assert line((0, 0, 0, 1), Top(3, 1, 0)).points == (15, 10, 0)
    assert line((0, 0, 0, 1), None).bonus is None
    no_trump = position(["KD 9D", "2D 3D"], "S", size=2, bid=15)
    _, facts = acts_with_facts(no_trump, "0:KD 1:2D 0:9D 1:3D")
    details = dict(round_end(facts).details)
    assert (details["top_trump_card"], details["top_trump_seat"], details["bonus"]) == ("none", "none", "none")
    lowest = position(["KD TS", "2D 3D"], "S", size=2, bid=15)
    _, facts = acts_with_facts(lowest, "0:KD 1:2D 0:TS 1:3D")
    assert dict(round_end(facts).details)["top_trump_card"] == "TS"


def test_110_SCORE_2_of_two_equal_trumps_the_earlier_one_counts() -> None:
    state = position(["9D 5S", "5S 3D"], "S", size=2, bid=15, decks=2)
    _, facts = acts_with_facts(state, "0:9D 1:5S 1:3D 0:5S")
    details = dict(round_end(facts).details)
    assert (details["top_trump_trick"], details["top_trump_seat"], details["bonus"]) == ("0", "1", "1")


@pytest.mark.parametrize(
    ("forfeit", "bid", "before", "bonus"),
    [
        ("bid", 15, (85, 0, 0), 0),
        ("score", 15, (84, 0, 0), 0),
        ("score", 15, (85, 0, 0), None),
        ("score", 15, (109, 0, 0), None),
    ],
)
def test_110_SCORE_3_110_D17_the_bid_winner_may_forfeit_the_bonus(
    forfeit: str, bid: int, before: tuple[int, ...], bonus: Seat | None
) -> None:
    scored = line((0, 0, 0), Top(0, 0, 0), bid, bonus_forfeit=forfeit, before=before)
    assert scored.bonus == bonus
    assert scored.made


def test_110_SCORE_3_a_bid_of_85_always_fails_and_others_never_forfeit() -> None:
    scored = line((0,) * 10, Top(0, 0, 0), 85, bid_ladder="long")
    assert (scored.made, scored.bonus, scored.points) == (False, None, (-85, 0, 0))
    for before in ((0, 90, 0), (90, 0, 0), (90, 90, 90)):
        scored = line((0, 0, 0, 1), Top(3, 1, 0), before=before, bonus_forfeit="score")
        assert (scored.bonus, scored.points) == (1, (15, 10, 0))
    scored = line((0, 0, 0, 1), Top(3, 1, 0), 85, bid_ladder="long")
    assert (scored.bonus, scored.points) == (1, (-85, 10, 0))


def test_110_SCORE_5_failed_costs_the_bid_and_the_bonus_goes_to_nobody() -> None:
    scored = line((0, 0, 1, 1), Top(0, 0, 0), bid=20)
    assert (scored.made, scored.bonus, scored.points) == (False, None, (-20, 10, 0))
    scored = line((0, 0, 1, 1), Top(3, 1, 0), bid=20)
    assert (scored.made, scored.bonus, scored.points) == (False, 1, (-20, 15, 0))


def test_110_SCORE_6_the_round_summary() -> None:
    _, ended = played(20, (5, 10, 15), dealer=1)
    assert ended.details == (
        ("round", "1"),
        ("dealer", "1"),
        ("bid_winner", "0"),
        ("bid", "20"),
        ("trump", "S"),
        ("tricks", "3 0 2"),
        ("made", "true"),
        ("top_trump_trick", "0"),
        ("top_trump_seat", "0"),
        ("top_trump_card", "5S"),
        ("bonus", "0"),
        ("points", "20 0 10"),
        ("scores", "25 10 25"),
    )
    assert ended.headline == "bid of 20 with trump spades made"
    assert ended.notes == ("bid 20 made, 3 tricks, top trump", "0 tricks", "2 tricks")
    _, failed = played(25)
    assert dict(failed.details)["bonus"] == "none"
    assert failed.notes[0] == "bid 25 failed, 3 tricks, top trump without bonus"
    assert failed.headline == "bid of 25 with trump spades failed"


# The end of the game


@pytest.mark.parametrize(
    ("before", "bid", "order", "after", "ranking"),
    [
        pytest.param((95, 0, 105), 15, ROUND, (115, 0, 115), ((0,), (2,), (1,)), id="110-EX-46 110-D19"),
        pytest.param((95, 0, 105), 15, PLAIN_FIRST, (115, 0, 115), ((2,), (0,), (1,)), id="110-EX-47"),
        pytest.param(
            (90, 0, 105), 15, FIVE_FIRST, (110, 0, 115), ((2,), (0,), (1,)), id="110-END-2 from the scores before"
        ),
        pytest.param((95, 0, 105), 25, ROUND, (70, 0, 115), ((2,), (0,), (1,)), id="110-EX-48"),
        pytest.param((95, 20, 10), 15, ROUND, (115, 20, 20), ((0,), (1, 2)), id="110-EX-49 110-END-3"),
    ],
)
def test_the_winner_of_the_examples(
    before: tuple[int, ...], bid: int, order: str, after: tuple[int, ...], ranking: tuple[tuple[Seat, ...], ...]
) -> None:
    state, _ = played(bid, before, line=order)
    assert state.scores == after
    assert state.awaiting == GameOver(ranking, "target")


def test_110_END_1_110_D20_the_round_is_played_to_its_end_before_the_game_is_over() -> None:
    start = position(ROUND_HANDS, bid=15, scores=(105, 0, 0), hand_size="5")
    state, facts = acts_with_facts(start, ROUND)
    assert facts[-2:] == (TurnChanged("over", ()), GameEnded(((0,), (2,), (1,)), "target"))
    assert sum(isinstance(fact, GameEnded) for fact in facts) == 1
    assert state.view(0).ranking == ((0,), (2,), (1,))
    assert {refusal(state, seat, action) for seat in (0, 1, 2, 3) for action in (Pass(), PLAYS[0])} == {"110-END-1"}
    below, facts = acts_with_facts(position(ROUND_HANDS, bid=15, scores=(89, 0, 99), hand_size="5"), ROUND)
    assert below.scores == (109, 0, 109)
    assert facts[-1] == TurnChanged("deal", ())


def test_110_END_2_the_bonus_counts_with_its_trick_and_a_failed_bid_winner_not_at_all() -> None:
    bonus_last = line((0, 2, 0), Top(2, 0, 0))
    assert scoring.game_winner((100, 0, 105), bonus_last) == 2
    bonus_first = line((0, 2, 0), Top(0, 0, 0))
    assert scoring.game_winner((100, 0, 105), bonus_first) == 0
    failed = line((0, 0, 2), Top(0, 0, 0), bid=30)
    assert scoring.game_winner((105, 0, 105), failed) == 2
    assert scoring.game_winner((0, 0, 0), failed) is None


def test_110_END_4_110_D21_a_limit_of_rounds_ends_the_game_without_a_winner() -> None:
    state, _ = played(15, max_rounds=1)
    assert state.awaiting == GameOver(((0,), (2,), (1,)), "max_rounds")
    state, _ = played(25, (35, 0, 0), max_rounds=1)
    assert state.scores == (10, 0, 10)
    assert state.awaiting == GameOver(((0, 2), (1,)), "max_rounds")
    state, _ = played(15, max_rounds=2)
    assert state.phase == "deal"
    state, _ = played(15, (95, 0, 105), max_rounds=1)
    assert state.awaiting == GameOver(((0,), (2,), (1,)), "target")
