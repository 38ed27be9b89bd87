"""Shuffles and proposals that no game accepts, each refused by the rule of its game; the base class checks them."""

import pytest

from croupier.games.interface import CardsShuffled, IllegalAction, ProposalAgreed, State
from tests.games import dispatch, positions_jossing, positions_one_oh_one, positions_one_ten, positions_solo
from tests.games import positions_thulla as thulla
from tests.games.comparison import rule_against
from tests.games.positions import acts, deal, due

PUT_AWAY = "9H TH JH QH KH"
FOUR = "2C 3C 4C 5C 6C 7C 8C 9C TC JC | 2D 3D 4D | 5D 6D 7D | 8D 9D TD"
SWAPS = "15 pass pass pass 1:swap:2D,3D,4D 3:swap:8D,9D,TD 0:keep:2C,3C,4C,5C,6C,7C,8C,9C,TC,JC/S 2:swap:5D,6D,7D"
SHORT = acts(positions_one_ten.dealt(FOUR, PUT_AWAY, dealer=3), SWAPS)
RECYCLED = acts(positions_one_oh_one.position("8D KH | 6D 8H", "AC JC 9C", recycle="shuffle"), "draw")
BUCK = "solo_do_clubs pass pass pass trump:C 8C KC AC TC"


def rules_against(state: State, *shuffles: CardsShuffled) -> set[str]:
    """Return the rules by which these shuffles are refused, which is so too when they are written for a replay."""
    for shuffled in shuffles:
        with pytest.raises(IllegalAction):
            dispatch.event_record(state, shuffled)
    return {rule_against(state, shuffled) for shuffled in shuffles}


@pytest.mark.parametrize(
    ("state", "cards_rule", "drawn_rule"),
    [
        pytest.param(thulla.new(3), "THU-DECK-2", "THU-START-3", id="THU-EX-1 THU-DECK-2 THU-DEAL-3"),
        pytest.param(thulla.new(4, start="random"), "THU-DECK-2", "THU-START-3", id="THU-START-3"),
        pytest.param(positions_jossing.new(3), "JOS-DECK-1", "JOS-DEAL-2", id="JOS-DECK-1 JOS-DEAL-2 JOS-DEAL-4"),
        pytest.param(positions_jossing.new(3, decks=2), "JOS-DECK-1", "JOS-DEAL-2", id="JOS-DECK-1 two packs"),
        pytest.param(positions_one_oh_one.new(3), "101-DEAL-2", "101-DEAL-3", id="101-DEAL-2 101-DEAL-3"),
        pytest.param(
            acts(positions_one_oh_one.position("KH 9H | 9C | AC", "TC", turn=1), "9C"),
            "101-DEAL-2",
            "101-DEAL-3",
            id="101-DEAL-3 a later round",
        ),
        pytest.param(RECYCLED, "101-STOCK-3", "101-STOCK-3", id="101-STOCK-3"),
        pytest.param(positions_one_ten.new(4), "110-DEAL-4", "110-DEAL-3", id="110-DEAL-4 110-DEAL-3"),
        pytest.param(positions_one_ten.new(4, decks=2), "110-DEAL-4", "110-DEAL-3", id="110-DEAL-4 two packs"),
        pytest.param(
            acts(positions_one_ten.position(positions_one_ten.ROUND_HANDS), positions_one_ten.ROUND),
            "110-DEAL-4",
            "110-DEAL-3",
            id="110-DEAL-3 a later round",
        ),
        pytest.param(SHORT, "110-SWAP-6", "110-SWAP-6", id="110-SWAP-6"),
        pytest.param(positions_solo.new(), "SOLO-DEAL-3", "SOLO-DEAL-1", id="SOLO-DEAL-3 SOLO-DEAL-1"),
    ],
)
def test_a_shuffle_of_other_cards_or_with_other_numbers(state: State, cards_rule: str, drawn_rule: str) -> None:
    cards, bounds, *_ = due(state)
    drawn = (0,) * len(bounds)
    wrong = (cards[1:], (*cards, cards[0]), (cards[-1], *cards[1:]), (*cards[:-1], 53), cards * 2, ())
    assert rules_against(state, *[CardsShuffled(other, drawn) for other in wrong]) == {cards_rule}
    numbers = {(), (0,), (-1,), (0, 0), bounds} - {drawn}
    assert rules_against(state, *[CardsShuffled(cards, other) for other in numbers]) == {drawn_rule}


@pytest.mark.parametrize(
    ("state", "due_rule", "proposal_rule"),
    [
        pytest.param(deal(thulla.new(3)), "THU-DEAL-3", "THU-D9", id="THU-DEAL-3 THU-D9"),
        pytest.param(deal(positions_jossing.new(3)), "JOS-DEAL-4", "JOS-ACT-1", id="JOS-DEAL-4 JOS-ACT-1"),
        pytest.param(deal(positions_one_oh_one.new(3)), "101-DEAL-1", "101-PLAY-1", id="101-DEAL-1 101-PLAY-1"),
        pytest.param(deal(positions_one_ten.new(3)), "110-DEAL-1", "110-DEAL-1", id="110-DEAL-1"),
        pytest.param(deal(positions_solo.new()), "SOLO-DEAL-3", "SOLO-RESTART-2", id="SOLO-DEAL-3 SOLO-RESTART-2"),
        pytest.param(
            acts(positions_solo.dealt(positions_solo.EIGHTH), BUCK), "SOLO-END-2", "SOLO-END-2", id="SOLO-END-2"
        ),
    ],
)
def test_a_shuffle_that_is_not_due_and_an_unknown_proposal(state: State, due_rule: str, proposal_rule: str) -> None:
    whole_deck = tuple(range(52))
    assert rules_against(state, CardsShuffled(whole_deck), CardsShuffled((), (0,)), CardsShuffled(())) == {due_rule}
    with pytest.raises(IllegalAction):
        dispatch.event_record(state, ProposalAgreed("rest"))
    assert rule_against(state, ProposalAgreed("rest")) == proposal_rule
