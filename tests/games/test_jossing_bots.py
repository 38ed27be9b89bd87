"""The sensible player of Jøssing, what a searching one imagines, and how well a seat is told to have done."""

from random import Random
from typing import Any

import pytest

from croupier.games.actions import Action, Bid, action_to_json
from croupier.games.cards import notation
from croupier.games.facts import Seat
from croupier.games.hands import cards_in
from croupier.games.jossing import JossingState
from croupier.games.jossing.chances import spread
from tests.games.positions_jossing import JOSSING, acts, new, section
from tests.games.seats import seen

SENSIBLE = JOSSING.bots["sensible"]


def decides(state: JossingState, seat: Seat, **options: Any) -> Action:
    """What the sensible player does."""
    return SENSIBLE(seen(JOSSING, state, seat, options), Random(1).randrange)


@pytest.mark.parametrize(
    ("hands", "seat", "options", "expected"),
    [
        pytest.param(["AH KH QH", "2C 3C 4D"], 0, {}, 3, id="high-trumps-are-tricks"),
        pytest.param(["AC KC QH", "2C 3C 4D", "2S 3S 5D"], 1, {}, 0, id="low-cards-are-none"),
        pytest.param(["2C", "4C"], 1, {}, 1, id="the-leader-wins-with-a-low-card"),
        pytest.param(["2C", "4C", "5C", "6C"], 2, {}, 0, id="but-not-without-the-lead"),
    ],
)
def test_sensible_bids(hands: list[str], seat: Seat, options: dict[str, Any], expected: int) -> None:
    assert decides(section(hands, "2H", **options), seat, **options) == Bid(expected)


def test_the_sensible_dealer_heeds_the_hook() -> None:
    state = acts(section(["AH KH", "2C 3C"], "2H", hook=True), "1=0")
    assert decides(state, 0, hook=True) == Bid(1)


@pytest.mark.parametrize(
    ("hands", "line", "seat", "expected"),
    [
        pytest.param(["5C AS", "9C KC"], "1=0 0=1 1:9C", 0, "5C", id="keeps-the-sure-trick"),
        pytest.param(["AC 2S", "9C KC"], "1=0 0=1 1:9C", 0, "AC", id="takes-what-it-needs"),
        pytest.param(["TC 5C", "9C KC"], "1=0 0=0 1:9C", 0, "5C", id="stays-below-when-it-has-enough"),
        pytest.param(["5C AC", "KC 2C"], "1=0 0=0 1:KC", 0, "5C", id="does-not-win-against-its-bid"),
        pytest.param(["AS 2D", "9C KC"], "1=0 0=0 1:9C", 0, "AS", id="throws-what-might-win"),
        pytest.param(["3H 4H", "9C KC"], "1=1 0=2 1:9C", 0, "3H", id="ruffs-when-it-needs-all"),
    ],
)
def test_sensible_play_in_plain_positions(hands: list[str], line: str, seat: Seat, expected: str) -> None:
    state = acts(section(hands, "QH"), line)
    assert action_to_json(decides(state, seat)) == {"type": "play", "card": expected}


def test_the_spread_of_independent_chances() -> None:
    assert spread([]) == [1.0]
    assert spread([0.5, 0.5]) == [0.25, 0.5, 0.25]
    assert spread([1.0, 0.0, 1.0]) == [0.0, 0.0, 1.0, 0.0]


# Hands out of two packs


# Imagination


def test_imagined_hands_heed_suits_that_were_not_followed() -> None:
    hands = ["2C 3C 4C 5C", "6C 2D 3D 4D", "7H 2S 3S 4S"]
    state = acts(section(hands, "KH", dealer=2), "0=1 1=1 2=1 0:2C 1:6C 2:7H 2:2S 0:3C")
    for number in range(50):
        imagined = JOSSING.imagine(seen(JOSSING, state, 1, {}), Random(number).randrange)
        assert isinstance(imagined, JossingState)
        assert not {suit for suit in "".join(notation(cards_in(imagined.hands[2]))) if suit == "C"}
        assert not {suit for suit in "".join(notation(cards_in(imagined.hands[0]))) if suit == "S"}


def test_imagined_secret_bids_suit_the_imagined_hands() -> None:
    state = acts(section(["2C 3C", "AH KH", "4C 5D"], "QH"), "0=2 1=0")
    bids = set()
    for number in range(30):
        imagined = JOSSING.imagine(seen(JOSSING, state, 2, {}), Random(number).randrange)
        assert isinstance(imagined, JossingState)
        assert [bid.seat for bid in imagined.bids] == [0, 1]
        bids.add(tuple(bid.amount for bid in imagined.bids))
    assert len(bids) > 1
    own = JOSSING.imagine(seen(JOSSING, acts(state, "2=1"), 1, {}), Random(1).randrange)
    assert isinstance(own, JossingState)
    assert own.bids == acts(state, "2=1").bids


def test_ratings_compare_what_seats_gained() -> None:
    state = section(["AH 2S", "KH QH"], "9S", dealer=1)
    playing = acts(state, "0=2 1=1")
    done = acts(playing, "0:AH 1:KH 0:2S 1:QH")
    assert JOSSING.rate(playing, done) == (1.0, 0.0)
    assert JOSSING.rate(state, playing)[0] > 0.5 > JOSSING.rate(state, playing)[1]
    assert JOSSING.rate(new(2), new(2)) == (0.5, 0.5)
    lost = acts(playing, "0:AH 1:KH")
    assert JOSSING.rate(playing, lost)[1] > 0
