"""The worked positions of the rules page of 110, one by one."""

from typing import Any

import pytest

from croupier.games.actions import Keep, Swap
from croupier.games.cards import cards
from croupier.games.facts import CardsMoved, Mark, MoveReason
from croupier.games.interface import CardsShuffled, SeatActed
from croupier.games.one_ten import OneTenState
from tests.games.comparison import rule_against
from tests.games.positions_one_ten import (
    acts,
    calls,
    dealt,
    due,
    hand,
    keeps,
    ordered,
    pile,
    playable,
    position,
    refusal,
    swaps,
)

FOLLOWING = [
    pytest.param("S", "7D", "2D KD 3S KC", "2D KD 3S", "", id="110-EX-1"),
    pytest.param("S", "7D", "3S KC 4C", "3S KC 4C", "", id="110-EX-2"),
    pytest.param("S", "KH", "AH QC 4S", "AH QC 4S", "", id="110-EX-3"),
    pytest.param("S", "KH", "AH QC 2H", "AH 2H", "", id="110-EX-4 110-D12"),
    pytest.param("H", "KD", "AH QC 2D", "AH 2D", "", id="110-EX-5"),
    pytest.param("S", "7S", "2S JS KC", "2S JS", "", id="110-EX-6"),
    pytest.param("S", "7S", "JS KC 2D", "JS KC 2D", "", id="110-EX-7 110-REN-2 110-D11 110-PLAY-5"),
    pytest.param("S", "7S", "5S JK AH KC", "5S JK AH KC", "", id="110-EX-8"),
    pytest.param("S", "AH", "2S KH KC", "2S", "", id="110-EX-9"),
    pytest.param("S", "JK", "KH KC", "KH KC", "", id="110-EX-10"),
    pytest.param("S", "JK", "JS AH KC", "AH", "AH JS", id="110-EX-11"),
    pytest.param("S", "5S", "JS JK 2S KC", "JS JK", "JS JK 2S", id="110-EX-12"),
    pytest.param("S", "JS", "5S KC", "5S KC", "", id="110-EX-13"),
    pytest.param("S", "7C 5S", "JS KC 2D", "JS", "JS KC", id="110-EX-14 110-REN-3 110-D13"),
    pytest.param("S", "7C JK", "AH 2C 3S", "AH", "AH 2C 3S", id="110-EX-15"),
    pytest.param("S", "7C JK", "JS 2C KD", "JS 2C", "", id="110-EX-16"),
]


@pytest.mark.parametrize(("trump", "trick", "held", "legal", "legal_if_trump_led"), FOLLOWING)
def test_following_and_reneging(trump: str, trick: str, held: str, legal: str, legal_if_trump_led: str) -> None:
    laid = list(enumerate(trick.split(), start=1))
    hands = [held, *("" for _ in laid)]
    rest = {"trick": laid, "to_act": 0, "bidder": 1}
    assert playable(position(hands, trump, **rest)) == ordered(legal)  # type: ignore[arg-type]
    late = position(hands, trump, **rest, force_out="trump_led")  # type: ignore[arg-type]
    assert playable(late) == ordered(legal_if_trump_led or legal)


@pytest.mark.parametrize(
    ("trump", "played", "winner"),
    [
        pytest.param("S", "TC 2C AC", 2, id="110-EX-17"),
        pytest.param("S", "AD 2D KC", 1, id="110-EX-18"),
        pytest.param("S", "KH AH 2S", 1, id="110-EX-19 110-TRICK-5"),
        pytest.param("S", "KC TS 9S", 2, id="110-EX-20"),
        pytest.param("D", "KC TD 9D", 1, id="110-EX-21"),
        pytest.param("D", "AD AH JK 5D JD", 3, id="110-EX-22"),
    ],
)
def test_trick_winners(trump: str, played: str, winner: int) -> None:
    texts = played.split()
    hands = [f"{text} 2H" if text != "2H" else text for text in texts]
    state = acts(position(hands, trump), " ".join(f"{seat}:{text}" for seat, text in enumerate(texts)))
    assert state.winners == (winner,)
    assert state.to_act == (winner,)


def bidding(seats: int, line: str, **options: Any) -> OneTenState:
    return acts(dealt([""] * seats, **options), line)


@pytest.mark.parametrize(
    ("seats", "line", "speaker", "legal"),
    [
        pytest.param(3, "", 1, [15, 20, 25, 30, "pass"], id="110-EX-23"),
        pytest.param(3, "1=15 2=pass", 0, [20, 25, 30, "match", "pass"], id="110-EX-24"),
        pytest.param(3, "1=15 2=pass 0=20 1=25", 0, [30, "match", "pass"], id="110-EX-25 110-BID-4 110-D6"),
        pytest.param(4, "1=30", 0, ["match", "pass"], id="110-EX-27"),
        pytest.param(3, "1=pass 2=pass", 0, [15, 20, 25, 30], id="110-EX-29 110-BID-7 110-D8"),
    ],
)
def test_the_bidding_goes_on(seats: int, line: str, speaker: int, legal: list[int | str]) -> None:
    state = bidding(seats, line)
    assert state.phase == "bidding"
    assert state.to_act == (speaker,)
    assert calls(state, speaker) == legal


@pytest.mark.parametrize(
    ("seats", "line", "winner", "bid"),
    [
        pytest.param(3, "1=15 2=20 0=match", 0, 20, id="110-EX-26"),
        pytest.param(4, "1=15 2=pass 3=20 0=pass 1=30", 1, 30, id="110-EX-28"),
        pytest.param(3, "1=15 2=pass 0=pass", 1, 15, id="110-EX-30 110-BID-8"),
    ],
)
def test_the_bidding_is_over(seats: int, line: str, winner: int, bid: int) -> None:
    state = bidding(seats, line)
    assert state.phase == "kitty"
    assert (state.auction.bidder, state.auction.amount) == (winner, bid)


def test_110_EX_26_a_match_that_only_holds_can_be_raised() -> None:
    state = bidding(3, "1=15 2=20 0=match", dealer_match="holds")
    assert (state.phase, state.to_act, state.auction.bidder) == ("bidding", (1,), 0)
    assert calls(state, 1) == [25, 30, "pass"]


def test_110_EX_31_110_SWAP_4_new_cards_come_clockwise_from_the_bid_winner_and_not_in_the_order_of_acting() -> None:
    hands = ["2C 3C", "4C 6C 7C 8C 9C TC QC KC AC 2D", "3D 4D 5D"]
    state = acts(dealt(hands, stock="5H 6H 7H 8H 9H", dealer=0), "1=15 2=pass 0=pass")
    state = swaps(state, 0, "2C 3C")
    state = keeps(state, 1, hands[1], "C")
    state, facts = state.apply(SeatActed(2, Swap(cards("3D 4D 5D"))))
    drawn = [fact for fact in facts if isinstance(fact, CardsMoved) and fact.source == "stock" and fact.cards]
    assert [(move.target, move.cards, move.reason) for move in drawn] == [
        (2, cards("5H 6H 7H"), MoveReason.DRAW),
        (0, cards("8H 9H"), MoveReason.DRAW),
    ]
    assert {"8H", "9H"} <= set(hand(state, 0).split())
    assert state.to_act == (1,)


FOUR_HANDS = ["2C 3C 4C 5C 6C 7C 8C 9C TC JC", "2D 3D 4D", "5D 6D 7D", "8D 9D TD"]
FOUR_STOCK = "2S 3S 4S 5S 6S 7S 8S 9S"
FOUR_KITTY = "KH QH JH TH 9H"


def four(second: str = FOUR_HANDS[2]) -> OneTenState:
    """Four seats of which three have swapped, seat 2 as said; seat 0 has put the kitty away."""
    state = dealt(FOUR_HANDS, FOUR_KITTY, FOUR_STOCK, dealer=3)
    state = acts(state, "0=15 1=pass 2=pass 3=pass")
    state = swaps(swaps(state, 1, FOUR_HANDS[1]), 3, FOUR_HANDS[3])
    return swaps(keeps(state, 0, FOUR_HANDS[0], "S"), 2, second)


def test_110_EX_32_the_put_away_cards_are_shuffled_below_a_stock_that_is_too_short() -> None:
    state = four()
    assert (state.phase, state.to_act) == ("reshuffle", ())
    assert due(state).cards == tuple(sorted(cards(FOUR_KITTY)))
    assert due(state)[1:] == ((), 1, 2)
    event = CardsShuffled(cards("JH KH QH TH 9H"))
    assert state.event_record(event) == {"type": "reshuffle", "stock": ["JH", "KH", "QH", "TH", "9H"]}
    state, facts = state.apply(event)
    drawn = [fact.cards for fact in facts if isinstance(fact, CardsMoved) and fact.source == "stock" and fact.cards]
    assert drawn == [cards("2S 3S 4S"), cards("5S 6S 7S"), tuple(sorted(cards("8S 9S JH")))]
    assert state.to_act == (0,)
    assert pile(state, 0, "stock") == (4, "")
    assert pile(state, 0, "put_away") is None
    assert state.view(0).marks == (Mark("put_away", 0, "9H TH JH QH KH"),)


def test_110_EX_33_no_reshuffle_when_the_stock_just_suffices() -> None:
    state = four("5D 6D")
    assert state.phase == "tricks"
    assert pile(state, 0, "stock") is None
    assert rule_against(state, CardsShuffled(cards(FOUR_KITTY))) == "110-DEAL-1"


def test_110_EX_34_eight_seats_swap_one_card_at_most() -> None:
    state = acts(dealt(["2C 3C", *[""] * 7], dealer=0), "1=30 0=pass")
    assert refusal(state, 0, Swap(cards("2C 3C"))) == "110-SWAP-2"
    assert refusal(state, 0, Swap(cards("2C"))) == ""


def test_110_EX_35_the_kitty_alone_is_a_legal_hand() -> None:
    state = acts(dealt([""] * 6, "KC QC JC AC 2C", dealer=0), "1=30 0=pass")
    (choice,) = state.legal_actions(1).choices
    assert (len(choice.cards), choice.fewest, choice.most, choice.verb) == (10, 5, 5, Keep)
    state = keeps(state, 1, "KC QC JC AC 2C", "D")
    assert hand(state, 1) == ordered("KC QC JC AC 2C")
