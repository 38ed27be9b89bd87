"""The hidden partner of Solo in froke and iss: the duties around the called card, when a hand stops, who knows what."""

import re
from typing import Any

import pytest

from croupier.games.facts import (
    SPECTATOR,
    CardsMoved,
    ContractChanged,
    Fact,
    RoundEnded,
    TrickTaken,
    TurnChanged,
    View,
    Viewer,
)
from croupier.games.solo import SoloState
from tests.games.fold import heard
from tests.games.positions_solo import (
    EIGHTH,
    ELEVENTH,
    NINTH,
    TWELFTH,
    Hands,
    dealt,
    details,
    legal,
    may,
    play,
    play_with_facts,
    refusal,
)

PENALTY: dict[str, Any] = {"called_card_rule": "penalty"}
EXCHANGED: Hands = (EIGHTH[0], EIGHTH[1].replace("AS", "JS"), EIGHTH[2].replace("JS", "AS"), EIGHTH[3])
"""The eighth hands but that the holder of the called card can win a trick with the ace of spades."""
VOID: Hands = (NINTH[0], NINTH[1], NINTH[2].replace("JD QD", "JS TS"), NINTH[3].replace("TS JS", "JD QD"))
"""The ninth hands but that seat 2 has no diamond."""
THREE_TRICKS = "KH TH 8H 7S AH 7D 9H 8S QC 8D JH 7C"
FOUR_TRICKS = f"{THREE_TRICKS} 7H KC QS TC"
FOUR_LOST = "8H QC JH 7H AS 9S 7S 7D KS TS 8S 8D QD JS AD 9D"
"""With the eleventh hands: all four tricks to the defenders, and the called card is still hidden."""
VALUES = {"froke": 2, "iss": 4}
both = pytest.mark.parametrize("bid", VALUES)


def told(bid: str, text: str) -> str:
    """What is told of a froke in hearts with the ace of clubs called, told of an iss with the ace of hearts called.

    The two suits change places, but for their queens: the Old is always a trump.
    """
    return text if bid == "froke" else re.sub(r"(?<!Q)[CH]\b", lambda suit: "HC"["CH".index(suit[0])], text)


def begun(bid: str, hands: Hands, do: bool = False, **options: Any) -> SoloState:
    """Seat 0 has bid, named trump and called."""
    named = told(bid, f"trump:H{'!' * do} call:AC")
    return play(dealt([told(bid, hand) for hand in hands], **options), f"{bid} pass pass pass {named}")


def playing(bid: str, hands: Hands, line: str, **options: Any) -> SoloState:
    """The same after a line of play."""
    return play(begun(bid, hands, **options), told(bid, line))


# Duties


@both
def test_SOLO_CARD_1_the_called_card_is_played_when_its_suit_is_led(bid: str) -> None:
    state = playing(bid, EIGHTH, "8C KC")
    assert legal(state) == told(bid, "AC")
    assert refusal(state, told(bid, "7C")) == refusal(state, "QS") == "SOLO-CARD-1"
    assert refusal(state, told(bid, "KH")) == "SOLO-PLAY-2"
    assert may(playing(bid, EIGHTH, "8C KC", **PENALTY)) == set(told(bid, "AC 7C").split())


@both
def test_SOLO_CARD_2_its_holder_leads_no_other_card_of_its_suit(bid: str) -> None:
    state = playing(bid, EXCHANGED, "9S KS AS 7S")
    assert may(state) == set(told(bid, "AC QS 9H TS JD QD").split())
    assert refusal(state, told(bid, "7C")) == "SOLO-CARD-2"
    assert refusal(playing(bid, EXCHANGED, "9S KS AS 7S", **PENALTY), told(bid, "7C")) == ""


@both
def test_SOLO_CARD_2_with_nothing_else_in_hand_its_holder_leads_the_called_card(bid: str) -> None:
    hands = ("7H 8H 9H TH JH QH KH AH", "AD AS QC 7C 8C 9C TC JC", "QS KC AC 7D 8D 9D TD JD", "QD KD 7S 8S 9S TS JS KS")
    line = f"pass {bid} pass pass trump:C call:unknown"
    state = play(dealt(hands), line)
    assert (state.to_act, legal(state)) == (0, "AH")
    assert {refusal(state, other) for other in hands[0].split()[:-1]} == {"SOLO-CARD-2"}
    assert may(play(dealt(hands, **PENALTY), line)) == set(hands[0].split())


@both
def test_SOLO_CARD_3_the_fifth_trick_is_the_last_chance(bid: str) -> None:
    before = playing(bid, VOID, f"{THREE_TRICKS} TD KD")
    assert may(before) == set(told(bid, "QH QS AC JS TS").split())
    state = playing(bid, VOID, f"{FOUR_TRICKS} TD KD")
    assert legal(state) == told(bid, "AC")
    assert refusal(state, "QH") == refusal(state, "JS") == "SOLO-CARD-3"
    assert may(playing(bid, VOID, f"{FOUR_TRICKS} TD KD", **PENALTY)) == set(told(bid, "AC QH JS TS").split())


@both
def test_SOLO_CARD_3_on_lead_to_the_fifth_trick(bid: str) -> None:
    hands = ("8H 9H TH 8C 7D 8D 9D JD", "QC 7H KH 9C 7S 8S 9S TS", "QS AH JH QH AC 7C TC AS", "KC JC AD KD JS KS TD QD")
    line = "JD 9C JH KD AH QD 9H KH QS AD TH QC 7S AS KS 7D"
    state = playing(bid, hands, line)
    assert (state.to_act, legal(state)) == (2, told(bid, "AC"))
    assert refusal(state, "QH") == refusal(state, told(bid, "7C")) == "SOLO-CARD-3"
    assert may(playing(bid, hands, line, **PENALTY)) == set(told(bid, "AC 7C TC QH").split())


@both
@pytest.mark.parametrize(
    ("hands", "line"),
    [
        pytest.param(EIGHTH, "8C KC", id="following"),
        pytest.param(EXCHANGED, "9S KS AS 7S", id="leading"),
        pytest.param(VOID, f"{THREE_TRICKS} TD KD", id="discarding"),
    ],
)
def test_SOLO_CARD_4_in_whatever_way_it_is_played_the_called_card_shows_the_partner(
    bid: str, hands: Hands, line: str
) -> None:
    state = playing(bid, hands, line)
    others = (0, 1, 3, SPECTATOR)
    assert [state.view(viewer).contract.partner for viewer in others] == [None] * 4
    state, facts = play_with_facts(state, told(bid, "AC"))
    assert [ContractChanged(partner=2) in heard(facts, viewer) for viewer in others] == [True] * 4
    assert [state.view(viewer).contract.partner for viewer in others] == [2] * 4


@both
@pytest.mark.parametrize("options", [{}, PENALTY], ids=repr)
def test_SOLO_CARD_5_the_declarer_keeps_his_only_card_of_the_called_suit(bid: str, options: dict[str, Any]) -> None:
    hands = (EIGHTH[0].replace("9C", "9D"), EIGHTH[1], EIGHTH[2], EIGHTH[3].replace("9D", "9C"))
    state = playing(bid, hands, "9S KS JS 7S AS TS 8S", **options)
    assert may(state) == set(told(bid, "9D TD 7H JH KH AH").split())
    assert refusal(state, told(bid, "8C")) == "SOLO-CARD-5"
    assert told(bid, "8C") in may(begun(bid, hands, **options))
    assert told(bid, "8C") in may(playing(bid, EIGHTH, "9S KS JS 7S AS TS 8S", **options))


# When a hand stops


@both
def test_SOLO_STOP_1_nothing_stops_a_hand_while_the_partner_is_hidden(bid: str) -> None:
    state = playing(bid, ELEVENTH, FOUR_LOST)
    assert (state.phase, state.to_act) == ("play", 3)
    state, facts = play_with_facts(state, told(bid, "KC 8C 9C AC"))
    assert (state.phase, details(facts)["reason"]) == ("deal", "four_tricks")
    assert state.scores == (0, VALUES[bid], 0, VALUES[bid])


# Who knows what


@both
def test_SOLO_VIS_2_the_holder_alone_knows_that_he_is_the_partner(bid: str) -> None:
    named = f"{bid} pass pass pass {told(bid, 'trump:H call:AC')}"
    state, facts = play_with_facts(dealt([told(bid, hand) for hand in EIGHTH]), named)
    viewers = (0, 1, 2, 3, SPECTATOR)
    assert [partners(facts, viewer) for viewer in viewers] == [set(), set(), {2}, set(), set()]
    assert [state.view(viewer).contract.partner for viewer in viewers] == [None, None, 2, None, None]


def partners(facts: tuple[Fact, ...], viewer: Viewer) -> set[int]:
    """The partners that a viewer was told of."""
    found = (fact.partner for fact in heard(facts, viewer) if isinstance(fact, ContractChanged))
    return {partner for partner in found if partner is not None}


def watched(bid: str, hands: Hands, viewer: Viewer) -> list[tuple[list[Fact], View]]:
    """All that a viewer hears, and the view that he has, action by action until four tricks are lost."""
    state, found = begun(bid, hands), []
    for said in told(bid, FOUR_LOST).split():
        state, facts = play_with_facts(state, said)
        found.append((list(heard(facts, viewer)), state.view(viewer)))
    assert state.phase == "play"
    return found


@both
@pytest.mark.parametrize("viewer", [0, 3, SPECTATOR])
def test_SOLO_VIS_4_all_is_the_same_whichever_seat_the_tricks_of_the_side_belong_to(bid: str, viewer: Viewer) -> None:
    other_holder = (ELEVENTH[0], ELEVENTH[1].replace("9C", "AC"), ELEVENTH[2].replace("AC", "9C"), ELEVENTH[3])
    assert begun(bid, other_holder).contract.partner == 1
    assert watched(bid, ELEVENTH, viewer) == watched(bid, other_holder, viewer)


@both
def test_SOLO_VIS_4_tricks_of_the_side_are_told_when_the_hand_has_ended_and_not_before(bid: str) -> None:
    line = "QC 8H JH TH 7H 9H QS JD 8C TC AC QD AS 7S 9C 7D"
    state, facts = play_with_facts(begun(bid, TWELFTH), told(bid, line))
    assert {type(fact) for fact in facts} == {CardsMoved, TrickTaken, TurnChanged, ContractChanged}
    assert [fact for fact in facts if isinstance(fact, ContractChanged)] == [ContractChanged(partner=2)]
    view = state.view(SPECTATOR)
    assert [(mark.name, mark.value) for mark in view.marks] == [("kind", "dirty" if bid == "froke" else "clean")]
    assert [seat.tricks_taken for seat in view.seats] == [2, 0, 2, 0]
    _, facts = play_with_facts(state, told(bid, "KS 8S JC 8D throw_down"))
    assert [details(facts)["side_tricks"] for fact in facts if isinstance(fact, RoundEnded)] == ["5"]
