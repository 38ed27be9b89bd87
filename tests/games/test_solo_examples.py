"""The worked positions of Solo's page, by their number there."""

from typing import Any

import pytest

from croupier.games.actions import Call
from croupier.games.cards import card, cards
from croupier.games.facts import SPECTATOR, PileCard
from croupier.games.interface import CardsShuffled, GameOver, ProposalAgreed
from croupier.games.solo.deck import DECK, winner
from croupier.games.solo.state import SoloState
from tests.games.comparison import rule_against
from tests.games.positions_solo import (
    BIDDERS,
    CALLED_UNKNOWN,
    EIGHTH,
    ELEVENTH,
    FIVE_OF_FIVE,
    FROKE,
    MARRIED,
    NINTH,
    SOLO,
    TWELFTH,
    UNKNOWN,
    dealt,
    due,
    hand,
    legal,
    may,
    new,
    play,
    play_with_facts,
    said_to,
)


def test_SOLO_EX_1_a_deal() -> None:
    state, _ = new().apply(CardsShuffled(DECK, (0,)))
    assert [hand(state, seat) for seat in (3, 0, 1, 2)] == [
        "7C 8C 9C JD QD JH QH KH",
        "TC JC QC KD AD AH 7S 8S",
        "KC AC 7D 7H 8H 9S TS JS",
        "8D 9D TD 9H TH QS KS AS",
    ]
    assert (state.phase, state.to_act) == ("auction", 1)


@pytest.mark.parametrize(
    ("trump", "trick", "seat"),
    [
        ("D", "AH KH 8D 7H", 2),
        ("D", "9D 7D QS AD", 1),
        ("D", "7D QC 8D AD", 1),
        ("H", "KC QC AC 7C", 1),
        ("S", "8S JS AH AS", 3),
        ("S", "7H 8H 9H TH", 3),
    ],
)
def test_SOLO_EX_2_SOLO_RANK_3_SOLO_PLAY_3_trick_winners(trump: str, trick: str, seat: int) -> None:
    laid = [PileCard(value, player) for player, value in enumerate(cards(trick))]
    assert winner("CDHS".index(trump), laid) == seat


def test_SOLO_EX_3_SOLO_BID_3_an_auction() -> None:
    state = dealt(BIDDERS)
    assert legal(state) == "pass froke iss solo solo_clubs solo_do solo_do_clubs"
    state = play(state, "froke")
    assert legal(state) == "pass iss solo solo_clubs solo_do solo_do_clubs"
    state = play(state, "iss")
    assert legal(state) == "pass solo solo_do"
    state = play(state, "solo")
    assert legal(state) == "pass solo_clubs solo_do solo_do_clubs"
    state = play(state, "pass")
    assert (state.phase, state.to_act, legal(state)) == ("name_trump", 2, "trump:D trump:H")
    clubless = dealt(
        ("QC 7D 8D 9D TD JD QD KD", "7C 8C 9C TC JC KC AC 7H", "8H 9H TH JH QH KH AH AD", "7S 8S 9S TS JS QS KS AS")
    )
    assert legal(clubless) == "pass froke solo solo_do"


def test_SOLO_EX_4_keeping_a_bid() -> None:
    asked = play(dealt(BIDDERS), "froke iss pass pass")
    assert (asked.phase, asked.to_act, legal(asked)) == ("keep", 0, "yield keep")
    kept = play(asked, "keep")
    assert (kept.to_act, kept.contract.bid, legal(kept)) == (0, "iss", "trump:C trump:C!")
    assert play(asked, "yield").contract[:2] == (1, "iss")
    clubless = play(dealt(BIDDERS, dealer=1), "froke iss pass pass")
    assert (clubless.to_act, legal(clubless)) == (2, "yield")
    assert play(dealt(BIDDERS), "froke iss solo pass").contract[:2] == (2, "solo")
    assert play(dealt(BIDDERS), "solo solo_clubs pass pass").contract[:2] == (1, "solo_clubs")
    analogous = play(dealt(BIDDERS, solo_keep=True), "solo solo_clubs pass pass")
    assert (analogous.phase, analogous.to_act) == ("keep", 0)


def test_SOLO_EX_5_SOLO_BID_6_SOLO_WED_5_a_wedding_that_must_be_called() -> None:
    state = play(dealt(MARRIED), "froke")
    assert legal(state) == "pass wedding solo solo_clubs solo_do solo_do_clubs"
    state = play(state, "pass pass iss")
    assert (state.phase, state.to_act, legal(state)) == ("wedding", 1, "wedding")
    state = play(state, "wedding")
    assert legal(state) == "call:AS"
    state = play(state, "call:AS")
    assert state.view(SPECTATOR).contract.partner == 3
    assert (state.to_act, legal(state)) == (3, "trump:C trump:C! trump:D trump:D!")
    state = play(state, "trump:D")
    assert state.to_act == 0
    assert may(play(state, "8S 9S 7D")) == {"7S", "JS", "KS", "AS"}
    anything = play(dealt(MARRIED, wedding_trump="any_suit"), "froke pass pass iss wedding call:AS")
    assert legal(anything) == "trump:C trump:C! trump:D trump:D! trump:S trump:S!"
    assert play(dealt(MARRIED), "froke pass solo pass").contract[:2] == (2, "solo")


def declaring(held: str) -> SoloState:
    """Seat 0 holds these cards and the others what is left, the black queens apart."""
    own = held.split()
    left = [text for text in deck_texts() if text not in own]
    queens = [text for text in left if text in ("QC", "QS")]
    others = [[queen] for queen in queens] + [[] for _ in range(3 - len(queens))]
    rest = [text for text in left if text not in queens]
    for other in others:
        other += [rest.pop() for _ in range(8 - len(other))]
    return dealt((held, *(" ".join(other) for other in others)))


def deck_texts() -> list[str]:
    """The deck in notation."""
    return [rank + suit for suit in "CDHS" for rank in "789TJQKA"]


@pytest.mark.parametrize(
    ("held", "trump", "calls"),
    [
        ("7D 8D AD KD 8H KC JS TS", "D", "AC AH AS"),
        ("7D 8D AD KD QD AH KC JS", "D", "AC AS"),
        ("7D 8D AD KD AC AH 8S QC", "D", "AS"),
        ("7D 8D AD KD QD QS KH JH", "D", "AH"),
        ("7D 8D AD KD QC AH 8H AC", "D", "unknown"),
        ("7D 8D 9D AC AH AS KC 8H", "D", "KH KS"),
        ("7D 8D AC KC AH KH AS KS", "D", "QH"),
        ("7D AC KC AH KH QH AS KS", "D", "JC JH JS"),
        ("7C 8C AD KD AH KH AS KS", "C", "QD QH"),
        ("7D 8D 9D TD QC JD AH KH", "D", "AC AS"),
        ("7D 8D 9D TD QC JD AD KD", "D", "AC AH AS"),
        ("QC QS AC KC AD AH JH 7D", "", "AS"),
        ("QC QS AC KC AD AH AS 7D", "", "KD KH KS"),
        ("QC QS 7D 8D 7H 8H 7S 8S", "", "AD AH AS"),
    ],
)
def test_SOLO_EX_6_SOLO_CALL_3_calls(held: str, trump: str, calls: str) -> None:
    state = play(declaring(held), f"froke pass pass pass trump:{trump}" if trump else "wedding pass pass pass")
    assert legal(state).split() == [f"call:{text}" for text in calls.split()]


def test_SOLO_EX_7_the_unknown_ace() -> None:
    state, facts = play_with_facts(dealt(UNKNOWN), CALLED_UNKNOWN)
    heard = {viewer: list(said_to(facts, viewer))[-1] for viewer in (0, 1, 2, 3, SPECTATOR)}
    known, unknown = Call(card("AS")), Call(None)
    assert heard == {0: known, 1: known, 2: unknown, 3: unknown, SPECTATOR: unknown}
    partners = {viewer: state.view(viewer).contract.partner for viewer in (0, 1, 2, 3, SPECTATOR)}
    assert partners == {0: None, 1: 1, 2: None, 3: None, SPECTATOR: None}
    state = play(state, "AC 7C 9C JC AH 7H QD QH")
    assert state.to_act == 2
    state = play(state, "8S 7S KH")
    assert legal(state) == "AS"


def test_SOLO_EX_8_the_called_ace() -> None:
    state = play(dealt(EIGHTH), f"{FROKE} 8C")
    assert may(state) == {"JC", "KC"}
    state = play(state, "KC")
    assert legal(state) == "AC"
    state = play(state, "AC TC QS")
    assert may(state) == {"8H", "QH"}
    exchanged = (EIGHTH[0], EIGHTH[1].replace("AS", "JS"), EIGHTH[2].replace("JS", "AS"), EIGHTH[3])
    leads = {"AC", "JD", "QD", "9H", "TS", "QS"}
    assert may(play(dealt(exchanged), f"{FROKE} 9S KS AS 7S")) == leads
    assert may(play(dealt(exchanged, called_card_rule="penalty"), f"{FROKE} 9S KS AS 7S")) == leads | {"7C"}


def test_SOLO_EX_9_SOLO_CARD_6_the_fifth_trick() -> None:
    state = play(dealt(NINTH), f"{FROKE} KH TH 8H 7S AH 7D 9H 8S QC 8D JH JS 7H KC QH TS TD KD")
    assert may(state) == {"JD", "QD"}
    state = play(state, "JD AD")
    assert (state.phase, state.scores) == ("deal", (0, 2, 0, 2))
    void = (NINTH[0], NINTH[1], NINTH[2].replace("JD QD", "JS TS"), NINTH[3].replace("TS JS", "JD QD"))
    line = f"{FROKE} KH TH 8H 7S AH 7D 9H 8S QC 8D JH 7C 7H KC QH TC TD KD"
    assert legal(play(dealt(void), line)) == "AC"
    assert may(play(dealt(void, called_card_rule="penalty"), line)) == {"AC", "TS", "JS", "QS"}


def test_SOLO_EX_10_the_declarer_keeps_a_card_of_the_called_suit() -> None:
    hands = (EIGHTH[0].replace("9C", "9D"), EIGHTH[1], EIGHTH[2], EIGHTH[3].replace("9D", "9C"))
    state = play(dealt(hands), f"{FROKE} 9S KS JS 7S AS TS 8S")
    assert may(state) == {"9D", "TD", "7H", "JH", "KH", "AH"}


def test_SOLO_EX_11_a_decided_hand_goes_on_while_the_partner_is_hidden() -> None:
    state = play(dealt(ELEVENTH), f"{FROKE} 8H QC JH QH AS 9S 7S 7D KS TS 8S 8D AH QS 7H 9H")
    assert state.tricks[1] + state.tricks[3] == 4
    assert (state.phase, state.to_act) == ("play", 3)
    state = play(state, "KC 8C 9C")
    assert legal(state) == "AC"
    state = play(state, "AC")
    assert (state.phase, state.scores) == ("deal", (0, 2, 0, 2))


def test_SOLO_EX_12_SOLO_THROUGH_4_five_out_of_five() -> None:
    state = play(dealt(TWELFTH), f"{FROKE} {FIVE_OF_FIVE}")
    assert (state.to_act, legal(state)) == (2, "7C TS JS throw_down")
    assert play(state, "throw_down").scores == (2, 0, 2, 0)
    assert play(state, "TS 9S AH 9D KH TD 7C KD QH KC JS AD").scores == (4, 0, 4, 0)
    do = play(dealt(TWELFTH), f"{FROKE.replace('trump:H', 'trump:H!')} {FIVE_OF_FIVE}")
    assert legal(do) == "7C TS JS"
    assert play(do, "TS 9S AH 9D KH TD 7C KD QH KC JS AD").scores == (6, 0, 6, 0)
    exchanged = (TWELFTH[0].replace("QH", "TC"), TWELFTH[1].replace("TC", "QH"), TWELFTH[2], TWELFTH[3])
    line = FIVE_OF_FIVE.replace("8C TC AC QD", "8C KC AC QD")
    lost = play(dealt(exchanged), f"{FROKE} {line} TS 9S TC QH")
    assert (lost.phase, lost.scores) == ("deal", (0, 4, 0, 4))


def test_SOLO_EX_13_a_do_that_is_lost() -> None:
    line = f"{FROKE.replace('trump:H', 'trump:H!')} 9S KS JS 7S"
    state = play(dealt(EIGHTH), line)
    assert (state.phase, state.to_act) == ("play", 1)
    assert play(state, "JC AC TC 8C").scores == (0, 6, 0, 6)
    assert play(dealt(EIGHTH, fail_value="base"), f"{line} JC AC TC 8C").scores == (0, 2, 0, 2)


def test_SOLO_EX_14_SOLO_LAST_2_the_last_two() -> None:
    state = play(dealt(EIGHTH, scores=(30, 36, 34, 36)), FROKE)
    assert (state.phase, state.scores) == ("deal", (30, 36, 34, 36))
    dealer = state.apply(CardsShuffled(due(state).cards))[0].match.dealer
    assert dealer == 0
    assert play(dealt(EIGHTH, scores=(36, 30, 36, 34)), FROKE).phase == "play"
    assert play(dealt(EIGHTH, scores=(36, 30, 36, 34), last_two="either_pair"), FROKE).phase == "deal"


@pytest.mark.parametrize("options", [{}, {"ranking": "out_order"}], ids=repr)
def test_SOLO_EX_15_the_shortest_game(options: dict[str, Any]) -> None:
    state = play(dealt(EIGHTH, **options), "solo_do_clubs pass pass pass trump:C 8C KC AC TC")
    assert state.scores == (0, 36, 36, 36)
    assert state.awaiting == GameOver(((1, 2, 3), (0,)), "buck")
    assert state.match.went_out == (0, 1, 1, 1)


def test_SOLO_EX_16_SOLO_WED_3_a_partner_with_one_suit() -> None:
    hands = ("QC QS AC KC AD AS 7C 8C", "7H 8H 9H TH JH QH KH AH", "9C TC JC 7D 8D 9D TD JD", "QD KD 7S 8S 9S TS JS KS")
    state = play(dealt(hands), "wedding pass pass pass")
    assert legal(state) == "call:AH"
    assert legal(play(state, "call:AH")) == "trump:H trump:H!"


def test_SOLO_EX_17_restarts() -> None:
    begun = dealt(EIGHTH)
    state = play(begun, f"{FROKE} 8C KC")
    assert state.event_record(ProposalAgreed("restart_same")) == {"type": "restart_hand", "cards": "same"}
    again, _ = state.apply(ProposalAgreed("restart_same"))
    assert again == begun
    assert (again.phase, again.to_act, again.contract.stands, again.calls) == ("auction", 0, False, ())
    assert again.view(0).round_number == 1
    fresh, _ = state.apply(ProposalAgreed("restart_new"))
    assert (due(fresh).round_number, due(fresh).shuffle_number, due(fresh).draw_bounds) == (1, 2, ())
    assert fresh.apply(CardsShuffled(DECK))[0].match.dealer == 3
    assert rule_against(fresh, CardsShuffled(DECK, (2,)))
    assert SOLO.proposals.keys() == {"restart_same", "restart_new"}
