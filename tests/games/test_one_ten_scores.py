"""Points, the bonus, made and failed bids, the winner and the ranking of 110."""

from typing import Any

import pytest

from croupier.games.facts import RoundScore, Seat
from croupier.games.interface import resolve_options
from croupier.games.one_ten import OneTenState, scoring
from croupier.games.one_ten.scoring import Line, Round, Top
from croupier.games.one_ten.state import OneTenOptions
from tests.games import dispatch
from tests.games.positions import acts_with_facts, details, ended, over, ranking_text, refusals
from tests.games.positions_one_ten import ONE_TEN, ROUND, ROUND_HANDS, position

OTHER_LEADER = "2:KH 0:2H 1:QH 2:KD 0:QD 1:TD 2:9D 0:5S 1:2S 0:JS 1:3S 2:2D 0:KC 1:4C 2:5C"
FIVE = {"line": "0:5S 1:2S 2:9D 0:QD 1:TD 2:KD 2:KH 0:2H 1:QH 2:5C 0:KC 1:4C 0:JS 1:3S 2:2D"}
PLAIN = {"line": "0:QD 1:TD 2:KD 2:KH 0:2H 1:QH 2:5C 0:KC 1:4C 0:5S 1:2S 2:9D 0:JS 1:3S 2:2D"}
SCORE: dict[str, Any] = {"bonus_forfeit": "score"}
SILENT: dict[str, Any] = {"bonus_counts_for_bid": False}
LONG: dict[str, Any] = {"bid_ladder": "long"}


def played(
    bid: int, before: tuple[int, ...] = (0, 0, 0), bidder: Seat = 0, line: str = ROUND, **options: Any
) -> tuple[OneTenState, RoundScore]:
    """Return the round of the examples, with its end."""
    start = position(ROUND_HANDS, bidder=bidder, bid=bid, scores=before, **options)
    state, facts = acts_with_facts(start, line)
    return state, ended(facts)


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
    state, round_ended = played(bid, before, **options)
    assert round_ended.points == points
    assert dispatch.scores(state) == round_ended.totals == after


def test_110_EX_45_with_seat_2_as_the_bid_winner_the_bonus_goes_elsewhere() -> None:
    state, round_ended = played(15, bidder=2, line=OTHER_LEADER)
    assert round_ended.points == dispatch.scores(state) == (20, 0, -15)
    assert round_ended.notes == ("3 tricks, top trump", "0 tricks", "bid 15 failed, 2 tricks")


def line(winners: str, top: Top | None, bid: int = 15, before: tuple[int, ...] = (0, 0, 0), **options: Any) -> Line:
    """Return the line of a round of seat 0 in which these seats of three took the tricks."""
    table = OneTenOptions.of(3, resolve_options(ONE_TEN, 3, options))
    return scoring.scored(table, before, Round(0, bid, tuple(map(int, winners)), top))


@pytest.mark.parametrize(
    ("scored", "bonus", "points"),
    [
        pytest.param(line("0001", Top(3, 1, 0)), 1, (15, 10, 0), id="110-SCORE-2 110-D18"),
        pytest.param(line("0001", None), None, (15, 5, 0), id="110-SCORE-2 no trump was played"),
        pytest.param(line("000", Top(0, 0, 0), before=(85, 0, 0)), 0, (20, 0, 0), id="110-SCORE-3 110-D17"),
        pytest.param(line("000", Top(0, 0, 0), before=(84, 0, 0), **SCORE), 0, (20, 0, 0), id="110-SCORE-3 84"),
        pytest.param(line("000", Top(0, 0, 0), before=(85, 0, 0), **SCORE), None, (15, 0, 0), id="110-SCORE-3 85"),
        pytest.param(line("000", Top(0, 0, 0), before=(109, 0, 0), **SCORE), None, (15, 0, 0), id="110-SCORE-3 109"),
        pytest.param(line("0" * 10, Top(0, 0, 0), 85, **LONG), None, (-85, 0, 0), id="110-SCORE-3 a bid of 85"),
        pytest.param(line("0001", Top(3, 1, 0), 85, **LONG), 1, (-85, 10, 0), id="110-SCORE-3 others never forfeit"),
        pytest.param(line("0001", Top(3, 1, 0), before=(90, 90, 90), **SCORE), 1, (15, 10, 0), id="110-SCORE-3 others"),
        pytest.param(line("0011", Top(0, 0, 0), 20), None, (-20, 10, 0), id="110-SCORE-5"),
        pytest.param(line("0011", Top(3, 1, 0), 20), 1, (-20, 15, 0), id="110-SCORE-5 the bonus of somebody else"),
    ],
)
def test_points_and_bonus(scored: Line, bonus: Seat | None, points: tuple[int, ...]) -> None:
    assert (scored.bonus, scored.points, scored.made) == (bonus, points, points[0] > 0)


@pytest.mark.parametrize(
    ("hands", "text", "trick", "seat", "card"),
    [
        pytest.param("KD 9D | 2D 3D", "KD 2D 9D 3D", "none", "none", "none", id="110-D18 no trump was played"),
        pytest.param("KD TS | 2D 3D", "KD 2D TS 3D", "1", "0", "TS", id="110-SCORE-2 the lowest trump"),
        pytest.param("9D 5S | 5S 3D", "9D 5S 3D 5S", "0", "1", "5S", id="110-SCORE-2 the earlier of two"),
    ],
)
def test_the_highest_trump_of_a_round(hands: str, text: str, trick: str, seat: str, card: str) -> None:
    _, facts = acts_with_facts(position(hands, decks=2), text)
    found_details = details(facts)
    assert (found_details["top_trump_trick"], found_details["top_trump_seat"], found_details["top_trump_card"]) == (
        trick,
        seat,
        card,
    )


def test_110_SCORE_6_the_round_summary() -> None:
    _, made = played(20, (5, 10, 15), dealer=1)
    found_details = " ".join(f"{name}={value.replace(' ', ',')}" for name, value in made.details)
    assert found_details == (
        "round=1 dealer=1 bid_winner=0 bid=20 trump=S tricks=3,0,2 made=true top_trump_trick=0 top_trump_seat=0 "
        "top_trump_card=5S bonus=0 points=20,0,10 scores=25,10,25"
    )
    assert made.headline == "bid of 20 with trump spades made"
    assert made.notes == ("bid 20 made, 3 tricks, top trump", "0 tricks", "2 tricks")
    _, failed = played(25)
    assert dict(failed.details)["bonus"] == "none"
    assert failed.notes[0] == "bid 25 failed, 3 tricks, top trump without bonus"
    assert failed.headline == "bid of 25 with trump spades failed"


# The end of the game


SCORED = {"max_rounds": 1}


@pytest.mark.parametrize(
    ("before", "bid", "options", "after", "end"),
    [
        pytest.param((95, 0, 105), 15, {}, (115, 0, 115), "0 > 2 > 1 target", id="110-EX-46 110-D19"),
        pytest.param((95, 0, 105), 15, PLAIN, (115, 0, 115), "2 > 0 > 1 target", id="110-EX-47"),
        pytest.param((90, 0, 105), 15, FIVE, (110, 0, 115), "2 > 0 > 1 target", id="110-END-2 from the scores before"),
        pytest.param((95, 0, 105), 25, {}, (70, 0, 115), "2 > 0 > 1 target", id="110-EX-48"),
        pytest.param((95, 20, 10), 15, {}, (115, 20, 20), "0 > 1 = 2 target", id="110-EX-49 110-END-3"),
        pytest.param((105, 0, 0), 15, {}, (125, 0, 10), "0 > 2 > 1 target", id="110-END-1 110-D20"),
        pytest.param((89, 0, 99), 15, {}, (109, 0, 109), "", id="110-END-1 nobody has 110"),
        pytest.param((0, 0, 0), 15, SCORED, (20, 0, 10), "0 > 2 > 1 max_rounds", id="110-END-4 110-D21"),
        pytest.param((35, 0, 0), 25, SCORED, (10, 0, 10), "0 = 2 > 1 max_rounds", id="110-END-4 a tie"),
        pytest.param((0, 0, 0), 15, {"max_rounds": 2}, (20, 0, 10), "", id="110-END-4 a round is left"),
        pytest.param((95, 0, 105), 15, SCORED, (115, 0, 115), "0 > 2 > 1 target", id="110-END-4 110 comes first"),
    ],
)
def test_the_end_of_a_game(
    before: tuple[int, ...], bid: int, options: dict[str, Any], after: tuple[int, ...], end: str
) -> None:
    state, _ = played(bid, before, **options)
    assert dispatch.scores(state) == after
    assert state.phase == ("over" if end else "deal")
    if end:
        assert f"{ranking_text(over(state).ranking)} {over(state).reason}" == end
        assert {rule for seat in range(4) for rule in refusals(state, "pass 2C", seat)} == {"110-END-1"}


def test_110_END_2_the_bonus_counts_with_its_trick_and_a_failed_bid_winner_not_at_all() -> None:
    bonus_last = line("020", Top(2, 0, 0))
    assert scoring.game_winner((100, 0, 105), bonus_last) == 2
    bonus_first = line("020", Top(0, 0, 0))
    assert scoring.game_winner((100, 0, 105), bonus_first) == 0
    failed = line("002", Top(0, 0, 0), bid=30)
    assert scoring.game_winner((105, 0, 105), failed) == 2
    assert scoring.game_winner((0, 0, 0), failed) is None
