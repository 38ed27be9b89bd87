"""Points, the section sheet, the end and the ranking of Jøssing."""

from random import Random

import pytest

from croupier.games.facts import Count, GameEnded, RoundEnded, TurnChanged
from croupier.games.interface import GameOver, ShuffleNeeded
from croupier.games.jossing import JossingState, scoring
from tests.games.positions_jossing import JOSSING, acts, acts_with_facts, new, section
from tests.games.walk import Step, walk


@pytest.mark.parametrize(
    ("bid", "won", "classic", "modern"),
    [
        pytest.param(3, 3, 13, 20, id="JOS-SCORE-2 JOS-SCORE-3 three"),
        pytest.param(0, 0, 10, 5, id="JOS-SCORE-2 JOS-SCORE-3 none"),
        pytest.param(2, 1, 0, 0, id="JOS-SCORE-1 too few"),
        pytest.param(1, 1, 11, 10, id="JOS-SCORE-2 JOS-SCORE-3 one"),
        pytest.param(2, 4, 0, 0, id="JOS-SCORE-1 too many"),
        pytest.param(0, 1, 0, 0, id="JOS-SCORE-1 one instead of none"),
        pytest.param(10, 10, 20, 55, id="JOS-SCORE-2 JOS-SCORE-3 all"),
    ],
)
def test_what_a_bid_brings(bid: int, won: int, classic: int, modern: int) -> None:
    assert scoring.section_points((bid,), (won,), modern=False) == (classic,)
    assert scoring.section_points((bid,), (won,), modern=True) == (modern,)


LINE = "0=2 1=0 0:AH 1:KH 0:2S 1:QH"


def test_JOS_END_0_a_section_is_scored_with_its_last_trick() -> None:
    state = section(["AH 2S", "KH QH"], "9S", dealer=1)
    almost, done = acts(state, LINE.rsplit(" ", 1)[0]), acts(state, LINE)
    assert (almost.scores, done.scores) == ((0, 0), (12, 10))
    assert isinstance(done.awaiting, ShuffleNeeded)
    assert done.awaiting.round_number == 3


def test_the_line_of_the_section_sheet() -> None:
    _, facts = acts_with_facts(section(["AH 2S", "KH QH"], "9S", dealer=1), LINE.replace("1=0", "1=1"))
    ended = RoundEnded(
        2,
        (12, 0),
        (12, 0),
        ("bid 2, won 2", "bid 1, won 0"),
        "section 2, 2 cards, trump spades",
        (
            ("section", "2"),
            ("cards", "2"),
            ("dealer", "1"),
            ("indicator", "9S"),
            ("trump", "S"),
            ("leader", "0"),
            ("bids", "2 1"),
            ("tricks", "2 0"),
        ),
        (Count("bids", 0), Count("bids", 1), Count("bids_hit", 0), Count("tricks_won", 0, 2)),
    )
    assert facts[-2:] == (ended, TurnChanged("deal", ()))


def test_the_headline_of_a_section_of_one_card() -> None:
    _, facts = acts_with_facts(section(["2C", "3C"], "5D"), "0=0 1=0 1:3C 0:2C")
    assert [fact.headline for fact in facts if isinstance(fact, RoundEnded)] == ["section 1, 1 card, trump diamonds"]


def whole_game(seats: int, seed: int, **options: str) -> list[Step]:
    """A game by chance."""
    return list(walk(JOSSING, new(seats, **options), Random(seed)))


@pytest.mark.parametrize(("game_type", "sections"), [("up", 6), ("up_and_down", 12)])
def test_JOS_END_1_JOS_END_2_the_game_ends_with_the_last_section(game_type: str, sections: int, seed: int) -> None:
    steps = whole_game(8, seed, game_type=game_type)
    ended = [fact for step in steps for fact in step.facts if isinstance(fact, RoundEnded)]
    assert [line.round_number for line in ended] == list(range(1, sections + 1))
    assert ended[-1].totals == tuple(map(sum, zip(*(line.points for line in ended), strict=True)))
    last = steps[-1]
    assert isinstance(last.after, JossingState)
    ranking = scoring.ranking(ended[-1].totals)
    assert last.after.awaiting == GameOver(ranking, "sections_played")
    assert last.facts[-2:] == (TurnChanged("over", ()), GameEnded(ranking, "sections_played"))
    assert not any(isinstance(fact, GameEnded) for step in steps[:-1] for fact in step.facts)
    places = [ended[-1].totals[group[0]] for group in ranking]
    assert places == sorted(places, reverse=True)
