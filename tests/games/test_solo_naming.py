"""Naming trump and calling a partner in Solo, weddings, and hands that are played again."""

import pytest

from croupier.games.actions import Call, NameTrump
from croupier.games.cards import cards, notation
from croupier.games.facts import SPECTATOR, CardOrder, ContractChanged, Marked, RoundStarted, TurnChanged, only
from croupier.games.interface import (
    CardsShuffled,
    ProposalAgreed,
)
from croupier.games.solo import SoloState
from croupier.games.solo.deck import DECK, ORDER
from tests.games.comparison import rule_against
from tests.games.positions_solo import (
    BIDDERS,
    CALLED_UNKNOWN,
    EIGHTH,
    FROKE,
    MARRIED,
    SOLO,
    TWELFTH,
    UNKNOWN,
    dealt,
    details,
    due,
    legal,
    may,
    new,
    play,
    play_with_facts,
    refusal,
)

# Trump


def test_SOLO_TRUMP_1_the_declarer_names_trump_and_in_a_wedding_the_partner() -> None:
    state = play(dealt(BIDDERS), "froke pass pass pass")
    assert (state.phase, state.to_act) == ("name_trump", 0)
    assert refusal(state, "trump:C", 1) == refusal(state, "call:AC") == refusal(state, "pass") == "SOLO-TRUMP-1"
    assert play(dealt(MARRIED), "pass wedding pass pass call:AS").to_act == 3


@pytest.mark.parametrize("bid", ["iss", "solo_clubs", "solo_do_clubs"])
def test_SOLO_TRUMP_2_after_a_club_bid_clubs_are_trump(bid: str) -> None:
    state = play(dealt(BIDDERS), f"{bid} pass pass pass")
    assert may(state) <= {"trump:C", "trump:C!"}
    assert refusal(state, "trump:H") == "SOLO-TRUMP-2"


def test_SOLO_TRUMP_3_a_suit_of_which_one_holds_a_card() -> None:
    hands = ("QC QS 8D 9D TD JD QD KD", "7C 8C 9C TC JC KC AC 7H", "8H 9H TH JH QH KH AH AD", "7S 8S 9S TS JS 7D KS AS")
    state = play(dealt(hands), "solo pass pass pass")
    assert legal(state) == "trump:D"
    for wrong in ("trump:C", "trump:S", "trump:H", NameTrump(4, do=False), NameTrump(-1, do=False)):
        assert refusal(state, wrong) == "SOLO-TRUMP-3"
    assert legal(play(dealt(BIDDERS), "pass pass froke pass")) == "trump:D trump:D! trump:H trump:H!"


def test_SOLO_TRUMP_4_a_do_with_a_partner_and_never_in_a_solo() -> None:
    assert "trump:C!" in may(play(dealt(BIDDERS), "froke pass pass pass"))
    without = play(dealt(BIDDERS, partner_do=False), "froke pass pass pass")
    assert may(without) == {"trump:C", "trump:D", "trump:H", "trump:S"}
    assert refusal(without, "trump:C!") == "SOLO-TRUMP-4"
    for bid in ("solo", "solo_do"):
        state = play(dealt(BIDDERS), f"{bid} pass pass pass")
        assert refusal(state, "trump:C!") == "SOLO-TRUMP-4"
        assert play(state, "trump:C").contract.do == (bid == "solo_do")


def test_naming_trump_says_what_the_hand_is_worth_and_sorts_it() -> None:
    _, facts = play_with_facts(dealt(BIDDERS), "froke pass pass pass trump:C!")
    assert ContractChanged(trump=0, amount=12) in facts
    assert [fact for fact in facts if isinstance(fact, Marked)] == [
        Marked("kind", None, "clean"),
        Marked("pledge", None, "do"),
    ]
    assert CardOrder(ORDER[0]) in facts


# Calling a partner


def calling(held: str, trump: str) -> SoloState:
    """Seat 0 is to call in a froke."""
    left = [text for text in notation(DECK) if text not in held.split() and text not in ("QC", "QS")]
    queens = [text for text in ("QC", "QS") if text not in held.split()]
    others = [[*queens[at : at + 1]] for at in range(3)]
    for other in others:
        other += [left.pop() for _ in range(8 - len(other))]
    return play(dealt((held, *map(" ".join, others))), f"froke pass pass pass trump:{trump}")


def test_SOLO_CALL_1_the_declarer_calls_and_must_call() -> None:
    state = play(dealt(EIGHTH), "froke pass pass pass trump:H")
    assert state.phase == "call"
    assert refusal(state, "call:AC", 2) == refusal(state, "pass") == refusal(state, "8C") == "SOLO-CALL-1"


def test_SOLO_CALL_2_a_missing_ace_of_a_suit_in_hand() -> None:
    state = calling("7D 8D AD KD 8H KC JS TS", "D")
    assert legal(state) == "call:AC call:AH call:AS"
    for wrong in ("call:unknown", "call:AD", "call:KH", Call(-1), Call(53), "call:2C"):
        assert refusal(state, wrong) == "SOLO-CALL-2"
    assert refusal(calling("7D 8D AD KD AC AH 8S QC", "D"), "call:AC") == "SOLO-CALL-2"


def test_SOLO_CALL_4_the_one_missing_ace_without_its_suit_stays_unknown() -> None:
    state, facts = play_with_facts(dealt(UNKNOWN), CALLED_UNKNOWN)
    assert (state.contract.called, state.contract.partner) == (cards("AS")[0], 1)
    assert ContractChanged(partner=1, audience=only(1)) in facts
    assert Marked("called_card", None, "unknown") in facts
    before = play(dealt(UNKNOWN), "froke pass pass pass trump:D")
    assert legal(before) == "call:unknown"
    assert refusal(before, "call:AS") == "SOLO-CALL-4"
    shown, facts = play_with_facts(state, "AC 7C 9C JC AH 7H QD QH 8S 7S KH AS")
    assert Marked("called_card", None, "AS") in facts
    assert shown.view(SPECTATOR).contract.partner == 1


def test_SOLO_CALL_5_any_missing_ace_where_no_suit_card_is_held() -> None:
    state = calling("7D 8D 9D TD QC JD AD KD", "D")
    assert legal(state) == "call:AC call:AH call:AS"
    assert refusal(state, "call:unknown") == refusal(state, "call:AD") == refusal(state, "call:KC") == "SOLO-CALL-5"


def test_SOLO_WED_4_a_wedding_of_the_last_two_is_thrown_in_before_trump() -> None:
    state, facts = play_with_facts(dealt(MARRIED, scores=(36, 3, 36, 4)), "pass wedding pass pass call:AS")
    assert (state.phase, state.contract.trump) == ("deal", -1)
    assert details(facts)["reason"] == "last_two"


def test_SOLO_WED_6_the_called_suit_is_no_trump_unless_it_is_all_there_is() -> None:
    line = "pass wedding pass pass call:AS"
    assert refusal(play(dealt(MARRIED), line), "trump:S") == "SOLO-WED-6"
    assert refusal(play(dealt(MARRIED), line), "trump:H") == "SOLO-TRUMP-3"
    assert "trump:S" in may(play(dealt(MARRIED, wedding_trump="any_suit"), line))


# Restarts


def test_SOLO_RESTART_1_all_that_seats_can_agree_on() -> None:
    assert set(SOLO.proposals) == {"restart_same", "restart_new"}
    state = play(dealt(EIGHTH), FROKE)
    assert rule_against(state, ProposalAgreed("resign")) == "SOLO-RESTART-2"


def test_SOLO_RESTART_2_SOLO_END_5_new_cards_from_the_same_dealer_as_often_as_you_like() -> None:
    state = play(dealt(EIGHTH), FROKE)
    for number in (2, 3, 4):
        state, facts = state.apply(ProposalAgreed("restart_new"))
        assert facts == (RoundStarted(1, 3), TurnChanged("deal", ()))
        assert due(state)[1:] == ((), 1, number)
        for proposal in SOLO.proposals:
            assert rule_against(state, ProposalAgreed(proposal)) == "SOLO-RESTART-2"
        state, _ = state.apply(CardsShuffled(DECK))
        assert (state.match.dealer, state.view(0).round_number, state.to_act) == (3, 1, 0)
    state = play(state, "solo pass pass pass trump:C")
    while state.to_act >= 0:
        state = play(state, legal(state).split()[0])
    assert due(state)[1:] == ((), 2, 1)


def test_SOLO_RESTART_2_no_restart_without_a_hand_in_progress() -> None:
    ended_hand = play(dealt(BIDDERS), "pass pass pass pass")
    over = play(dealt(EIGHTH), "solo_do_clubs pass pass pass trump:C 8C KC AC TC")
    for state, rule in ((new(), "SOLO-RESTART-2"), (ended_hand, "SOLO-RESTART-2"), (over, "SOLO-END-2")):
        for proposal in SOLO.proposals:
            assert rule_against(state, ProposalAgreed(proposal)) == rule
    state = play(dealt(TWELFTH), FROKE)
    assert state.event_record(ProposalAgreed("restart_new")) == {"type": "restart_hand", "cards": "new"}
