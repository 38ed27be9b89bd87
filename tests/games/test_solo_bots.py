"""The sensible bot, the determinization and the evaluation of Solo."""

from random import Random

import pytest

from croupier.games.actions import Action, Play
from croupier.games.bots import random_legal
from croupier.games.interface import Observation, OptionValues, RandomSource
from croupier.games.solo import SoloState, determinization
from croupier.games.solo.deck import BLACK_QUEENS, PLAIN
from croupier.games.standings import ranked
from tests.games.positions import acts, ranking_text, to_act, word
from tests.games.positions_solo import (
    BIDDERS,
    CALLED_UNKNOWN,
    EIGHTH,
    FIVE_OF_FIVE,
    FROKE,
    MARRIED,
    NINTH,
    SOLO,
    TWELFTH,
    UNKNOWN,
    VOID,
    dealt,
    exchanged,
)
from tests.games.seats import is_significantly_better, observation, places

STRONG = "QC QS 7C AC KC JC TC AD | 9C 8C 7D 8D 9D TD JD QD | KD 7H 8H 9H TH JH QH KH | AH 7S 8S 9S TS JS KS AS"
GOOD = "QC 7H AH KH QH 8C AD KD | 8H 9H TC KC 7D 8D 9D TD | QS JH AC 7C AS KS JS TS | TH JD QD JC 9C 7S 8S 9S"
WEAK = "QC QS 7D 8D 7H 8H 7S 8S | 7C 8C 9C TC JC KC AC 9D | TD JD QD KD AD 9H TH JH | QH KH AH 9S TS JS KS AS"
HEARTS = exchanged(EIGHTH, "8C TH", "9C 8D")
LOOKING = f"{FROKE} KH TH 8H 7S AH 7D 9H 8S QC 8D JH"
FIVE_WON = "7C 9C 7H 7S QC 8C 8H 8S QS 7D 9H 9S AC 8D TH TS KC 9D JH JS"


def decides(state: SoloState, options: OptionValues) -> str:
    """Return the action of the sensible bot on the seat to act."""
    return word(SOLO.bots["sensible"](observation(SOLO, state, to_act(state) or 0, options), Random(1).randrange))


@pytest.mark.parametrize(
    ("hands", "line", "expected"),
    [
        pytest.param(STRONG, "", "solo_do_clubs", id="bids-what-it-can-win-alone"),
        pytest.param(GOOD, "", "solo", id="bids-a-solo"),
        pytest.param(HEARTS, "", "froke", id="bids-a-froke"),
        pytest.param(BIDDERS, "", "iss", id="bids-an-iss"),
        pytest.param(WEAK, "", "wedding", id="bids-the-wedding"),
        pytest.param(EIGHTH, "pass pass pass", "pass", id="passes-with-little"),
        pytest.param(MARRIED, "froke pass pass iss", "wedding", id="calls-the-wedding-it-owes"),
        pytest.param(EIGHTH, "froke pass pass pass", "trump:H", id="names-its-longest-suit"),
        pytest.param(EIGHTH, "froke pass pass pass trump:H", "call:AD", id="calls-the-ace-of-its-shortest-suit"),
        pytest.param(UNKNOWN, "froke pass pass pass trump:D", "call:unknown", id="calls-the-unknown-ace"),
        pytest.param(TWELFTH, FROKE, "QC", id="draws-trumps"),
        pytest.param(EIGHTH, f"{FROKE} TD 8D QD", "KD", id="wins-as-cheaply-as-can-be"),
        pytest.param(EIGHTH, f"{FROKE} 9S KS TS", "7S", id="plays-low-where-it-cannot-win"),
        pytest.param(TWELFTH, f"{FROKE} {FIVE_OF_FIVE}", "throw_down", id="throws-down-what-is-not-sure"),
        pytest.param(NINTH, f"{LOOKING} JS", "9C", id="looks-for-its-partner"),
    ],
)
def test_sensible_decisions_in_plain_positions(hands: str, line: str, expected: str) -> None:
    assert decides(acts(dealt(hands), line), {}) == expected


def test_the_called_card_is_played_where_nobody_forces_it() -> None:
    state = acts(dealt(VOID, called_card_rule="penalty"), f"{LOOKING} 7C 7H KC QH TC TD KD")
    assert decides(state, {"called_card_rule": "penalty"}) == "AC"


def test_sensible_goes_through_with_nothing_but_winners() -> None:
    line = f"solo_clubs pass pass pass trump:C {FIVE_WON}"
    assert decides(acts(dealt(STRONG), line), {}) == "AD"
    assert decides(acts(dealt(STRONG, through_factor=1), line), {"through_factor": 1}) == "throw_down"


@pytest.mark.slow
def test_sensible_card_play_wins_among_players_with_the_same_bidding() -> None:
    def bids_alone(observation: Observation, randrange: RandomSource) -> Action:
        """Return sensible bids and calls, and random card plays."""
        playing = isinstance(observation.legal.actions[0], Play)
        return random_legal(observation, randrange) if playing else SOLO.bots["sensible"](observation, randrange)

    assert is_significantly_better(places(SOLO, 4, {}, SOLO.bots["sensible"], bids_alone, games=80))


# Determinization and evaluation


def test_determinized_tables_respect_voids_and_the_called_card() -> None:
    state = acts(dealt(EIGHTH), f"{FROKE} TD 8D QD KD AD 9S")
    random = Random(3)
    for _ in range(30):
        determinized = determinization.determinize(observation(SOLO, state, 1, {}), random.randrange)
        holder = determinized.contract.partner
        assert holder in (2, 3)
        assert determinized.hands[holder] >> (determinized.contract.called) & 1
        assert not determinized.hands[0] & PLAIN[1]


def test_determinized_weddings_have_both_queens_in_one_hand() -> None:
    state = acts(dealt(MARRIED), "pass wedding pass pass call:AS trump:D")
    random = Random(3)
    for _ in range(30):
        determinized = determinization.determinize(observation(SOLO, state, 0, {}), random.randrange)
        assert determinized.hands[1] & BLACK_QUEENS == BLACK_QUEENS
        assert determinized.hands[3] >> determinized.contract.called & 1


def test_a_determinized_unknown_card_may_be_any_possible_ace() -> None:
    state = acts(dealt(UNKNOWN), CALLED_UNKNOWN)
    state = acts(state, "AC 7C")
    random, found = Random(3), set()
    for _ in range(40):
        determinized = determinization.determinize(observation(SOLO, state, 2, {}), random.randrange)
        found.add(determinized.contract.called)
        others = sum(1 << ace for ace in (12, 38, 51) if ace != determinized.contract.called)
        assert not (determinized.hands[1] | determinized.hands[3]) & others
    assert found == {38, 51}


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        pytest.param("", f"{FROKE} {FIVE_OF_FIVE} throw_down", "0 = 2 > 1 = 3", id="a-hand-made"),
        pytest.param(FROKE, f"{FROKE} QC 8H JH TH", "0 = 2 > 1 = 3", id="a-trick-won"),
        pytest.param("", "solo_do_clubs pass pass pass trump:C 8C KC AC TH", "1 = 2 = 3 > 0", id="the-buck"),
        pytest.param("", "pass", "0 = 1 = 2 = 3", id="nothing-yet"),
    ],
)
def test_evaluation_follows_points_and_tricks(before: str, after: str, expected: str) -> None:
    values = SOLO.evaluate(acts(dealt(TWELFTH), before), acts(dealt(TWELFTH), after))
    assert ranking_text(ranked(range(4), lambda seat: -values[seat])) == expected
    assert all(0 <= value <= 1 for value in values)
