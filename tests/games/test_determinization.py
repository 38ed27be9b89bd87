"""Tables that searching players determinize fit what their seat knows, and their evaluations compare the seats."""

from random import Random
from typing import Any

import pytest

from croupier.conformance.tables import observation
from croupier.games.cards import STANDARD_DECK, cards, notation
from croupier.games.facts import Seat
from croupier.games.interface import CardsShuffled, OptionValue, State
from croupier.games.solo.deck import BLACK_QUEENS
from croupier.games.standings import ranked
from tests.games import dispatch, positions_jossing
from tests.games.positions import acts, hand, over, ranking_text
from tests.games.positions_jossing import JOSSING, section
from tests.games.positions_one_oh_one import ONE_OH_ONE
from tests.games.positions_one_oh_one import position as shedding
from tests.games.positions_one_ten import ONE_TEN, ROUND, ROUND_HANDS
from tests.games.positions_one_ten import dealt as bidding
from tests.games.positions_one_ten import position as tricks
from tests.games.positions_solo import CALLED_UNKNOWN, EIGHTH, FIVE_OF_FIVE, FROKE, MARRIED, SOLO, TWELFTH, UNKNOWN
from tests.games.positions_solo import dealt as solo
from tests.games.positions_thulla import position as thulla

SECTION = section("2C 3C 4C 5C | 6C 2D 3D 4D | 7H 2S 3S 4S", "KH", dealer=2)
FIRST_TRICK = "0:1 1:1 2:1 0:2C 6C 7H 2S 3C"
PLAIN = "KC 2D 3H | 9H 8H 7H | AD JC 4D"
ORDINARY = "7S 2D 3H | 9H 8H 7H | 8S JC 4D"
FORCING = "7C 2D 3H | JK 8H 7H | 8C 9C 4D"


def determinized(state: State, seat: Seat, count: int, **options: OptionValue) -> list[Any]:
    """Return tables that fit the knowledge of a seat, with these options of the table."""
    game, random = dispatch.rules(state), Random(3)
    observed = observation(game, state, seat, options)
    return [game.determinize(observed, random.randrange) for _ in range(count)]


@pytest.mark.parametrize(
    ("start", "line", "viewer", "other", "impossible"),
    [
        pytest.param(SECTION, FIRST_TRICK, 1, 2, "4C 5C 7C 8C 9C TC JC QC AC", id="jossing-clubs"),
        pytest.param(SECTION, FIRST_TRICK, 1, 0, "5S 6S 7S 8S 9S TS JS QS KS", id="jossing-spades"),
        pytest.param(tricks(PLAIN), "KC 7H JC", 0, 1, "2C 3C 4C 6C QC AC", id="one_ten-a-plain-suit"),
        pytest.param(tricks(ORDINARY), "7S 7H 8S", 2, 1, "2S 3S 9S QS AS", id="one_ten-ordinary-trumps"),
        pytest.param(tricks(FORCING), "7C JK 8C", 1, 2, "AH", id="one_ten-what-was-not-forced-out"),
        pytest.param(solo(EIGHTH), f"{FROKE} TD 8D QD KD AD 9S", 1, 0, "7D 9D JD", id="solo-diamonds"),
    ],
)
def test_hands_lack_what_seats_could_not_follow_with(
    start: State, line: str, viewer: Seat, other: Seat, impossible: str
) -> None:
    for table in determinized(acts(start, line), viewer, 30):
        assert not hand(table, other) & set(impossible.split())


def test_in_110_a_card_that_was_not_led_shows_nothing_where_only_the_led_one_forces_out() -> None:
    state = acts(tricks(FORCING, forced_out_by="led"), "7C JK 8C")
    tables = determinized(state, 1, 300, forced_out_by="led")
    assert {"AH"} < {card for table in tables for card in hand(table, 2)}


def test_known_cards_of_thulla_are_in_their_hand() -> None:
    state = acts(thulla("7H 2S | KH 3S 5S 6S | 4D 4S | 8S 9S"), "0:7H KH 4D 1:KH")
    for table in determinized(state, 2, 30):
        assert {"7H", "4D"} <= hand(table, 1)
        assert table.known == state.known


def test_the_ace_of_thulla_is_not_forced_again_when_all_cards_are_back_in_hands() -> None:
    deck = notation(value for value in STANDARD_DECK if value)
    state = thulla(f"|{' '.join(deck[:20])}|{' '.join(deck[20:])}", leader=2, out=(0,))
    (table,) = determinized(state, 2, 1)
    assert len(dispatch.legal_actions(state, 2).actions) == 31
    assert dispatch.legal_actions(table, 2) == dispatch.legal_actions(state, 2)


def test_secret_bids_of_jossing_fit_the_hands() -> None:
    state = acts(section("2C 3C | AH KH | 4C 5D", "QH"), "0:2 1:0")
    found = [table.bids for table in determinized(state, 2, 30)]
    assert {tuple(bid.seat for bid in bids) for bids in found} == {(0, 1)}
    assert len({tuple(bid.amount for bid in bids) for bids in found}) > 1
    done = acts(state, "2:1")
    assert determinized(done, 1, 1)[0].bids == done.bids


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
def test_the_cards_put_away_in_110_are_in_the_stock_or_with_the_last_to_draw(line: str, drawn: str) -> None:
    """Seat 0 has put away QH JH 2H KD QD, of which seat 3 has drawn the king of diamonds."""
    state = bidding(MIXED, "QH JH 2H KD QD", "2S 3S 4S 5S 6S 7S 8S 9S", dealer=3)
    state = acts(state, EXCHANGE.format(MIXED.split(" |")[0].replace(" ", ",")))
    state = acts(dispatch.apply(state, CardsShuffled(cards("KD QD QH JH 2H")))[0], line)
    away, found = {"KD", "QD", "QH", "JH", "2H"}, set[str]()
    for table in determinized(state, 0, 30):
        assert set(table.exchange.stock) <= set(cards(" ".join(away)))
        assert not set(cards(" ".join(away))).intersection(*table.exchange.discards)
        assert not away & (hand(table, 1) | hand(table, 2))
        held = away & hand(table, 3)
        assert len(held) == bool(drawn)
        found |= held
    assert found == set(drawn.split())


def test_one_of_ten_cards_put_away_in_110_is_with_the_last_to_draw() -> None:
    state = bidding(MIXED, "QH JH 2H KD QD", "2S 3S 4S 5S 6S 7S 8S 9S", dealer=3, keep="five")
    state = acts(state, EXCHANGE.format("2C,3C,4C,5C,6C"))
    state = dispatch.apply(state, CardsShuffled(cards("KD QD 7C QH JH 8C 2H KH 9C TC")))[0]
    away, found = {"7C", "8C", "9C", "TC", "KH", "KD", "QD", "QH", "JH", "2H"}, set[str]()
    for table in determinized(state, 0, 100, keep="five"):
        assert len(table.exchange.stock) == 9
        assert set(table.exchange.stock) <= set(cards(" ".join(away)))
        assert not away & (hand(table, 1) | hand(table, 2))
        assert len(away & hand(table, 3)) == 1
        found |= away & hand(table, 3)
    assert found == away


def test_the_called_card_of_solo_is_with_one_who_may_hold_it() -> None:
    for table in determinized(acts(solo(EIGHTH), f"{FROKE} TD 8D QD KD AD 9S"), 1, 30):
        holder = table.contract.partner
        assert holder in (2, 3)
        assert table.hands[holder] >> table.contract.called & 1


def test_the_queens_of_a_wedding_are_in_one_hand() -> None:
    for table in determinized(acts(solo(MARRIED), "pass wedding pass pass call:AS trump:D"), 0, 30):
        assert table.hands[1] & BLACK_QUEENS == BLACK_QUEENS
        assert table.hands[3] >> table.contract.called & 1


def test_an_unknown_card_may_be_any_possible_ace() -> None:
    tables = determinized(acts(solo(UNKNOWN), f"{CALLED_UNKNOWN} AC 7C"), 2, 40)
    for table in tables:
        others = sum(1 << ace for ace in (12, 38, 51) if ace != table.contract.called)
        assert not (table.hands[1] | table.hands[3]) & others
    assert {table.contract.called for table in tables} == {38, 51}


def test_evaluation_of_jossing_compares_the_gains_of_seats() -> None:
    state = section("AH 2S | KH QH", "9S", dealer=1)
    playing = acts(state, "0:2 1:1")
    assert JOSSING.evaluate(playing, acts(playing, "AH KH 2S QH")) == (1.0, 0.0)
    assert JOSSING.evaluate(state, playing)[0] > 0.5 > JOSSING.evaluate(state, playing)[1]
    assert JOSSING.evaluate(positions_jossing.new(2), positions_jossing.new(2)) == (0.5, 0.5)
    assert JOSSING.evaluate(playing, acts(playing, "AH KH"))[1] > 0


@pytest.mark.parametrize(
    ("hands", "line", "scores", "best_first"),
    [
        pytest.param("9C | KD | AD TD", "9C", (10, 20, 30), "012", id="by-its-cost"),
        pytest.param("9C 8C | KD | AD TD", "", (0, 0, 0), "102", id="by-what-the-hands-would-cost"),
        pytest.param("9C | KD | AD TD", "9C", (10, 20, 90), "01-", id="nought-for-who-lost"),
    ],
)
def test_evaluation_of_101_compares_costs(hands: str, line: str, scores: tuple[int, ...], best_first: str) -> None:
    start = shedding(hands, "TC", scores=scores)
    values = ONE_OH_ONE.evaluate(start, acts(start, line))
    ordered = [values[int(seat)] for seat in best_first if seat != "-"]
    assert 1 > ordered[0] > ordered[1] > (ordered[2] if len(ordered) > 2 else values[2]) >= 0
    assert (values[2] == 0) == ("-" in best_first)
    after = acts(start, "9C")
    assert ONE_OH_ONE.evaluate(start, after)[0] > ONE_OH_ONE.evaluate(start, start)[0]


def test_seats_of_101_that_dropped_out_before_are_evaluated_as_zero() -> None:
    start = shedding("9C | KD |", "TC", scores=(0, 0, 104), dropped=((2,),), elimination=True)
    best, worst, out = ONE_OH_ONE.evaluate(start, acts(start, "9C"))
    assert (best > worst, out) == (True, 0)


def test_evaluation_of_101_counts_the_penalty_for_queens_as_the_option_says() -> None:
    hands = "9C 9D | QC QS | 8D 8H 8S"
    instead, added = shedding(hands, "TC"), shedding(hands, "TC", queen_penalty="added")
    assert ONE_OH_ONE.evaluate(added, added)[1] < ONE_OH_ONE.evaluate(instead, instead)[1]


def test_evaluation_of_110_counts_points_against_the_others_and_the_winner_at_the_end() -> None:
    start = tricks(ROUND_HANDS)
    assert ONE_TEN.evaluate(start, start) == (0.5, 0.5, 0.5)
    first = ONE_TEN.evaluate(start, acts(start, ROUND[:14]))
    assert first[0] > 0.5 > first[1] == first[2]
    after = ONE_TEN.evaluate(start, acts(start, ROUND))
    assert after[0] > after[2] > after[1]
    failing = tricks(ROUND_HANDS, bid=30)
    assert ONE_TEN.evaluate(failing, acts(failing, ROUND))[0] == 0.0
    last = tricks(ROUND_HANDS, scores=(95, 0, 0))
    done = acts(last, ROUND)
    assert over(done).reason == "target"
    assert ONE_TEN.evaluate(last, done)[0] == (after[0] + 1) / 2


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        pytest.param("", f"{FROKE} {FIVE_OF_FIVE} throw_down", "0 = 2 > 1 = 3", id="a-hand-made"),
        pytest.param(FROKE, f"{FROKE} QC 8H JH TH", "0 = 2 > 1 = 3", id="a-trick-won"),
        pytest.param("", "solo_do_clubs pass pass pass trump:C 8C KC AC TH", "1 = 2 = 3 > 0", id="the-buck"),
        pytest.param("", "pass", "0 = 1 = 2 = 3", id="nothing-yet"),
    ],
)
def test_evaluation_of_solo_follows_points_and_tricks(before: str, after: str, expected: str) -> None:
    values = SOLO.evaluate(acts(solo(TWELFTH), before), acts(solo(TWELFTH), after))
    assert ranking_text(ranked(range(4), lambda seat: -values[seat])) == expected
    assert all(0 <= value <= 1 for value in values)
