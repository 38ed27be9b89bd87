"""The ranking of a game that ends at a limit of the operator; the laws compare it with the judge's at every step."""

import pytest

from croupier.games.facts import Seat
from croupier.games.interface import OptionValue, State, resolve_options
from croupier.games.registry import GAMES
from tests.games import dispatch

Ranking = tuple[tuple[Seat, ...], ...] | None


def new(game: str, seats: int, **options: OptionValue) -> State:
    """Return a table before its first deal."""
    rules = GAMES[game]
    return rules.new(seats, resolve_options(rules, seats, options))


def with_progress(state: State, **progress: object) -> State:
    """Return a table with changes of what stays between rounds."""
    return state._replace(progress=state.progress._replace(**progress))


def in_section(number: int, totals: tuple[int, ...]) -> State:
    """Return a table of Jøssing in a section."""
    state = new("jossing", 3)
    return state._replace(section=state.section._replace(number=number), totals=totals)


OH_ONE, TEN, SOLO = new("one_oh_one", 3), new("one_ten", 3), new("solo", 4)
DROPPED = new("one_oh_one", 4, elimination=True)
BY_HAND = new("solo", 4, ranking="out_order")
MATCH = new("thulla", 3, best_of=5)
PENALTIES = new("thulla", 3, best_of=5, scoring="cards")
ONE_OUT = {"totals": (20, 36, 5, 20), "went_out": (0, 4, 0, 0)}
TWO_OUT = {"totals": (36, 36, 5, 20), "went_out": (6, 4, 0, 0)}


@pytest.mark.parametrize(
    ("state", "ranking"),
    [
        pytest.param(
            with_progress(TEN, round_number=3, totals=(20, -15, 20)), ((0, 2), (1,)), id="110-END-5 by scores"
        ),
        pytest.param(with_progress(TEN, round_number=1), None, id="110-END-5 void in the first round"),
        pytest.param(in_section(2, (11, 0, 12)), ((2,), (0,), (1,)), id="JOS-END-4 by totals"),
        pytest.param(in_section(1, (0, 0, 0)), None, id="JOS-END-4 void in the first section"),
        pytest.param(
            with_progress(OH_ONE, round_number=2, totals=(30, -20, 30)), ((1,), (0, 2)), id="101-END-5 by scores"
        ),
        pytest.param(
            with_progress(DROPPED, round_number=9, totals=(120, 7, 101, 9), dropped=((2,), (0,))),
            ((1,), (3,), (2,), (0,)),
            id="101-END-5 behind those in the game come the dropped",
        ),
        pytest.param(with_progress(OH_ONE, round_number=1), None, id="101-END-5 void in the first round"),
        pytest.param(with_progress(SOLO, **ONE_OUT), ((1,), (0, 2, 3)), id="SOLO-END-6 one is out"),
        pytest.param(with_progress(SOLO, **TWO_OUT), ((0, 1), (2, 3)), id="SOLO-END-6 two are out"),
        pytest.param(
            with_progress(BY_HAND, **TWO_OUT), ((1,), (0,), (2, 3)), id="SOLO-END-6 in the order of going out"
        ),
        pytest.param(with_progress(SOLO, totals=(35, 0, 0, 8)), None, id="SOLO-END-6 void while nobody is out"),
        pytest.param(
            with_progress(MATCH, orders=((1, 0, 2), (1, 2, 0))), ((1,), (0, 2)), id="THU-MATCH-5 by wins and places"
        ),
        pytest.param(
            with_progress(PENALTIES, orders=((1, 0, 2),), totals=(3, 4, 1)),
            ((2,), (0,), (1,)),
            id="THU-MATCH-5 by penalties",
        ),
        pytest.param(with_progress(MATCH, round_number=1), None, id="THU-MATCH-5 void in the first game"),
    ],
)
def test_the_ranking_at_a_limit(state: State, ranking: Ranking) -> None:
    assert dispatch.ranking_at_limit(state) == ranking
