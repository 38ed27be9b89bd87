"""The kitty and the swaps of 110: kept, swapped and drawn cards, and their visibility."""

from typing import Any

import pytest

from croupier.games.actions import Action, KeepBid, KeepCards, SwapCards
from croupier.games.cards import cards
from croupier.games.facts import SPECTATOR, CardsMoved, Mark, MarkChanged, MoveReason, Seat, only
from croupier.games.interface import CardsShuffled
from croupier.games.one_ten import OneTenState
from tests.games import dispatch
from tests.games.fold import facts_for
from tests.games.positions import acts, acts_with_facts, due, first_legal, hand, pile, refusal
from tests.games.positions_one_ten import dealt
from tests.games.test_one_ten_examples import FOUR, PUT_AWAY, four

HANDS = "2C 3C 4C 6C 7C | 2D 3D 4D 6D 7D | 2H 3H 4H 6H 7H"
OWN, KITTY = "2D 3D 4D 6D 7D", "KC KD KH KS JK"
KEEPS, TAKES = "1:keep:2D,3D,4D,6D,7D/D", "1:keep:KC,KD,KH,KS,JK/S"
LATE = {"swap_timing": "after_trump"}


def kitty(line: str = "", **options: Any) -> OneTenState:
    """Return three seats with five cards, after seat 1 has won the bidding with 15 and this line."""
    state = dealt(HANDS, KITTY, "5C 5D 5H 5S JC JD", hand_size="5", **options)
    return acts(state, f"1:15 2:pass 0:pass {line}")


def test_110_KEEP_1_only_the_bid_winner_takes_up_the_kitty() -> None:
    before = acts(dealt(HANDS, KITTY, hand_size="5"), "1:15 2:pass")
    state, facts = acts_with_facts(before, "0:pass")
    moves = [fact for fact in facts if isinstance(fact, CardsMoved)]
    assert moves == [CardsMoved("kitty", 1, tuple(sorted(cards(KITTY))), 5, MoveReason.PICK_UP, 1 << 1)]
    assert (hand(state, 1), pile(state, "kitty", 1)) == ({*OWN.split(), *KITTY.split()}, None)
    for viewer in (0, 2, SPECTATOR):
        assert (pile(state, "kitty", viewer), dispatch.view(state, viewer).seats[1].card_count) == ((5, ""), 5)


@pytest.mark.parametrize(
    ("line", "seat", "text", "rule"),
    [
        pytest.param("", 1, "keep:2D,3D,4D,6D/C", "110-KEEP-2", id="110-KEEP-2 too few"),
        pytest.param("", 1, "keep:2D,3D,4D,6D,7D,KC/C", "110-KEEP-2", id="110-KEEP-2 too many"),
        pytest.param("", 1, "keep:2D,2D,3D,4D,6D/C", "110-KEEP-2", id="110-KEEP-2 one twice"),
        pytest.param("", 1, "keep:2D,3D,4D,6D,2C/C", "110-KEEP-2", id="110-KEEP-2 one of somebody else"),
        pytest.param("", 1, KeepCards((*cards("2D 3D 4D 6D"), 53), 0), "110-KEEP-2", id="110-KEEP-2 no card at all"),
        pytest.param("", 1, KeepCards((*cards("2D 3D 4D 6D"), -1), 0), "110-KEEP-2", id="110-KEEP-2 a negative one"),
        pytest.param("", 1, KeepBid(), "110-KEEP-2", id="110-KEEP-2 nothing"),
        pytest.param("", 1, "swap", "110-KEEP-2", id="110-KEEP-2 no swap"),
        pytest.param("", 1, "pass", "110-KEEP-2", id="110-KEEP-2 no pass"),
        pytest.param("", 1, KeepCards(cards(OWN), -1), "110-KEEP-3", id="110-KEEP-3 a negative suit"),
        pytest.param("", 1, KeepCards(cards(OWN), 4), "110-KEEP-3", id="110-KEEP-3 no such suit"),
        *(pytest.param("", 1, KeepCards(cards(OWN), suit), "", id="110-KEEP-3 any suit") for suit in range(4)),
        pytest.param(KEEPS, 1, TAKES[2:], "110-SWAP-1", id="110-KEEP-3 once"),
        pytest.param("2:swap:2H", 2, "swap", "110-SWAP-1", id="110-SWAP-1"),
        pytest.param("", 0, "swap:2C,2C", "110-SWAP-2", id="110-SWAP-2 one twice"),
        pytest.param("", 0, "swap:2D", "110-SWAP-2", id="110-SWAP-2 one of somebody else"),
        pytest.param("", 0, "swap:KC", "110-SWAP-2", id="110-SWAP-2 one of the kitty"),
        pytest.param("", 0, SwapCards((-1,)), "110-SWAP-2", id="110-SWAP-2 a negative one"),
        pytest.param("", 0, SwapCards((106,)), "110-SWAP-2", id="110-SWAP-2 no card at all"),
        pytest.param("", 0, SwapCards(()), "110-SWAP-3", id="110-SWAP-3 nothing, which is to stand pat"),
        pytest.param(KEEPS, 0, "pass", "110-SWAP-3", id="110-SWAP-3 110-D10"),
        pytest.param(KEEPS, 0, "keep:2C,3C,4C,6C,7C/C", "110-SWAP-3", id="110-SWAP-3 no keeping"),
    ],
)
def test_refused_keeps_and_swaps(line: str, seat: Seat, text: str | Action, rule: str) -> None:
    assert refusal(kitty(line), text, seat) == rule


def test_110_SWAP_2_with_two_packs_twins_can_be_swapped_but_no_third() -> None:
    state = dealt("2C 2C 4C 6C 7C | KD 3D 4D 6D 7D", KITTY, hand_size="5", decks=2)
    state = acts(state, "1:15 0:pass")
    assert refusal(state, "swap:2C,2C,2C", 0) == "110-SWAP-2"
    assert pile(acts(state, "0:swap:2C,2C"), "discards_0", 0) == (2, "2C 2C")


def test_110_SWAP_1_110_D9_during_all_act_once_and_in_any_order_and_later_the_bid_winner_is_first() -> None:
    assert kitty().to_act == (0, 1, 2)
    assert kitty("2:swap:2H").to_act == (0, 1)
    assert kitty(f"2:swap:2H {KEEPS}").to_act == (0,)
    assert kitty(f"2:swap:2H {KEEPS} 0:swap").phase == "tricks"
    state = kitty(**LATE)
    assert (state.to_act, refusal(state, "swap", 0)) == ((1,), "110-SWAP-1")
    assert acts(state, KEEPS).to_act == (0, 2)
    assert acts(state, f"{KEEPS} 2:swap 0:swap").phase == "tricks"


def test_110_SWAP_5_110_VIS_3_discarded_and_put_away_cards_stay_face_down() -> None:
    state = kitty(f"0:swap:2C,3C 2:swap {TAKES}")
    assert (pile(state, "discards_0", 0), pile(state, "put_away", 1)) == ((2, "2C 3C"), (5, OWN))
    for viewer in (2, SPECTATOR):
        assert (pile(state, "discards_0", viewer), pile(state, "put_away", viewer)) == ((2, ""), (5, ""))
    assert pile(state, "discards_2") is None


def test_110_SWAP_6_the_table_must_shuffle_exactly_the_put_away_cards() -> None:
    state = four()
    assert {refusal(state, "swap", seat) for seat in range(4)} == {"110-SWAP-6"}
    state, facts = dispatch.apply(state, CardsShuffled(cards(PUT_AWAY)))
    recycled = [fact for fact in facts if isinstance(fact, CardsMoved) and fact.reason is MoveReason.RECYCLE]
    assert [(move.source, move.target, bool(move.cards), move.audience) for move in recycled] == [
        ("put_away", None, True, 1 << 0),
        (None, "stock", False, 1 << 0),
        ("put_away", "stock", False, ~(1 << 0)),
    ]


def test_110_VIS_2_the_bid_winner_sees_their_put_away_cards_until_the_next_deal() -> None:
    state, facts = dispatch.apply(four(), CardsShuffled(cards(PUT_AWAY)))
    mark = Mark("put_away", 0, "9H TH JH QH KH")
    assert [fact for fact in facts if isinstance(fact, MarkChanged)] == [MarkChanged(mark, only(0))]
    assert [dispatch.view(state, viewer).marks for viewer in (0, 1, 2, 3, SPECTATOR)] == [(mark,), (), (), (), ()]
    state = first_legal(state)
    assert dispatch.view(dispatch.apply(state, CardsShuffled(due(state).cards))[0], 0).marks == ()


@pytest.mark.parametrize("swapped", ["", ":2C", ":2C,3C,4C"])
def test_110_VIS_4_during_the_phase_others_see_which_seats_have_acted_and_nothing_else(swapped: str) -> None:
    state, facts = acts_with_facts(kitty(), f"0:swap{swapped}")
    for viewer in (1, 2, SPECTATOR):
        assert [type(fact).__name__ for fact in facts_for(facts, viewer)] == ["TurnChanged"]
        assert dispatch.view(state, viewer).seats[0].card_count == 5
    _, facts = acts_with_facts(acts(state, KEEPS), "2:swap")
    counts = [
        fact for fact in facts_for(facts, SPECTATOR) if isinstance(fact, CardsMoved) and fact.target == "discards_0"
    ]
    assert [fact.card_count for fact in counts] == ([swapped.count("C")] if swapped else [])


def test_110_VIS_6_the_stock_is_only_ever_counted() -> None:
    for viewer in (0, 1, 2, 3, SPECTATOR):
        assert pile(dealt(FOUR), "stock", viewer) == (8, "")
        assert pile(four("5D"), "stock", viewer) == (1, "")
