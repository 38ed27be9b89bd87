"""The sensible bot and the determinization of Thulla."""

from random import Random
from typing import Any

import pytest

from croupier.games.cards import STANDARD_DECK, notation
from tests.games import dispatch
from tests.games.positions import acts, to_act, word
from tests.games.positions_thulla import THULLA, position
from tests.games.seats import observation


@pytest.mark.parametrize(
    ("hands", "line", "options", "expected"),
    [
        pytest.param("5H AH 2S | 3H 4H | 6H 7H", "", {}, "AH", id="leads-high-where-all-follow"),
        pytest.param("5H AH 2S | 3C 4H | 6D 7D", "", {}, "2S", id="leads-low-where-a-cut-is-likely"),
        pytest.param("9H 3D | 2H 7H KH | 4C 5C 6C", "0:9H", {}, "7H", id="stays-below-a-cut"),
        pytest.param("9H 3D | 2H 7H KH", "0:9H", {}, "KH", id="plays-high-as-the-last"),
        pytest.param("9H 2S 3S 4S | 2C AD 3S", "0:9H", {}, "AD", id="cuts-with-a-dangerous-card"),
        pytest.param("9H 3D | 5H 4C", "", {"pickup": "cutter"}, "3D", id="baits-the-cutter"),
    ],
)
def test_sensible_play_in_plain_positions(hands: str, line: str, options: dict[str, Any], expected: str) -> None:
    state = acts(position(hands, **options), line)
    observed = observation(THULLA, state, to_act(state) or 0, options)
    assert word(THULLA.bots["sensible"](observed, Random(1).randrange)) == expected


def test_the_ace_is_not_forced_again_when_all_cards_are_back_in_hands() -> None:
    deck = notation(value for value in STANDARD_DECK if value)
    state = position(f"|{' '.join(deck[:20])}|{' '.join(deck[20:])}", leader=2, out=(0,))
    given = observation(THULLA, state, 2, {})
    determinized = THULLA.determinize(given, Random(1).randrange)
    assert len(given.legal.actions) == 31
    assert dispatch.legal_actions(determinized, 2) == given.legal
