"""The sensible player of 110: what it does in plain positions, how it fares against chance; what a searcher gets."""

from random import Random
from typing import Any

import pytest

from croupier.games.actions import Action, Bid, Keep, Match, Pass, Play, Swap
from croupier.games.cards import NOTATION, cards
from croupier.games.facts import Seat
from croupier.games.interface import CardsShuffled, GameOver
from croupier.games.one_ten import OneTenState
from tests.games.positions_one_ten import ONE_TEN, ROUND, ROUND_HANDS, acts, dealt, hand, keeps, position, swaps
from tests.games.seats import seen


def decided(state: OneTenState, seat: Seat, **options: Any) -> Action:
    """What the sensible player does."""
    return ONE_TEN.bots["sensible"](seen(ONE_TEN, state, seat, options), Random(1).randrange)


@pytest.mark.parametrize(
    ("held", "line", "expected"),
    [
        pytest.param("5S JS JK AS KS", "1=pass 2=pass 3=pass 4=25", Match(), id="matches-with-a-strong-hand"),
        pytest.param("5S JS JK AS KS", "1=pass 2=pass 3=pass 4=pass", Bid(15), id="bids-no-more-than-needed"),
        pytest.param("6C 7D 9C 8H 4H", "1=pass 2=pass 3=pass 4=pass", Bid(15), id="bids-because-it-must"),
        pytest.param("6C 7D 9C 8H 4H", "1=pass 2=pass 3=pass 4=25", Pass(), id="passes-with-a-weak-hand"),
    ],
)
def test_sensible_calls(held: str, line: str, expected: Action) -> None:
    assert decided(acts(dealt([held, "", "", "", ""]), line), 0) == expected


def test_sensible_keeps_trumps_and_names_the_suit_that_it_has_most_of() -> None:
    state = acts(dealt(["5D JD 2C 7H 9C", "", "", "", ""], "AD KD 9D 8S 4C"), "1=pass 2=pass 3=pass 4=pass 0=15")
    assert decided(state, 0) == Keep(tuple(sorted(cards("5D JD AD KD 9D"))), 1)


def test_sensible_swaps_weak_plain_cards_and_guards_fives_and_court_cards() -> None:
    state = acts(dealt(["5D JK 2H 9C 8S", "", "", "", ""]), "1=30 0=pass")
    assert decided(state, 0) == Swap(tuple(sorted(cards("2H 9C 8S"))))


@pytest.mark.parametrize(
    ("hands", "line", "expected"),
    [
        pytest.param(("5S 2D 3D", "JS 7C 8C"), "", "5S", id="leads-the-highest-trump-after-winning-the-bid"),
        pytest.param(("2D", "KD 3D 4D"), "0:2D", "3D", id="takes-no-more-dearly-than-needed-as-the-last"),
        pytest.param(("KD", "5S 3D AD"), "0:KD", "AD", id="guards-the-five-in-a-plain-trick"),
        pytest.param(("5S", "2S 3S TS"), "0:5S", "TS", id="throws-the-lowest-under-a-certain-winner"),
    ],
)
def test_sensible_play_in_plain_positions(hands: tuple[str, ...], line: str, expected: str) -> None:
    state = acts(position(hands, "S", size=3), line)
    played = decided(state, state.to_act[0])
    assert isinstance(played, Play)
    assert NOTATION[played.card] == expected


def test_imagined_hands_heed_what_seats_could_not_follow() -> None:
    state = acts(position(["KC 2D 3H", "9H 8H 7H", "AD JC 4D"], "S", size=3), "0:KC 1:7H 2:JC")
    for number in range(20):
        imagined = ONE_TEN.imagine(seen(ONE_TEN, state, 0, {}), Random(number).randrange)
        assert not {text for text in hand(imagined, 1).split() if text[1] == "C"}
    state = acts(position(["7S 2D 3H", "9H 8H 7H", "8S JC 4D"], "S", size=3), "0:7S 1:7H 2:8S")
    for number in range(20):
        imagined = ONE_TEN.imagine(seen(ONE_TEN, state, 2, {}), Random(number).randrange)
        assert not {text for text in hand(imagined, 1).split() if text[1] == "S" and text not in ("5S", "JS")}
    state = acts(position(["7C 2D 3H", "JK 8H 7H", "8C 9C 4D"], "S", size=3), "0:7C 1:JK 2:8C")
    for number in range(20):
        imagined = ONE_TEN.imagine(seen(ONE_TEN, state, 1, {}), Random(number).randrange)
        assert "AH" not in hand(imagined, 2).split()


MIXED = ("2C 3C 4C 5C 6C 7C 8C 9C TC KH", "2D 3D 4D", "5D 6D 7D", "8D 9D TD JC QC KC AC TS JS QS")


def reshuffled() -> OneTenState:
    """Seat 0 has put away QH JH 2H KD QD, of which seat 3 has drawn the king of diamonds."""
    state = acts(dealt(MIXED, "QH JH 2H KD QD", "2S 3S 4S 5S 6S 7S 8S 9S", dealer=3), "0=15 1=pass 2=pass 3=pass")
    state = keeps(swaps(swaps(swaps(state, 1, "2D 3D 4D"), 2, "5D 6D 7D"), 3, "8D 9D TD"), 0, MIXED[0], "S")
    return state.apply(CardsShuffled(cards("KD QD QH JH 2H")))[0]


@pytest.mark.parametrize(
    ("line", "drawn"),
    [
        pytest.param("", "QD KD 2H JH QH", id="any-of-the-five"),
        pytest.param("0:KH 1:3H 2:8H 3:JC", "QD KD", id="no-heart-after-not-following"),
        pytest.param("0:KH 1:3H 2:8H 3:KD", "", id="none-once-it-has-been-played"),
    ],
)
def test_the_bid_winner_imagines_what_he_put_away_in_the_stock_or_with_the_last_to_draw(line: str, drawn: str) -> None:
    state, away, found = acts(reshuffled(), line), set(cards("QH JH 2H KD QD")), set[str]()
    for number in range(30):
        imagined = ONE_TEN.imagine(seen(ONE_TEN, state, 0, {}), Random(number).randrange)
        assert imagined.view(0) == state.view(0)
        assert set(imagined.exchange.stock) <= away
        assert not away.intersection(*imagined.exchange.discards)
        assert not away.intersection(cards(f"{hand(imagined, 1)} {hand(imagined, 2)}"))
        held = away.intersection(cards(hand(imagined, 3)))
        assert len(held) == bool(drawn)
        found.update(NOTATION[value] for value in held)
    assert found == set(drawn.split())


def test_an_imagined_bid_winner_who_has_acted_has_kept_by_sense() -> None:
    state = acts(dealt(["", "2C 3C 4C 5C 6C", "", "", ""]), "1=15 2=pass 3=pass 4=pass 0=pass")
    state = keeps(state, 1, "2C 3C 4C 5C 6C", "C")
    imagined = ONE_TEN.imagine(seen(ONE_TEN, state, 2, {}), Random(1).randrange)
    assert len(hand(imagined, 1).split()) == 5
    assert len(imagined.exchange.put_away) == 5
    state = swaps(swaps(swaps(imagined, 0), 3), 4)
    assert swaps(state, 2).phase == "tricks"


def test_rating_counts_points_against_the_others_and_at_the_end_who_won() -> None:
    start = position(ROUND_HANDS, bid=15, hand_size="5")
    assert ONE_TEN.rate(start, start) == (0.5, 0.5, 0.5)
    words = ROUND.split()
    first = ONE_TEN.rate(start, acts(start, " ".join(words[:3])))
    assert first[0] > 0.5 > first[1] == first[2]
    after = ONE_TEN.rate(start, acts(start, ROUND))
    assert after[0] > after[2] > after[1]
    failing = position(ROUND_HANDS, bid=30, hand_size="5")
    assert ONE_TEN.rate(failing, acts(failing, ROUND))[0] == 0.0
    last = position(ROUND_HANDS, bid=15, scores=(95, 0, 0), hand_size="5")
    over = acts(last, ROUND)
    assert isinstance(over.awaiting, GameOver)
    assert ONE_TEN.rate(last, over)[0] == (after[0] + 1) / 2
