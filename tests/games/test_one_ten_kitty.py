"""The kitty and the swaps of 110: what may be kept and swapped, who draws what, and who knows of it."""

from typing import Any

import pytest

from croupier.games.actions import PLAYS, Keep, Pass, Swap
from croupier.games.cards import cards
from croupier.games.facts import (
    EVERYONE,
    SPECTATOR,
    CardOrder,
    CardsMoved,
    ContractChanged,
    Mark,
    Marked,
    MoveReason,
    Seat,
    only,
)
from croupier.games.interface import CardChoice, CardsShuffled, SeatActed
from croupier.games.one_ten import OneTenState
from tests.games.comparison import rule_against
from tests.games.fold import heard
from tests.games.positions_one_ten import (
    acts,
    dealt,
    due,
    hand,
    keeps,
    ordered,
    pile,
    refusal,
    swaps,
)
from tests.games.test_one_ten_examples import FOUR_HANDS, FOUR_KITTY, four

HANDS = ("2C 3C 4C 6C 7C", "2D 3D 4D 6D 7D", "2H 3H 4H 6H 7H")
KITTY, STOCK = "KC KD KH KS JK", "5C 5D 5H 5S JC JD"
LATE = {"swap_timing": "after_trump"}


def kitty(**options: Any) -> OneTenState:
    """Three seats with five cards; seat 1 has won the bidding with 15."""
    state = dealt(HANDS, KITTY, STOCK, hand_size="5", **options)
    return acts(state, "1=15 2=pass 0=pass")


def doubled() -> OneTenState:
    """Two packs: the bid winner, seat 1, holds two kings of diamonds, seat 0 two twos of clubs."""
    state = dealt(("2C 2C 4C 6C 7C", "KD 3D 4D 6D 7D"), "KC KD KH KS JK", hand_size="5", decks=2)
    return acts(state, "1=15 0=pass")


def test_110_KEEP_1_only_the_bid_winner_takes_up_the_kitty() -> None:
    before = acts(dealt(HANDS, KITTY, STOCK, hand_size="5"), "1=15 2=pass")
    state, facts = before.apply(SeatActed(0, Pass()))
    moves = [fact for fact in facts if isinstance(fact, CardsMoved)]
    assert moves == [CardsMoved("kitty", 1, tuple(sorted(cards(KITTY))), 5, MoveReason.PICK_UP, 1 << 1)]
    assert ordered(hand(state, 1)) == ordered(f"{HANDS[1]} {KITTY}")
    assert state.view(1).seats[1].card_count == 10
    assert pile(state, 1, "kitty") is None
    for viewer in (0, 2, SPECTATOR):
        assert pile(state, viewer, "kitty") == (5, "")
        assert state.view(viewer).seats[1].card_count == 5


def test_110_KEEP_2_exactly_so_many_cards_out_of_hand_and_kitty() -> None:
    state = kitty()
    assert state.legal_actions(1).choices == (
        CardChoice(Keep, cards(ordered(f"{HANDS[1]} {KITTY}")), 5, 5, (0, 1, 2, 3)),
    )
    for wrong in ("2D 3D 4D 6D", "2D 3D 4D 6D 7D KC", "2D 2D 3D 4D 6D", "2D 3D 4D 6D 2C", ""):
        assert refusal(state, 1, Keep(cards(wrong), 0)) == "110-KEEP-2"
    for value in (-1, 53, 106, 10**9):
        assert refusal(state, 1, Keep((*cards("2D 3D 4D 6D"), value), 0)) == "110-KEEP-2"
    for other in (Swap(()), Pass(), PLAYS[0]):
        assert refusal(state, 1, other) == "110-KEEP-2"
    state = keeps(state, 1, "KC KD KH KS JK", "S")
    assert pile(state, 1, "put_away") == (5, ordered(HANDS[1]))
    assert refusal(state, 1, Keep(cards("KC KD KH KS JK"), 0)) == "110-SWAP-1"


def test_110_KEEP_3_any_suit_can_be_trump_also_one_that_is_not_held() -> None:
    state = kitty()
    for trump in (None, -1, 4, 7):
        assert refusal(state, 1, Keep(cards(HANDS[1]), trump)) == "110-KEEP-3"
    for trump in range(4):
        assert refusal(state, 1, Keep(cards(HANDS[1]), trump)) == ""
    assert refusal(state, 1, Keep()) == "110-KEEP-2"


def test_110_SWAP_1_110_D9_during_all_act_once_and_in_any_order() -> None:
    state = kitty()
    assert state.to_act == (0, 1, 2)
    state = swaps(state, 2, "2H")
    assert state.to_act == (0, 1)
    assert refusal(state, 2, Swap(())) == "110-SWAP-1"
    state = swaps(keeps(state, 1, HANDS[1], "D"), 0)
    assert (state.phase, state.to_act) == ("tricks", (1,))


def test_110_SWAP_1_110_D9_after_trump_the_others_wait_for_the_bid_winner() -> None:
    state = kitty(**LATE)
    assert state.to_act == (1,)
    assert refusal(state, 0, Swap(())) == "110-SWAP-1"
    state, facts = state.apply(SeatActed(1, Keep(cards(HANDS[1]), 1)))
    assert ContractChanged(trump=1, audience=EVERYONE) in facts
    assert (state.phase, state.to_act) == ("kitty", (0, 2))
    state = swaps(swaps(state, 2), 0)
    assert state.phase == "tricks"


@pytest.mark.parametrize(("seats", "limit"), [(2, 3), (3, 3), (4, 3), (5, 3), (6, 3), (7, 2), (8, 1)])
@pytest.mark.parametrize("options", [{}, {"decks": 2}, {"hand_size": "5"}], ids=repr)
def test_110_SWAP_2_the_limit_depends_on_the_seats_alone(seats: int, limit: int, options: dict[str, Any]) -> None:
    state = acts(dealt(["2C 3C 4C 6C"] + [""] * (seats - 1), dealer=0, **options), "1=30 0=pass")
    (choice,) = state.legal_actions(0).choices
    assert (choice.verb, choice.fewest, choice.most, choice.suits) == (Swap, 0, limit, ())
    assert refusal(state, 0, Swap(cards("2C 3C 4C 6C"[: 3 * limit]))) == ""
    assert refusal(state, 0, Swap(cards("2C 3C 4C 6C"[: 3 * limit + 2]))) == "110-SWAP-2"


def test_110_SWAP_2_only_cards_of_the_own_hand_and_none_twice() -> None:
    state = kitty()
    for wrong in ((0, 0), cards("2D"), cards("KC"), (-1,), (53,), (106,)):
        assert refusal(state, 0, Swap(wrong)) == "110-SWAP-2"
    two = doubled()
    assert refusal(two, 0, Swap(cards("2C 2C 2C"))) == "110-SWAP-2"
    assert refusal(two, 0, Swap((53,))) == "110-SWAP-2"
    assert pile(swaps(two, 0, "2C 2C"), 0, "discards_0") == (2, "2C 2C")


def test_110_SWAP_3_110_D10_everybody_else_has_to_act_if_only_with_an_empty_list() -> None:
    state = keeps(kitty(), 1, HANDS[1], "D")
    assert state.to_act == (0, 2)
    for other in (Pass(), PLAYS[0], Keep(cards(HANDS[0]), 0)):
        assert refusal(state, 0, other) == "110-SWAP-3"
    state = swaps(state, 0)
    assert pile(state, 0, "discards_0") is None
    assert state.to_act == (2,)


def test_110_SWAP_5_110_VIS_3_discarded_and_put_away_cards_stay_face_down() -> None:
    state = keeps(swaps(swaps(kitty(), 0, "2C 3C"), 2), 1, "KC KD KH KS JK", "D")
    assert pile(state, 0, "discards_0") == (2, "2C 3C")
    assert pile(state, 1, "put_away") == (5, ordered(HANDS[1]))
    for viewer in (2, SPECTATOR):
        assert pile(state, viewer, "discards_0") == (2, "")
        assert pile(state, viewer, "put_away") == (5, "")
    assert pile(state, SPECTATOR, "discards_2") is None


def test_110_SWAP_6_the_table_must_shuffle_exactly_the_put_away_cards() -> None:
    state = four()
    right = cards(FOUR_KITTY)
    for wrong in (right[:4], (*right, 0), (*right[:4], 0), (*right[:4], right[0]), ()):
        assert rule_against(state, CardsShuffled(wrong)) == "110-SWAP-6"
    assert rule_against(state, CardsShuffled(right, (0,))) == "110-SWAP-6"
    for seat in range(4):
        assert refusal(state, seat, Swap(())) == "110-SWAP-6"
    state, facts = state.apply(CardsShuffled(right))
    recycled = [fact for fact in facts if isinstance(fact, CardsMoved) and fact.reason is MoveReason.RECYCLE]
    assert [(move.source, move.target, bool(move.cards), move.audience) for move in recycled] == [
        ("put_away", None, True, 1 << 0),
        (None, "stock", False, 1 << 0),
        ("put_away", "stock", False, ~(1 << 0)),
    ]
    assert sum(map(len, state.exchange.discards)) == 9


def test_110_VIS_2_the_bid_winner_remembers_what_he_put_away_after_a_reshuffle_too() -> None:
    waiting = four()
    assert waiting.view(0).marks == ()
    state, facts = waiting.apply(CardsShuffled(due(waiting).cards))
    mark = Mark("put_away", 0, "9H TH JH QH KH")
    assert [fact for fact in facts if isinstance(fact, Marked)] == [Marked(*mark, only(0))]
    while state.phase == "tricks":
        assert state.view(0).marks == (mark,)
        assert [state.view(viewer).marks for viewer in (1, 2, 3, SPECTATOR)] == [()] * 4
        seat = state.to_act[0]
        state, _ = state.apply(SeatActed(seat, state.legal_actions(seat).actions[0]))
    state, _ = state.apply(CardsShuffled(due(state).cards))
    assert state.view(0).marks == ()


@pytest.mark.parametrize("swapped", ["", "2C", "2C 3C 4C"])
def test_110_VIS_4_during_the_phase_others_learn_who_has_acted_and_nothing_else(swapped: str) -> None:
    state, facts = kitty().apply(SeatActed(0, Swap(cards(swapped))))
    for viewer in (1, 2, SPECTATOR):
        view = state.view(viewer)
        assert [type(fact).__name__ for fact in heard(facts, viewer)] == ["TurnChanged"]
        assert view.seats_to_act == (1, 2)
        assert [seat.card_count for number, seat in enumerate(view.seats) if number != viewer] == [5] * (
            2 + (viewer == SPECTATOR)
        )
    state, facts = keeps(state, 1, HANDS[1], "D").apply(SeatActed(2, Swap(())))
    counts = [fact for fact in heard(facts, SPECTATOR) if isinstance(fact, CardsMoved) and fact.target == "discards_0"]
    assert [fact.card_count for fact in counts] == ([len(swapped.split())] if swapped else [])


@pytest.mark.parametrize(("options", "told_at"), [({}, 2), (LATE, 0)], ids=repr)
def test_110_VIS_5_others_hear_of_the_trump_when_it_is_public_and_the_bid_winner_at_once(
    options: dict[str, Any], told_at: int
) -> None:
    state, heard_at = kitty(**options), dict[Seat, list[int]]()
    events = [SeatActed(1, Keep(cards(HANDS[1]), 3)), SeatActed(0, Swap(())), SeatActed(2, Swap(()))]
    for number, event in enumerate(events):
        state, facts = state.apply(event)
        for viewer in (0, 1, 2, SPECTATOR):
            tell = [fact for fact in heard(facts, viewer) if isinstance(fact, ContractChanged | CardOrder)]
            heard_at.setdefault(viewer, []).extend([number] * len(tell))
    assert heard_at == {1: [0, 0]} | {viewer: [told_at] * 2 for viewer in (0, 2, SPECTATOR)}


@pytest.mark.parametrize("viewer", [0, 1, 2, 3, SPECTATOR])
def test_110_VIS_6_the_stock_is_only_ever_counted(viewer: Seat) -> None:
    state = dealt(FOUR_HANDS, FOUR_KITTY)
    assert pile(state, viewer, "stock") == (8, "")
    state = four("5D")
    assert pile(state, viewer, "stock") == (1, "")
