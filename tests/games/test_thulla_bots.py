"""The sensible player of Thulla: what it does in plain positions, and how it fares against chance."""

from random import Random
from typing import Any

import pytest

from croupier.games.actions import Play
from croupier.games.cards import NOTATION, STANDARD_DECK
from croupier.games.facts import Seat
from tests.games.positions_thulla import THULLA, plays, position
from tests.games.seats import seen


@pytest.mark.parametrize(
    ("hands", "line", "seat", "expected", "options"),
    [
        pytest.param({0: "5H AH 2S", 1: "3H 4H", 2: "6H 7H"}, "", 0, "AH", {}, id="leads-high-where-all-follow"),
        pytest.param({0: "5H AH 2S", 1: "3C 4H", 2: "6D 7D"}, "", 0, "2S", {}, id="leads-low-where-a-cut-is-likely"),
        pytest.param({0: "9H 3D", 1: "2H 7H KH", 2: "4C 5C 6C"}, "0:9H", 1, "7H", {}, id="stays-below-a-cut"),
        pytest.param({0: "9H 3D", 1: "2H 7H KH"}, "0:9H", 1, "KH", {}, id="plays-high-as-the-last"),
        pytest.param({0: "9H 2S 3S 4S", 1: "2C AD 3S"}, "0:9H", 1, "AD", {}, id="cuts-with-a-dangerous-card"),
        pytest.param({0: "9H 3D", 1: "5H 4C"}, "", 0, "3D", {"pickup": "cutter"}, id="baits-the-cutter"),
    ],
)
def test_sensible_play_in_plain_positions(
    hands: dict[Seat, str], line: str, seat: Seat, expected: str, options: dict[str, Any]
) -> None:
    state = plays(position(hands, **options), line)
    played = THULLA.bots["sensible"](seen(THULLA, state, seat, options), Random(1).randrange)
    assert isinstance(played, Play)
    assert NOTATION[played.card] == expected


def test_the_ace_is_not_forced_again_when_all_cards_are_back_in_hands() -> None:
    deck = [NOTATION[value] for value in STANDARD_DECK if NOTATION[value] != "2C"]
    state = position({1: " ".join(deck[:20]), 2: " ".join(deck[20:])}, leader=2, out=(0,))
    given = seen(THULLA, state, 2, {})
    imagined = THULLA.imagine(given, Random(1).randrange)
    assert len(given.legal.actions) == 31
    assert imagined.legal_actions(2) == given.legal
