"""The sensible bot, the determinization and the evaluation of 110."""

from random import Random
from typing import Any

import pytest

from croupier.games.actions import KeepCards, SwapCards
from croupier.games.cards import cards
from croupier.games.facts import Seat
from croupier.games.interface import CardsShuffled
from croupier.games.one_ten import OneTenState
from tests.games import dispatch
from tests.games.positions import acts, hand, over, to_act, word
from tests.games.positions_one_ten import ONE_TEN, ROUND, ROUND_HANDS, dealt, position
from tests.games.seats import observation


def decided(state: OneTenState) -> Any:
    """Return the action of the sensible bot on the seat to act."""
    return ONE_TEN.bots["sensible"](observation(ONE_TEN, state, to_act(state) or 0, {}), Random(1).randrange)


@pytest.mark.parametrize(
    ("state", "line", "expected"),
    [
        pytest.param(dealt("5S JS JK AS KS||||"), "pass pass pass 25", "match", id="matches-with-a-strong-hand"),
        pytest.param(dealt("5S JS JK AS KS||||"), "pass pass pass pass", "15", id="bids-no-more-than-needed"),
        pytest.param(dealt("6C 7D 9C 8H 4H||||"), "pass pass pass pass", "15", id="bids-because-it-must"),
        pytest.param(dealt("6C 7D 9C 8H 4H||||"), "pass pass pass 25", "pass", id="passes-with-a-weak-hand"),
        pytest.param(position("5S 2D 3D | JS 7C 8C"), "", "5S", id="leads-the-highest-trump-after-winning-the-bid"),
        pytest.param(position("2D | KD 3D 4D"), "2D", "3D", id="takes-no-more-dearly-than-needed-as-the-last"),
        pytest.param(position("KD | 5S 3D AD"), "KD", "AD", id="guards-the-five-in-a-plain-trick"),
        pytest.param(position("5S | 2S 3S TS"), "5S", "TS", id="throws-the-lowest-under-a-certain-winner"),
    ],
)
def test_sensible_calls_and_plays_in_plain_positions(state: OneTenState, line: str, expected: str) -> None:
    assert word(decided(acts(state, line))) == expected


def test_sensible_keeps_trumps_and_swaps_weak_plain_cards() -> None:
    state = acts(dealt("5D JD 2C 7H 9C||||", "AD KD 9D 8S 4C"), "pass pass pass pass 15")
    assert decided(state) == KeepCards(tuple(sorted(cards("5D JD AD KD 9D"))), 1)
    assert decided(acts(dealt("5D JK 2H 9C 8S||||"), "1:30 0:pass")) == SwapCards(tuple(sorted(cards("2H 9C 8S"))))


def determinized(state: OneTenState, seat: Seat, seed: int = 1) -> Any:
    """Return a table that fits the knowledge of a seat."""
    return ONE_TEN.determinize(observation(ONE_TEN, state, seat, {}), Random(seed).randrange)


@pytest.mark.parametrize(
    ("hands", "line", "viewer", "other", "impossible"),
    [
        pytest.param("KC 2D 3H | 9H 8H 7H | AD JC 4D", "KC 7H JC", 0, 1, "2C 3C 4C 6C QC AC", id="a-plain-suit"),
        pytest.param("7S 2D 3H | 9H 8H 7H | 8S JC 4D", "7S 7H 8S", 2, 1, "2S 3S 9S QS AS", id="ordinary-trumps"),
        pytest.param("7C 2D 3H | JK 8H 7H | 8C 9C 4D", "7C JK 8C", 1, 2, "AH", id="what-was-not-forced-out"),
    ],
)
def test_determinized_hands_lack_suits_that_seats_could_not_follow(
    hands: str, line: str, viewer: Seat, other: Seat, impossible: str
) -> None:
    state = acts(position(hands), line)
    for number in range(20):
        assert not hand(determinized(state, viewer, number), other) & set(impossible.split())


MIXED = "2C 3C 4C 5C 6C 7C 8C 9C TC KH | 2D 3D 4D | 5D 6D 7D | 8D 9D TD JC QC KC AC TS JS QS"
EXCHANGE = "0:15 1:pass 2:pass 3:pass 1:swap:2D,3D,4D 2:swap:5D,6D,7D 3:swap:8D,9D,TD 0:keep:{}/S"


@pytest.mark.parametrize(
    ("line", "drawn"),
    [
        pytest.param("", "QD KD 2H JH QH", id="any-of-the-five"),
        pytest.param("0:KH 1:3H 2:8H 3:JC", "QD KD", id="no-heart-after-not-following"),
        pytest.param("0:KH 1:3H 2:8H 3:KD", "", id="none-once-it-has-been-played"),
    ],
)
def test_the_bid_winners_put_away_cards_are_in_the_stock_or_with_the_last_to_draw(line: str, drawn: str) -> None:
    """Seat 0 has put away QH JH 2H KD QD, of which seat 3 has drawn the king of diamonds."""
    state = dealt(MIXED, "QH JH 2H KD QD", "2S 3S 4S 5S 6S 7S 8S 9S", dealer=3)
    state = acts(state, EXCHANGE.format(MIXED.split(" |")[0].replace(" ", ",")))
    state = acts(dispatch.apply(state, CardsShuffled(cards("KD QD QH JH 2H")))[0], line)
    away, found = {"KD", "QD", "QH", "JH", "2H"}, set[str]()
    for number in range(30):
        table = determinized(state, 0, number)
        assert set(table.exchange.stock) <= set(cards(" ".join(away)))
        assert not set(cards(" ".join(away))).intersection(*table.exchange.discards)
        assert not away & (hand(table, 1) | hand(table, 2))
        held = away & hand(table, 3)
        assert len(held) == bool(drawn)
        found |= held
    assert found == set(drawn.split())


def test_a_determinized_bid_winner_who_has_acted_has_kept_sensible_cards() -> None:
    state = acts(dealt("| 2C 3C 4C 5C 6C |||"), "15 pass pass pass pass 1:keep:2C,3C,4C,5C,6C/C")
    table = determinized(state, 2)
    assert (len(hand(table, 1)), len(table.exchange.put_away)) == (5, 5)
    assert acts(table, "0:swap 3:swap 4:swap 2:swap").phase == "tricks"


def test_evaluation_counts_points_against_the_others_and_the_winner_at_the_end() -> None:
    start = position(ROUND_HANDS)
    assert ONE_TEN.evaluate(start, start) == (0.5, 0.5, 0.5)
    first = ONE_TEN.evaluate(start, acts(start, ROUND[:14]))
    assert first[0] > 0.5 > first[1] == first[2]
    after = ONE_TEN.evaluate(start, acts(start, ROUND))
    assert after[0] > after[2] > after[1]
    failing = position(ROUND_HANDS, bid=30)
    assert ONE_TEN.evaluate(failing, acts(failing, ROUND))[0] == 0.0
    last = position(ROUND_HANDS, scores=(95, 0, 0))
    done = acts(last, ROUND)
    assert over(done).reason == "target"
    assert ONE_TEN.evaluate(last, done)[0] == (after[0] + 1) / 2
