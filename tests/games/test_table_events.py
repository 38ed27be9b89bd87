"""What happens at a table without an act of a seat: shuffles and proposals that are refused, and the end at a limit.

The base class refuses by the rule of the game; the laws compare the ranking at a limit with the judge's.
"""

import pytest

from croupier.games.facts import Ranking
from croupier.games.interface import CardsShuffled, IllegalAction, ProposalAgreed, State
from tests.games import dispatch, positions_one_oh_one, positions_one_ten, positions_solo
from tests.games.comparison import rule_against
from tests.games.positions import acts, deal, due, new

PUT_AWAY = "9H TH JH QH KH"
FOUR = "2C 3C 4C 5C 6C 7C 8C 9C TC JC | 2D 3D 4D | 5D 6D 7D | 8D 9D TD"
SWAPS = "15 pass pass pass 1:swap:2D,3D,4D 3:swap:8D,9D,TD 0:keep:2C,3C,4C,5C,6C,7C,8C,9C,TC,JC/S 2:swap:5D,6D,7D"
SHORT = acts(positions_one_ten.dealt(FOUR, PUT_AWAY, dealer=3), SWAPS)
RECYCLED = acts(positions_one_oh_one.position("8D KH | 6D 8H", "AC JC 9C", recycle="shuffle"), "draw")
BUCK = "solo_do_clubs pass pass pass trump:C 8C KC AC TC"


LATER = {"round_number": 2}
OUT = {"went_out": (0, 4, 0, 0), "totals": (9, 36, 5, 0)}
BOTH_OUT = {"went_out": (6, 4, 0, 0), "totals": (36, 36, 5, 20)}


def rules_against(state: State, *shuffles: CardsShuffled) -> set[str]:
    """Return the rules by which these shuffles are refused, which is so too when they are written for a replay."""
    for shuffled in shuffles:
        with pytest.raises(IllegalAction):
            dispatch.event_record(state, shuffled)
    return {rule_against(state, shuffled) for shuffled in shuffles}


@pytest.mark.parametrize(
    ("state", "cards_rule", "drawn_rule"),
    [
        pytest.param(new("thulla", 3), "THU-DECK-2", "THU-START-3", id="THU-EX-1 THU-DECK-2 THU-DEAL-3"),
        pytest.param(new("thulla", 3, deal="uneven"), "THU-DECK-4", "THU-START-3", id="THU-EX-22 THU-DECK-4"),
        pytest.param(new("thulla", 4, start="random"), "THU-DECK-2", "THU-START-3", id="THU-START-3"),
        pytest.param(new("jossing", 3, decks=2), "JOS-DECK-1", "JOS-DEAL-2", id="JOS-DECK-1 JOS-DEAL-2"),
        pytest.param(new("one_oh_one", 3), "101-DEAL-2", "101-DEAL-3", id="101-DEAL-2 101-DEAL-3"),
        pytest.param(RECYCLED, "101-STOCK-3", "101-STOCK-3", id="101-STOCK-3"),
        pytest.param(new("one_ten", 4), "110-DEAL-4", "110-DEAL-3", id="110-DEAL-4 110-DEAL-3"),
        pytest.param(SHORT, "110-SWAP-6", "110-SWAP-6", id="110-SWAP-6"),
        pytest.param(new("solo", 4), "SOLO-DEAL-3", "SOLO-DEAL-1", id="SOLO-DEAL-3 SOLO-DEAL-1"),
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
        pytest.param(deal(new("thulla", 3)), "THU-DEAL-3", "THU-D9", id="THU-DEAL-3 THU-D9"),
        pytest.param(deal(new("jossing", 3)), "JOS-DEAL-4", "JOS-ACT-1", id="JOS-DEAL-4 JOS-ACT-1"),
        pytest.param(deal(new("one_oh_one", 3)), "101-DEAL-1", "101-PLAY-1", id="101-DEAL-1 101-PLAY-1"),
        pytest.param(deal(new("one_ten", 3)), "110-DEAL-1", "110-DEAL-1", id="110-DEAL-1"),
        pytest.param(deal(new("solo", 4)), "SOLO-DEAL-3", "SOLO-RESTART-2", id="SOLO-DEAL-3 SOLO-RESTART-2"),
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


@pytest.mark.parametrize(
    ("state", "progress", "ranking"),
    [
        pytest.param(new("one_ten", 3), LATER | {"totals": (20, -15, 20)}, ((0, 2), (1,)), id="110-END-5"),
        pytest.param(new("one_oh_one", 3), LATER | {"totals": (30, -20, 30)}, ((1,), (0, 2)), id="101-END-5"),
        pytest.param(
            new("one_oh_one", 4, elimination=True),
            LATER | {"totals": (120, 7, 101, 9), "dropped": ((2,), (0,))},
            ((1,), (3,), (2,), (0,)),
            id="101-END-5 behind those in the game come the dropped",
        ),
        pytest.param(new("solo", 4), OUT, ((1,), (0, 2, 3)), id="SOLO-END-6"),
        pytest.param(new("solo", 4, ranking="out_order"), BOTH_OUT, ((1,), (0,), (2, 3)), id="SOLO-END-6 by order"),
        pytest.param(new("thulla", 3, best_of=5), {"orders": ((1, 0, 2), (1, 2, 0))}, ((1,), (0, 2)), id="THU-MATCH-5"),
    ],
)
def test_the_ranking_at_a_limit_and_none_without_a_completed_round(
    state: State, progress: dict[str, object], ranking: Ranking
) -> None:
    assert dispatch.ranking_at_limit(deal(state)) is None
    assert dispatch.ranking_at_limit(state._replace(progress=state.progress._replace(**progress))) == ranking


def test_JOS_END_4_the_ranking_at_a_limit_is_that_of_the_totals() -> None:
    state = deal(new("jossing", 3))
    assert dispatch.ranking_at_limit(state) is None
    later = state._replace(section=state.section._replace(number=2), totals=(11, 0, 12))
    assert dispatch.ranking_at_limit(later) == ((2,), (0,), (1,))
