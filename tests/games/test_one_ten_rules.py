"""The rules of 110 from the table's options to the end of the bidding, one by one."""

from random import Random
from typing import Any

import pytest

from croupier.engine.reactions import REACTIONS, check_reaction
from croupier.games.actions import Bid, Draw, Keep, Match, Pass, Play, Swap
from croupier.games.cards import NOTATION, cards, notation
from croupier.games.facts import SPECTATOR, CardOrder, Count, Seat
from croupier.games.interface import (
    CardsShuffled,
    InvalidOption,
    ProposalAgreed,
    SeatActed,
    SeatsToAct,
    resolve_options,
)
from croupier.games.one_ten import OneTenState
from croupier.runtime.errors import MalformedRequest
from tests.games.comparison import rule_against
from tests.games.positions_one_ten import (
    ONE_TEN,
    ROUND,
    ROUND_HANDS,
    acts,
    acts_with_facts,
    calls,
    dealt,
    due,
    new,
    pile,
    position,
    refusal,
    round_end,
    swaps,
)


@pytest.mark.parametrize("seats", range(2, 9))
@pytest.mark.parametrize("decks", [1, 2])
def test_110_OPT_1_110_D2_ten_cards_need_enough_cards(seats: int, decks: int) -> None:
    options: dict[str, Any] = {"hand_size": "10", "decks": decks}
    if 10 * seats + 5 <= 53 * decks:
        assert new(seats, **options).table.hand_size == 10
        return
    assert seats > 4
    assert decks == 1
    with pytest.raises(InvalidOption, match="auto or 5 is allowed, or two packs") as refused:
        resolve_options(ONE_TEN, seats, options)
    assert refused.value.option == "hand_size"


# The deal


def deal_of(seats: int, seed: int = 1, **options: Any) -> tuple[OneTenState, CardsShuffled, dict[str, Any]]:
    """A first deal by chance: the table after it, the shuffle, and its record."""
    state, random = new(seats, **options), Random(seed)
    event = CardsShuffled(tuple(random.sample(due(state).cards, len(due(state).cards))), (random.randrange(seats),))
    return state.apply(event)[0], event, state.event_record(event)


def test_110_DEAL_1_the_record_has_these_keys_and_the_order_of_the_stock() -> None:
    state, event, record = deal_of(3)
    assert list(record) == ["type", "dealer", "hands", "kitty", "stock"]
    assert (record["type"], record["dealer"]) == ("deal", event.drawn[0])
    assert record["kitty"] == notation(event.cards[30:35])
    assert record["stock"] == notation(event.cards[35:]) == notation(state.exchange.stock)


@pytest.mark.parametrize("seats", range(2, 9))
@pytest.mark.parametrize(
    ("size", "decks", "expected"),
    [("auto", 1, (10, 10, 10, 5, 5, 5, 5)), ("5", 1, (5,) * 7), ("auto", 2, (10,) * 7), ("10", 2, (10,) * 7)],
)
def test_110_DEAL_2_110_D1_hand_sizes(seats: int, size: str, decks: int, expected: tuple[int, ...]) -> None:
    state, _, record = deal_of(seats, hand_size=size, decks=decks)
    assert [len(hand) for hand in record["hands"]] == [expected[seats - 2]] * seats
    assert state.table.hand_size == expected[seats - 2]


@pytest.mark.parametrize(
    ("seats", "stock", "limit"),
    [(2, 28, 3), (3, 18, 3), (4, 8, 3), (5, 23, 3), (6, 18, 3), (7, 13, 2), (8, 8, 1)],
)
def test_110_DEAL_2_the_stock_after_the_deal_and_the_swap_limit(seats: int, stock: int, limit: int) -> None:
    state, *_ = deal_of(seats)
    assert pile(state, SPECTATOR, "stock") == (stock, "")
    assert state.table.swap_limit == limit
    assert ((seats - 1) * limit > stock) == (seats == 4)


def test_110_DEAL_3_110_D3_the_first_dealer_is_drawn_then_the_deal_passes_clockwise() -> None:
    state = new(3, hand_size="5")
    assert due(state).draw_bounds == (3,)
    assert rule_against(state, CardsShuffled(due(state).cards)) == "110-DEAL-3"
    assert rule_against(state, CardsShuffled(due(state).cards, (3,))) == "110-DEAL-3"
    state = acts(position(ROUND_HANDS, hand_size="5", dealer=1), ROUND)
    assert due(state)[1:] == ((), 2, 1)
    assert rule_against(state, CardsShuffled(due(state).cards, (2,))) == "110-DEAL-3"
    state, _ = state.apply(CardsShuffled(due(state).cards))
    assert state.progress.dealer == 2
    state = acts(position(ROUND_HANDS, hand_size="5", dealer=2), ROUND)
    assert state.apply(CardsShuffled(due(state).cards))[0].progress.dealer == 0


@pytest.mark.parametrize("decks", [1, 2])
def test_110_DEAL_4_all_cards_of_the_pack_and_no_other(decks: int) -> None:
    _, _, record = deal_of(4, decks=decks)
    everything = [card for hand in record["hands"] for card in hand] + record["kitty"] + record["stock"]
    assert sorted(everything) == sorted([*NOTATION] * decks)
    assert len(record["kitty"]) == 5
    state = new(4, decks=decks)
    deck = due(state).cards
    assert deck == tuple(sorted([*range(53)] * decks))
    for wrong in (deck[:-1], (*deck, 0), (*deck[:-1], 53), (*deck[:-1], deck[0]), ()):
        assert rule_against(state, CardsShuffled(wrong, (0,))) == "110-DEAL-4"


def test_110_DEAL_5_cards_go_singly_from_the_dealers_left_and_the_kitty_is_last() -> None:
    state = new(3, hand_size="5")
    record = state.event_record(CardsShuffled(due(state).cards, (1,)))
    assert record["hands"][2] == ["2C", "5C", "8C", "JC", "AC"]
    assert record["hands"][0] == ["3C", "6C", "9C", "QC", "2D"]
    assert record["kitty"] == ["4D", "5D", "6D", "7D", "8D"]


def test_110_DEAL_5_every_round_begins_with_a_shuffle_of_the_whole_pack_and_nothing_else_happens_before() -> None:
    for state in (new(3), acts(position(ROUND_HANDS, hand_size="5"), ROUND)):
        assert due(state).cards == tuple(range(53))
        assert refusal(state, 0, Pass()) == "110-DEAL-5"
    state = dealt(ROUND_HANDS, hand_size="5")
    assert rule_against(state, CardsShuffled(tuple(range(53)), (0,))) == "110-DEAL-1"
    assert rule_against(state, ProposalAgreed("rematch")) == "110-DEAL-1"


# The bidding


def bidding(seats: int, line: str = "", dealer: Seat = 0, **options: Any) -> OneTenState:
    return acts(dealt([""] * seats, dealer=dealer, **options), line)


@pytest.mark.parametrize("dealer", range(4))
def test_110_BID_1_left_of_the_dealer_speaks_first_and_the_turn_goes_clockwise(dealer: Seat) -> None:
    state = bidding(4, dealer=dealer)
    for step in (1, 2, 3):
        speaker = (dealer + step) % 4
        assert state.awaiting == SeatsToAct((speaker,))
        for other in {0, 1, 2, 3} - {speaker}:
            assert refusal(state, other, Bid(15)) == "110-BID-1"
        state = acts(state, f"{speaker}={10 + 5 * step}")
    assert state.to_act == (dealer,)


@pytest.mark.parametrize(
    ("ladder", "size", "top"),
    [("short", "10", 30), ("short", "5", 30), ("round_max", "10", 55), ("round_max", "5", 30), ("long", "5", 110)],
)
def test_110_BID_2_110_D4_110_D5_the_ladders(ladder: str, size: str, top: int) -> None:
    state = bidding(3, bid_ladder=ladder, hand_size=size)
    assert calls(state, 1) == [*range(15, top + 1, 5), "pass"]
    for wrong in (0, -15, 10, 14, 16, top + 5, 20.0, True, "15", "solo"):
        assert refusal(state, 1, Bid(wrong)) == "110-BID-2"  # type: ignore[arg-type]


def test_110_BID_3_every_bid_is_higher_than_the_one_before() -> None:
    state = bidding(3, "1=20")
    assert state.view(SPECTATOR).contract[:4] == (1, None, None, 20)
    assert [refusal(state, 2, Bid(amount)) for amount in (15, 20, 25)] == ["110-BID-3", "110-BID-3", ""]
    for action in (Keep(), Swap(()), Draw(), Play(0)):
        assert refusal(state, 2, action) == "110-BID-3"


def test_110_BID_5_only_the_dealer_matches_and_only_a_standing_bid() -> None:
    state = bidding(3, "1=15")
    assert refusal(state, 2, Match()) == "110-BID-5"
    state = acts(state, "2=pass")
    assert refusal(state, 0, Bid(15)) == "110-BID-3"
    assert calls(state, 0) == [20, 25, 30, "match", "pass"]
    assert refusal(bidding(3, "1=pass 2=pass"), 0, Match()) == "110-BID-7"


def test_110_BID_6_110_D7_a_match_wins_or_holds() -> None:
    state = bidding(3, "1=15 2=20 0=match")
    assert (state.phase, state.auction.bidder, state.auction.amount) == ("kitty", 0, 20)
    state = bidding(3, "1=15 2=20 0=match", dealer_match="holds")
    assert (state.phase, state.to_act, state.auction.bidder) == ("bidding", (1,), 0)
    assert refusal(state, 1, Bid(20)) == "110-BID-3"
    state = acts(state, "1=25 2=pass")
    assert calls(state, 0) == [30, "match", "pass"]
    state = acts(state, "0=match 1=pass")
    assert (state.phase, state.auction.bidder, state.auction.amount) == ("kitty", 0, 25)


def test_110_BID_9_at_the_top_of_the_ladder_only_the_dealer_is_asked() -> None:
    assert bidding(5, "1=15 2=30").to_act == (0,)
    assert bidding(5, "1=pass 2=pass 3=pass 4=15 0=30").phase == "kitty"
    state = bidding(5, "1=15 2=20 3=pass 4=pass 0=pass 1=30")
    assert (state.phase, state.auction.bidder) == ("kitty", 1)
    held = bidding(5, "1=30 0=match", dealer_match="holds")
    assert (held.phase, held.auction.bidder) == ("kitty", 0)


# What is public; the card order; around the table


NO_TRUMP = (
    "JK AH KC QC JC AC 2C 3C 4C 5C 6C 7C 8C 9C TC KD QD JD TD 9D 8D 7D 6D 5D 4D 3D 2D AD "
    "KH QH JH TH 9H 8H 7H 6H 5H 4H 3H 2H KS QS JS AS 2S 3S 4S 5S 6S 7S 8S 9S TS"
)
HEARTS = (
    "5H JH JK AH KH QH TH 9H 8H 7H 6H 4H 3H 2H KC QC JC AC 2C 3C 4C 5C 6C 7C 8C 9C TC "
    "KD QD JD TD 9D 8D 7D 6D 5D 4D 3D 2D AD KS QS JS AS 2S 3S 4S 5S 6S 7S 8S 9S TS"
)


@pytest.mark.parametrize("timing", ["during", "after_trump"])
def test_110_TABLE_1_hands_are_sorted_by_what_the_seat_knows_of_the_trump(timing: str) -> None:
    hands = ["2C 3C 4C 5C 6C 7C 8C 9C TC JC", "", ""]
    state = dealt(hands, swap_timing=timing)
    assert {state.view(viewer).card_order for viewer in (0, 1, SPECTATOR)} == {cards(NO_TRUMP)}
    state = acts(state, "1=15 2=pass 0=match")
    assert state.view(0).card_order == cards(NO_TRUMP)
    state, facts = state.apply(SeatActed(0, Keep(cards(hands[0]), 2)))
    assert state.view(0).card_order == cards(HEARTS)
    expected = cards(HEARTS if timing == "after_trump" else NO_TRUMP)
    assert state.view(1).card_order == state.view(SPECTATOR).card_order == expected
    assert [fact.cards for fact in facts if isinstance(fact, CardOrder)] == [cards(HEARTS)]
    state = swaps(swaps(state, 1), 2)
    assert {state.view(viewer).card_order for viewer in (0, 1, 2, SPECTATOR)} == {cards(HEARTS)}


def test_110_TABLE_2_reactions_come_from_a_fixed_list_and_are_no_part_of_a_game() -> None:
    for reaction in REACTIONS:
        check_reaction(reaction)
    with pytest.raises(MalformedRequest):
        check_reaction("free text")


def test_110_TABLE_3_110_D22_rounds_count_bids_won_and_bids_made() -> None:
    for bid, counts in ((20, (Count("bids_won", 0), Count("bids_made", 0))), (25, (Count("bids_won", 0),))):
        _, facts = acts_with_facts(position(ROUND_HANDS, bid=bid, hand_size="5"), ROUND)
        assert round_end(facts).counts == counts
    assert {"bids_won", "bids_made"} <= set(ONE_TEN.names)
