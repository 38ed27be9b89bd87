"""The sensible bot, the determinization and the evaluation of Jøssing."""

from random import Random
from typing import Any

import pytest

from croupier.games.facts import Seat
from croupier.games.jossing import JossingState
from croupier.games.jossing.chances import tricks_distribution
from tests.games.positions import acts, hand, word
from tests.games.positions_jossing import JOSSING, new, section
from tests.games.seats import observation


@pytest.mark.parametrize(
    ("hands", "trump", "line", "options", "expected"),
    [
        pytest.param("AH KH QH | 2C 3C 4D", "2H", "", {}, "0:3", id="high-trumps-are-tricks"),
        pytest.param("AC KC QH | 2C 3C 4D | 2S 3S 5D", "2H", "", {}, "1:0", id="low-cards-are-none"),
        pytest.param("2C | 4C", "2H", "", {}, "1:1", id="the-leader-wins-with-a-low-card"),
        pytest.param("2C | 4C | 5C | 6C", "2H", "", {}, "2:0", id="but-not-without-the-lead"),
        pytest.param("AH KH | 2C 3C", "2H", "1:0", {"hook": True}, "0:1", id="heeds-the-hook"),
        pytest.param("5C AS | 9C KC", "QH", "1:0 0:1 9C", {}, "0:5C", id="keeps-the-sure-trick"),
        pytest.param("AC 2S | 9C KC", "QH", "1:0 0:1 9C", {}, "0:AC", id="takes-what-it-needs"),
        pytest.param("TC 5C | 9C KC", "QH", "1:0 0:0 9C", {}, "0:5C", id="stays-below-when-it-has-enough"),
        pytest.param("5C AC | KC 2C", "QH", "1:0 0:0 KC", {}, "0:5C", id="does-not-win-against-its-bid"),
        pytest.param("AS 2D | 9C KC", "QH", "1:0 0:0 9C", {}, "0:AS", id="throws-what-might-win"),
        pytest.param("3H 4H | 9C KC", "QH", "1:1 0:2 9C", {}, "0:3H", id="ruffs-when-it-needs-all"),
    ],
)
def test_sensible_decisions_in_plain_positions(
    hands: str, trump: str, line: str, options: dict[str, Any], expected: str
) -> None:
    state, seat = acts(section(hands, trump, **options), line), int(expected[0])
    decided = JOSSING.bots["sensible"](observation(JOSSING, state, seat, options), Random(1).randrange)
    assert f"{seat}:{word(decided)}" == expected


def test_the_distribution_of_independent_tricks() -> None:
    assert tricks_distribution([]) == [1.0]
    assert tricks_distribution([0.5, 0.5]) == [0.25, 0.5, 0.25]
    assert tricks_distribution([1.0, 0.0, 1.0]) == [0.0, 0.0, 1.0, 0.0]


def determinized(state: JossingState, seat: Seat, seed: int) -> Any:
    """Return a table that fits the knowledge of a seat."""
    return JOSSING.determinize(observation(JOSSING, state, seat, {}), Random(seed).randrange)


def test_determinized_hands_lack_suits_that_were_not_followed() -> None:
    start = section("2C 3C 4C 5C | 6C 2D 3D 4D | 7H 2S 3S 4S", "KH", dealer=2)
    state = acts(start, "0:1 1:1 2:1 0:2C 6C 7H 2S 3C")
    for number in range(50):
        table = determinized(state, 1, number)
        assert "C" not in "".join(hand(table, 2))
        assert "S" not in "".join(hand(table, 0))


def test_determinized_secret_bids_fit_the_hands() -> None:
    state = acts(section("2C 3C | AH KH | 4C 5D", "QH"), "0:2 1:0")
    found = [determinized(state, 2, number).bids for number in range(30)]
    assert {tuple(bid.seat for bid in bids) for bids in found} == {(0, 1)}
    assert len({tuple(bid.amount for bid in bids) for bids in found}) > 1
    done = acts(state, "2:1")
    assert determinized(done, 1, 1).bids == done.bids


def test_evaluation_compares_the_gains_of_seats() -> None:
    state = section("AH 2S | KH QH", "9S", dealer=1)
    playing = acts(state, "0:2 1:1")
    assert JOSSING.evaluate(playing, acts(playing, "AH KH 2S QH")) == (1.0, 0.0)
    assert JOSSING.evaluate(state, playing)[0] > 0.5 > JOSSING.evaluate(state, playing)[1]
    assert JOSSING.evaluate(new(2), new(2)) == (0.5, 0.5)
    assert JOSSING.evaluate(playing, acts(playing, "AH KH"))[1] > 0
