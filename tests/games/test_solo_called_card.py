"""The hidden partner of Solo in froke and iss: duties of the called card, the end of a hand, and visibility."""

import re
from typing import Any

import pytest

from croupier.games.facts import SPECTATOR, Contract, ContractChanged, Fact, View, Viewer
from croupier.games.solo import SoloState
from tests.games import dispatch
from tests.games.fold import facts_for
from tests.games.positions import acts, acts_with_facts, details, may, refusals, to_act
from tests.games.positions_solo import EIGHTH, ELEVENTH, VOID, dealt, exchanged

PENALTY: dict[str, Any] = {"called_card_rule": "penalty"}
EXCHANGED = exchanged(EIGHTH, "AS JS")
"""The eighth hands, except that the holder of the called card can win a trick with the ace of spades."""
LEADING = "8H 9H TH 8C 7D 8D 9D JD | QC 7H KH 9C 7S 8S 9S TS | QS AH JH QH AC 7C TC AS | KC JC AD KD JS KS TD QD"
"""The holder of the called card leads to the fifth trick."""
FULL = "7H 8H 9H TH JH QH KH AH | AD AS QC 7C 8C 9C TC JC | QS KC AC 7D 8D 9D TD JD | QD KD 7S 8S 9S TS JS KS"
"""Seat 0 holds one suit and nothing else."""
THREE_TRICKS = "KH TH 8H 7S AH 7D 9H 8S QC 8D JH 7C"
FOUR_TRICKS = f"{THREE_TRICKS} 7H KC QS TC"
TO_FIFTH = "JD 9C JH KD AH QD 9H KH QS AD TH QC 7S AS KS 7D"
FOUR_LOST = "8H QC JH 7H AS 9S 7S 7D KS TS 8S 8D QD JS AD 9D"
"""With the eleventh hands: all four tricks to the defenders, and the called card is still hidden."""
KEPT = "9S KS JS 7S AS TS 8S"
ONE_LEFT = exchanged(EIGHTH, "9C 9D")
"""The eighth hands, except that the declarer has one card of the called suit."""
VALUES = {"froke": 2, "iss": 4}
both_bids = pytest.mark.parametrize("bid", VALUES)


def adapted(bid: str, text: str) -> str:
    """Return a line or hands of a froke in hearts with the ace of clubs called, adapted to the bid.

    For an iss, hearts and clubs change places, except their queens: the Old is always a trump.
    """
    return text if bid == "froke" else re.sub(r"(?<!Q)[CH]\b", lambda suit: "HC"["CH".index(suit[0])], text)


def playing(bid: str, hands: str, line: str = "", **options: Any) -> SoloState:
    """Return the state after seat 0 has bid, named trump and called, and after this line."""
    words = f"{bid} pass pass pass {adapted(bid, f'trump:H call:AC {line}')}"
    return acts(dealt(adapted(bid, hands), **options), words)


# Duties


@both_bids
@pytest.mark.parametrize(
    ("hands", "line", "free", "with_penalty", "refused"),
    [
        pytest.param(EIGHTH, "8C KC", "AC", "AC 7C", "SOLO-CARD-1 7C QS", id="SOLO-EX-8 SOLO-CARD-1"),
        pytest.param(EXCHANGED, "9S KS AS 7S", "AC QS 9H TS JD QD", "7C", "SOLO-CARD-2 7C", id="SOLO-EX-8 SOLO-CARD-2"),
        pytest.param(VOID, f"{FOUR_TRICKS} TD KD", "AC", "QH JS TS", "SOLO-CARD-3 QH JS", id="SOLO-EX-9 SOLO-CARD-3"),
        pytest.param(VOID, f"{THREE_TRICKS} TD KD", "QH QS AC JS TS", "", "", id="SOLO-CARD-3 the fourth trick"),
        pytest.param(LEADING, TO_FIFTH, "AC", "7C TC QH", "SOLO-CARD-3 QH 7C", id="SOLO-CARD-3 on lead"),
        pytest.param(ONE_LEFT, KEPT, "9D TD 7H JH KH AH", "", "SOLO-CARD-5 8C", id="SOLO-EX-10 SOLO-CARD-5"),
        pytest.param(EIGHTH, KEPT, "TD 7H JH KH AH 8C 9C", "", "", id="SOLO-CARD-5 one of two cards"),
        pytest.param(ONE_LEFT, "", "8C 9D TD 7H JH KH AH 9S", "", "", id="SOLO-CARD-5 on lead"),
    ],
)
def test_duties(bid: str, hands: str, line: str, free: str, with_penalty: str, refused: str) -> None:
    state = playing(bid, hands, line)
    assert may(state) == set(adapted(bid, free).split())
    rule, _, wrong = refused.partition(" ")
    assert refusals(state, adapted(bid, wrong)) == ({rule} if refused else set())
    assert may(playing(bid, hands, line, **PENALTY)) == set(adapted(bid, f"{free} {with_penalty}").split())


@both_bids
def test_SOLO_CARD_2_with_nothing_else_in_hand_its_holder_leads_the_called_card(bid: str) -> None:
    line = f"pass {bid} pass pass trump:C call:unknown"
    state = acts(dealt(FULL), line)
    assert (to_act(state), may(state)) == (0, {"AH"})
    assert refusals(state, "7H 8H 9H TH JH QH KH") == {"SOLO-CARD-2"}
    assert len(may(acts(dealt(FULL, **PENALTY), line))) == 8


@both_bids
@pytest.mark.parametrize(
    ("hands", "line"),
    [
        pytest.param(EIGHTH, "8C KC", id="following"),
        pytest.param(EXCHANGED, "9S KS AS 7S", id="leading"),
        pytest.param(VOID, f"{THREE_TRICKS} TD KD", id="discarding"),
    ],
)
def test_SOLO_CARD_4_in_whatever_way_it_is_played_the_called_card_shows_the_partner(
    bid: str, hands: str, line: str
) -> None:
    state, others = playing(bid, hands, line), (0, 1, 3, SPECTATOR)
    assert [dispatch.view(state, viewer).contract.partner for viewer in others] == [None] * 4
    state, facts = acts_with_facts(state, adapted(bid, "AC"))
    assert [ContractChanged(Contract(partner=2)) in facts_for(facts, viewer) for viewer in others] == [True] * 4
    assert [dispatch.view(state, viewer).contract.partner for viewer in others] == [2] * 4


# The end of a hand


@both_bids
def test_SOLO_EX_11_SOLO_STOP_1_nothing_stops_a_hand_while_the_partner_is_hidden(bid: str) -> None:
    state = playing(bid, ELEVENTH, FOUR_LOST)
    assert (state.phase, to_act(state)) == ("play", 3)
    state, facts = acts_with_facts(state, adapted(bid, "KC 8C 9C AC"))
    assert (state.phase, details(facts)["reason"]) == ("deal", "four_tricks")
    assert dispatch.scores(state) == (0, VALUES[bid], 0, VALUES[bid])


# Visibility


@both_bids
def test_SOLO_VIS_2_only_the_holder_knows_that_they_are_the_partner(bid: str) -> None:
    state, facts = acts_with_facts(
        dealt(adapted(bid, EIGHTH)), f"{bid} pass pass pass {adapted(bid, 'trump:H call:AC')}"
    )
    changes = [fact for fact in facts if isinstance(fact, ContractChanged) and fact.changes.partner is not None]
    assert [(fact.changes.partner, fact.audience) for fact in changes] == [(2, 1 << 2)]
    viewers = (0, 1, 2, 3, SPECTATOR)
    assert [dispatch.view(state, viewer).contract.partner for viewer in viewers] == [None, None, 2, None, None]


def watched(bid: str, hands: str, viewer: Viewer) -> list[tuple[list[Fact], View]]:
    """Return the viewer's facts and views, action by action until four tricks are lost."""
    state, found = playing(bid, hands), []
    for text in adapted(bid, FOUR_LOST).split():
        state, facts = acts_with_facts(state, text)
        found.append((list(facts_for(facts, viewer)), dispatch.view(state, viewer)))
    assert state.phase == "play"
    return found


@both_bids
@pytest.mark.parametrize("viewer", [0, 3, SPECTATOR])
def test_SOLO_VIS_4_all_is_the_same_whichever_seat_the_tricks_of_the_side_belong_to(bid: str, viewer: Viewer) -> None:
    other_holder = exchanged(ELEVENTH, "9C AC")
    assert playing(bid, other_holder).contract.partner == 1
    assert watched(bid, ELEVENTH, viewer) == watched(bid, other_holder, viewer)
