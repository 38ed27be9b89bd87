"""The worked positions of Solo's page, and more of their kind; the hidden partner and the called card."""

from typing import Any

import pytest

from croupier.conformance.fold import facts_for
from croupier.games.actions import CallPartner
from croupier.games.cards import SUITS, card, cards, notation
from croupier.games.facts import (
    SPECTATOR,
    Called,
    Contract,
    ContractChanged,
    Fact,
    PileCard,
    View,
    Viewer,
)
from croupier.games.interface import CardsShuffled, ProposalAgreed
from croupier.games.solo.deck import DECK, taking
from croupier.games.solo.state import SoloState
from croupier.games.values import WordValue
from tests.games import dispatch
from tests.games.comparison import rule_against
from tests.games.positions import acts, acts_with_facts, details, due, hand, legal, may, refusals, to_act
from tests.games.positions_solo import (
    ALONE,
    BIDDERS,
    CALLED_UNKNOWN,
    CLUBLESS,
    DO,
    EIGHTH,
    ELEVENTH,
    FIVE_ALONE,
    FIVE_OF_FIVE,
    FROKE,
    LAST_THREE,
    MARRIED,
    NINTH,
    SOLO,
    TWELFTH,
    UNKNOWN,
    VOID,
    dealt,
    exchanged,
    new,
)

TO_TRUMP = "froke pass pass pass"
WEDDING = "froke pass pass iss wedding call:AS"
FIVE_WON = f"{FROKE} {FIVE_OF_FIVE}"
SOLO_IN_HEARTS = "solo pass pass pass trump:H"
CLUBS, BUCK = "solo_clubs pass pass pass trump:C", "solo_do_clubs pass pass pass trump:C"
ONE_SUIT = "QC QS AC KC AD AS 7C 8C | 7H 8H 9H TH JH QH KH AH | 9C TC JC 7D 8D 9D TD JD | QD KD 7S 8S 9S TS JS KS"
DIAMONDS = exchanged(CLUBLESS, "QS 7D")
HIDDEN = "KH TH 8H 7S AH 7D 9H 8S QC 8D JH JS 7H KC QH TS TD KD JD AD"
"""The first five tricks of the ninth hands, without the called card."""
LOST = "9S KS JS 7S JC AC TC 8C"
LOSING = exchanged(TWELFTH, "QH TC")
WON_THEN_LOST = f"{FIVE_OF_FIVE.replace('8C TC AC QD', '8C KC AC QD')} TS 9S TC QH"
BASE = {"fail_value": "base"}
OUT, OUT_TWO = {"scores": (36, 0, 36, 0)}, {"scores": (36, 3, 36, 4)}
PAIR, DEFENDERS = {"scores": (30, 36, 34, 36)}, {"scores": (36, 30, 36, 34), "last_two": "either_pair"}
ANY_TRUMP = "3 trump:C trump:C! trump:D trump:D! trump:S trump:S!"
KEEP = {"solo_keep": True}
ANY_SUIT: dict[str, Any] = {"wedding_trump": "any_suit"}
FREE: dict[str, Any] = {"wedding_card": "free"}
MAY: dict[str, Any] = {"call": "may"}
NEARLY_OUT = {"scores": (36, 35, 35, 35)}
PENALTY: dict[str, Any] = {"called_card_rule": "penalty"}
CLUBS_OVER_DO: dict[str, Any] = {"do_over_clubs": False}
CLUBS_OVER_DO_KEEP = CLUBS_OVER_DO | KEEP
MARRY = "pass wedding pass pass call:AS"
"""With the fifth hands: seat 1 and seat 3, who has yet to name trump."""
IN_CLUBS, IN_SPADES = f"{MARRY} trump:C", f"{MARRY} trump:S"
HEARTS = "wedding pass pass pass call:AH trump:H"
FIFTH_OF_FIVE = "7C QC 7D TC QS 7H JC 8C AC 8H KC 9C AD 8D QD TD KD 9H"
"""With clubs as trump seat 1 wins four tricks, and leads to the fifth, in which seat 3 plays next."""
FIFTH_BY_A_QUEEN = "TD AD 7D QD QC 8D 7S 8S KD 7H KC 9D JD 8H TC 7C QS 9H"
"""The same with spades as trump."""
ONE_SPADE = exchanged(MARRIED, "9S 9D")
"""The fifth hands, except that the declarer has one card of the called suit."""
FOUR_LOST = "8H QC JH QH AS 9S 7S 7D KS TS 8S 8D AH QS 7H 9H"
TRUMPS = "QC 7C QS AC KC JC TC 7D | 9C 8C 8D 9D TD JD QD KD | AD 7H 8H 9H TH JH QH KH | AH 7S 8S 9S TS JS KS AS"
"""Seat 0 wins seven tricks with trumps, and loses the last one."""
FOUR_WON = "7D KD AD AH 7H 7S QC 8D 7C 8C 8H 8S QS 9C 9H 9S AC 9D TH TS"


@pytest.mark.parametrize(
    ("deal_packets", "hands"),
    [
        pytest.param("323", ["7C 8C 9C JD QD JH QH KH", "TC JC QC KD AD AH 7S 8S"], id="SOLO-EX-1 SOLO-DEAL-2"),
        pytest.param("singles", ["7C JC 7D JD 7H JH 7S JS", "8C QC 8D QD 8H QH 8S QS"], id="SOLO-DEAL-2 singles"),
    ],
)
def test_the_deal_by_packets(deal_packets: str, hands: list[str]) -> None:
    for start, seats in (("right", (3, 0)), ("left", (1, 2))):
        state, _ = dispatch.apply(new(deal_packets=deal_packets, deal_start=start), CardsShuffled(DECK, (0,)))
        assert [hand(state, seat) for seat in seats] == [set(held.split()) for held in hands]
        assert (state.phase, to_act(state)) == ("auction", 1)


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
    trick_cards = [PileCard(value, player) for player, value in enumerate(cards(trick))]
    assert taking(SUITS.index(trump), trick_cards) == seat


@pytest.mark.parametrize(
    ("hands", "line", "options", "asked"),
    [
        pytest.param(BIDDERS, "", {}, "0 pass froke iss solo solo_clubs solo_do solo_do_clubs", id="SOLO-BID-3"),
        pytest.param(BIDDERS, "froke", {}, "1 pass iss solo solo_clubs solo_do solo_do_clubs", id="SOLO-EX-3 iss"),
        pytest.param(BIDDERS, "froke iss", {}, "2 pass solo solo_do", id="SOLO-EX-3 SOLO-BID-5"),
        pytest.param(BIDDERS, "froke iss solo", {}, "3 pass solo_clubs solo_do solo_do_clubs", id="SOLO-EX-3 solo"),
        pytest.param(BIDDERS, "froke iss solo pass", {}, "2 trump:D trump:H", id="SOLO-EX-3 SOLO-TRUMP-1"),
        pytest.param(CLUBLESS, "", {}, "0 pass froke solo solo_do", id="SOLO-EX-3 the Old is no club"),
        pytest.param(BIDDERS, "froke iss pass pass", {}, "0 yield keep", id="SOLO-EX-4 SOLO-KEEP-1"),
        pytest.param(BIDDERS, "froke iss pass pass keep", {}, "0 trump:C trump:C!", id="SOLO-EX-4 SOLO-KEEP-2"),
        pytest.param(BIDDERS, "froke iss pass pass yield", {}, "1 trump:C trump:C!", id="SOLO-EX-4 SOLO-TRUMP-2"),
        pytest.param(BIDDERS, "froke iss pass pass", {"dealer": 1}, "2 yield", id="SOLO-EX-4 SOLO-KEEP-2 no club"),
        pytest.param(BIDDERS, "solo solo_clubs pass pass", {}, "1 trump:C", id="SOLO-EX-4 not kept"),
        pytest.param(BIDDERS, "solo solo_clubs pass pass", KEEP, "0 yield keep", id="SOLO-EX-4 a solo"),
        pytest.param(BIDDERS, "pass solo solo_do solo_do_clubs", KEEP, "2 yield", id="SOLO-KEEP-1 the do is asked"),
        pytest.param(BIDDERS, "solo solo_do_clubs pass pass", KEEP, "1 trump:C", id="SOLO-KEEP-1 another kind"),
        pytest.param(BIDDERS, "froke iss solo pass", KEEP, "2 trump:D trump:H", id="SOLO-KEEP-1 a solo over both"),
        pytest.param(BIDDERS, "pass iss pass pass", {}, "1 trump:C trump:C!", id="SOLO-BID-7 an iss alone"),
        pytest.param(BIDDERS, "solo_do", {}, "1 pass solo_do_clubs", id="SOLO-EX-20 a do by default"),
        pytest.param(BIDDERS, "solo_clubs", {}, "1 pass solo_do solo_do_clubs", id="SOLO-EX-20 clubs by default"),
        pytest.param(BIDDERS, "solo_do", CLUBS_OVER_DO, "1 pass solo_clubs solo_do_clubs", id="SOLO-EX-20 SOLO-BID-9"),
        pytest.param(BIDDERS, "solo", CLUBS_OVER_DO, "1 pass solo_do solo_clubs solo_do_clubs", id="SOLO-BID-9"),
        pytest.param(BIDDERS, "solo_do solo_clubs", CLUBS_OVER_DO, "2 pass", id="SOLO-EX-20 without a club"),
        pytest.param(BIDDERS, "solo solo_clubs pass pass", CLUBS_OVER_DO_KEEP, "0 yield keep", id="SOLO-EX-20 kept"),
        pytest.param(BIDDERS, "solo solo_do pass solo_clubs", CLUBS_OVER_DO_KEEP, "3 trump:C", id="SOLO-KEEP-3"),
        pytest.param(
            BIDDERS, "solo_do solo_clubs pass solo_do_clubs", CLUBS_OVER_DO_KEEP, "3 trump:C", id="SOLO-KEEP-3 a do"
        ),
        pytest.param(BIDDERS, "pass pass pass froke", {}, ANY_TRUMP, id="SOLO-BID-7 a froke"),
        pytest.param(MARRIED, "pass solo pass pass", {}, "1 trump:C trump:D trump:S", id="SOLO-BID-7 a solo"),
        pytest.param(MARRIED, "froke wedding pass pass", {}, "1 call:AS", id="SOLO-BID-7 a wedding"),
        pytest.param(MARRIED, "pass pass pass pass", {}, "1 wedding", id="SOLO-BID-7 nothing but both queens"),
        pytest.param(MARRIED, "froke", {}, "1 pass wedding solo solo_clubs solo_do solo_do_clubs", id="SOLO-EX-5"),
        pytest.param(MARRIED, "froke pass pass iss", {}, "1 wedding", id="SOLO-EX-5 SOLO-BID-6 SOLO-WED-2"),
        pytest.param(MARRIED, "froke pass pass iss wedding", {}, "1 call:AS", id="SOLO-EX-5"),
        pytest.param(MARRIED, "froke pass pass iss wedding", MAY, "1 call:AS", id="SOLO-CALL-6 not in a wedding"),
        pytest.param(MARRIED, WEDDING, {}, "3 trump:C trump:C! trump:D trump:D!", id="SOLO-WED-6"),
        pytest.param(MARRIED, WEDDING, ANY_SUIT, ANY_TRUMP, id="SOLO-EX-5"),
        pytest.param(MARRIED, f"{WEDDING} trump:D 8S 9S 7D", {}, "3 AS", id="SOLO-EX-5 SOLO-WED-7"),
        pytest.param(MARRIED, f"{WEDDING} trump:D 8S 9S 7D", FREE, "3 7S JS KS AS", id="SOLO-EX-5 SOLO-WED-5"),
        pytest.param(MARRIED, "froke pass solo pass", {}, "2 trump:D trump:H", id="SOLO-EX-5 a solo"),
        pytest.param(DIAMONDS, "solo pass pass pass", {}, "0 trump:D", id="SOLO-TRUMP-3 black queens are not counted"),
        pytest.param(BIDDERS, TO_TRUMP, {"partner_do": False}, "0 trump:C trump:D trump:H trump:S", id="SOLO-TRUMP-4"),
        pytest.param(EIGHTH, f"{FROKE} 8C", {}, "1 JC KC", id="SOLO-EX-8 SOLO-PLAY-2"),
        pytest.param(EIGHTH, f"{FROKE} 7H", {}, "1 QC TH", id="SOLO-PLAY-2 SOLO-RANK-2 the Old follows trumps"),
        pytest.param(EIGHTH, f"{FROKE} 9S AS", {}, "2 TS JS", id="SOLO-PLAY-2 the Blue is no spade"),
        pytest.param(EIGHTH, f"{FROKE} 8C KC AC TC QS", {}, "3 8H QH", id="SOLO-EX-8 trumps are led"),
        pytest.param(EIGHTH, f"{TO_TRUMP} trump:H", MAY, "0 call:AC call:AD call:AS call:nobody", id="SOLO-EX-19"),
        pytest.param(UNKNOWN, f"{TO_TRUMP} trump:D", MAY, "0 call:unknown call:nobody", id="SOLO-CALL-6 or unknown"),
        pytest.param(EIGHTH, f"{ALONE} 8C KC", MAY, "2 7C AC", id="SOLO-EX-19 SOLO-CALL-7 no duties"),
        pytest.param(EIGHTH, ALONE, MAY | PAIR, "0 8C 9C TD 7H JH KH AH 9S", id="SOLO-EX-19 not thrown in"),
        pytest.param(TWELFTH, FIVE_WON, {}, "2 7C TS JS throw_down", id="SOLO-EX-12 SOLO-THROUGH-1"),
        pytest.param(TWELFTH, f"{DO} {FIVE_OF_FIVE}", {}, "2 7C TS JS", id="SOLO-EX-12 SOLO-THROUGH-4"),
        pytest.param(TWELFTH, f"{ALONE} {FIVE_ALONE}", MAY, "0 8C 9C JC throw_down", id="SOLO-EX-19 five of five"),
        pytest.param(ONE_SUIT, "wedding pass pass pass", {}, "0 call:AH", id="SOLO-EX-16 SOLO-WED-3"),
        pytest.param(ONE_SUIT, "wedding pass pass pass call:AH", {}, "1 trump:H trump:H!", id="SOLO-EX-16 SOLO-WED-6"),
        pytest.param(ONE_SUIT, f"{HEARTS} QC", {}, "1 7H 8H 9H TH JH QH KH AH", id="SOLO-EX-18 SOLO-CARD-7 a queen"),
        pytest.param(ONE_SUIT, f"{HEARTS} QC 8H 7D QD 7C 9H 9C KD", {}, "1 AH", id="SOLO-EX-18 SOLO-CARD-7 on lead"),
    ],
)
def test_seats_to_act_and_legal_actions(hands: str, line: str, options: dict[str, Any], asked: str) -> None:
    state = acts(dealt(hands, **options), line)
    assert [str(to_act(state)), *legal(state).split()] == asked.split()


def declaring(held: str) -> SoloState:
    """Return a table with these cards for seat 0, and the black queens in different hands."""
    left = [text for text in notation(DECK) if text not in held.split()]
    queens = [text for text in left if text in ("QC", "QS")]
    rest = [text for text in left if text not in queens]
    others = [[*queens[at : at + 1]] for at in range(3)]
    for other in others:
        other += [rest.pop() for _ in range(8 - len(other))]
    return dealt(" | ".join((held, *map(" ".join, others))))


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
def test_SOLO_EX_6_SOLO_CALL_2_SOLO_CALL_3_SOLO_CALL_5_calls(held: str, trump: str, calls: str) -> None:
    state = acts(declaring(held), f"{TO_TRUMP} trump:{trump}" if trump else "wedding pass pass pass")
    assert legal(state).split() == [f"call:{text}" for text in calls.split()]


def test_SOLO_EX_7_SOLO_CALL_4_SOLO_VIS_3_the_unknown_ace() -> None:
    def partners() -> list[int | None]:
        return [dispatch.view(state, viewer).contract.partner for viewer in (0, 1, 2, 3, SPECTATOR)]

    state, facts = acts_with_facts(dealt(UNKNOWN), CALLED_UNKNOWN)
    calls = [fact for fact in facts if isinstance(fact, Called) and isinstance(fact.call.action, CallPartner)]
    facts_for = [
        [fact.call.action for fact in calls if fact.audience >> viewer & 1] for viewer in (0, 1, 2, 3, SPECTATOR)
    ]
    known, unknown = [CallPartner(card("AS"))], [CallPartner(None)]
    assert facts_for == [known, known, unknown, unknown, unknown]
    assert partners() == [None, 1, None, None, None]
    state = acts(state, "AC 7C 9C JC AH 7H QD QH 2:8S 7S KH")
    assert legal(state) == "AS"
    state = acts(state, "AS")
    assert partners() == [1, 1, 1, 1, 1]


@pytest.mark.parametrize(
    ("hands", "line", "options", "reason", "scores"),
    [
        pytest.param(NINTH, f"{FROKE} {HIDDEN}", {}, "called_card_unplayed", (0, 2, 0, 2), id="SOLO-EX-9 SOLO-CARD-6"),
        pytest.param(
            ELEVENTH, f"{FROKE} {FOUR_LOST} KC 8C 9C AC", {}, "four_tricks", (0, 2, 0, 2), id="SOLO-EX-11 SOLO-STOP-1"
        ),
        pytest.param(ELEVENTH, f"{SOLO_IN_HEARTS} {FOUR_LOST}", {}, "four_tricks", (0, 6, 6, 6), id="SOLO-STOP-3"),
        pytest.param(TWELFTH, f"{FIVE_WON} throw_down", {}, "thrown_down", (2, 0, 2, 0), id="SOLO-EX-12"),
        pytest.param(TWELFTH, f"{FIVE_WON} {LAST_THREE}", {}, "all_tricks", (4, 0, 4, 0), id="SOLO-THROUGH-3"),
        pytest.param(TWELFTH, f"{DO} {FIVE_OF_FIVE} {LAST_THREE}", {}, "all_tricks", (6, 0, 6, 0), id="SOLO-STOP-2"),
        pytest.param(LOSING, f"{FROKE} {WON_THEN_LOST}", {}, "trick_lost", (0, 4, 0, 4), id="SOLO-EX-12 lost"),
        pytest.param(TWELFTH, f"{FIVE_WON} throw_down", OUT, "thrown_down", (36, 0, 36, 0), id="SOLO-PLAY-4"),
        pytest.param(EIGHTH, f"{DO} {LOST}", {}, "trick_lost", (0, 6, 0, 6), id="SOLO-EX-13"),
        pytest.param(EIGHTH, f"{DO} {LOST}", BASE, "trick_lost", (0, 2, 0, 2), id="SOLO-EX-13 SOLO-SCORE-4"),
        pytest.param(EIGHTH, f"{BUCK} 8C KC AC TC", {}, "trick_lost", (0, 36, 36, 36), id="SOLO-EX-15 SOLO-END-2"),
        pytest.param(TRUMPS, f"{BUCK} 7D KD AD AH", {}, "trick_lost", (0, 36, 36, 36), id="SOLO-STOP-2 a solo do"),
        pytest.param(TRUMPS, f"{CLUBS} {FOUR_WON} KC TD JH JS", {}, "five_tricks", (12, 0, 0, 0), id="SOLO-STOP-4"),
        pytest.param(EIGHTH, FROKE, PAIR, "last_two", (30, 36, 34, 36), id="SOLO-EX-14 SOLO-LAST-1"),
        pytest.param(EIGHTH, FROKE, DEFENDERS, "last_two", (36, 30, 36, 34), id="SOLO-EX-14 SOLO-LAST-2"),
        pytest.param(MARRIED, "pass wedding pass pass call:AS", OUT_TWO, "last_two", (36, 3, 36, 4), id="SOLO-WED-4"),
        pytest.param(BIDDERS, "pass pass pass pass", {}, "all_passed", (0, 0, 0, 0), id="SOLO-BID-8"),
        pytest.param(
            MARRIED, f"{IN_CLUBS} {FIFTH_OF_FIVE} AS 9D throw_down", {}, "thrown_down", (0, 8, 0, 8), id="SOLO-EX-18"
        ),
        pytest.param(
            MARRIED,
            f"{IN_CLUBS} {FIFTH_OF_FIVE} 7S 9D",
            PENALTY,
            "called_card_unplayed",
            (8, 0, 8, 0),
            id="SOLO-EX-18 SOLO-WED-7",
        ),
        pytest.param(
            MARRIED,
            f"{IN_CLUBS} {FIFTH_OF_FIVE} 7S 9D throw_down",
            FREE,
            "thrown_down",
            (0, 8, 0, 8),
            id="SOLO-EX-18 SOLO-WED-5",
        ),
        pytest.param(
            TWELFTH, f"{ALONE} {FIVE_ALONE} throw_down", MAY, "thrown_down", (2, 0, 0, 0), id="SOLO-EX-19 SOLO-CALL-7"
        ),
        pytest.param(
            TWELFTH, f"{ALONE} {FIVE_ALONE} 8C KC AC 9S", MAY, "trick_lost", (0, 4, 4, 4), id="SOLO-EX-19 lost"
        ),
        pytest.param(ELEVENTH, f"{ALONE} {FOUR_LOST}", MAY, "four_tricks", (0, 2, 2, 2), id="SOLO-EX-19 SOLO-STOP-1"),
        pytest.param(
            ELEVENTH, f"{ALONE} {FOUR_LOST}", MAY | NEARLY_OUT, "four_tricks", (36, 35, 35, 35), id="SOLO-CALL-7 void"
        ),
    ],
)
def test_reason_and_scores_of_a_hand(
    hands: str, line: str, options: dict[str, Any], reason: str, scores: tuple[int, ...]
) -> None:
    *words, last = line.split()
    before = acts(dealt(hands, **options), " ".join(words))
    assert to_act(before) is not None
    state, facts = acts_with_facts(before, last)
    assert (details(facts)["reason"], dispatch.scores(state)) == (WordValue(reason), scores)
    assert (state.phase == "over") == (scores.count(36) == 3)
    assert state.phase == "over" or due(state)[1:] == ((), 2, 1)


def test_SOLO_EX_14_a_hand_of_two_who_are_not_out_goes_on() -> None:
    assert acts(dealt(EIGHTH, scores=(36, 30, 36, 34)), FROKE).phase == "play"
    assert acts(dealt(EIGHTH, scores=(30, 0, 34, 36)), FROKE).phase == "play"


def test_SOLO_EX_17_SOLO_RESTART_2_restarts() -> None:
    begun = dealt(EIGHTH)
    state = acts(begun, f"{FROKE} 8C KC")
    for name in ("same", "new"):
        assert dispatch.event_record(state, ProposalAgreed(f"restart_{name}")) == {
            "type": "restart_hand",
            "cards": name,
        }
    assert dispatch.apply(state, ProposalAgreed("restart_same"))[0] == begun
    fresh, _ = dispatch.apply(state, ProposalAgreed("restart_new"))
    assert due(fresh)[1:] == ((), 1, 2)
    assert dispatch.apply(fresh, CardsShuffled(DECK))[0].progress.dealer == 3
    assert rule_against(fresh, CardsShuffled(DECK, (2,)))
    assert SOLO.proposals.keys() == {"restart_same", "restart_new"}


EXCHANGED = exchanged(EIGHTH, "AS JS")
"""The eighth hands, except that the holder of the called card can win a trick with the ace of spades."""
LEADING = "8H 9H TH 8C 7D 8D 9D JD | QC 7H KH 9C 7S 8S 9S TS | QS AH JH QH AC 7C TC AS | KC JC AD KD JS KS TD QD"
"""The holder of the called card leads to the fifth trick."""
FULL = "7H 8H 9H TH JH QH KH AH | AD AS QC 7C 8C 9C TC JC | QS KC AC 7D 8D 9D TD JD | QD KD 7S 8S 9S TS JS KS"
"""Seat 0 holds one suit and nothing else."""
THREE_TRICKS = "KH TH 8H 7S AH 7D 9H 8S QC 8D JH 7C"
FOUR_TRICKS = f"{THREE_TRICKS} 7H KC QS TC"
TO_FIFTH = "JD 9C JH KD AH QD 9H KH QS AD TH QC 7S AS KS 7D"
KEPT = "9S KS JS 7S AS TS 8S"
ONE_LEFT = exchanged(EIGHTH, "9C 9D")
"""The eighth hands, except that the declarer has one card of the called suit."""


def playing(hands: str, line: str = "", **options: Any) -> SoloState:
    """Return the state after seat 0 has called the ace of clubs in a froke in hearts, and after this line."""
    return acts(dealt(hands, **options), f"{FROKE} {line}")


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
    ],
)
def test_duties(hands: str, line: str, free: str, with_penalty: str, refused: str) -> None:
    state = playing(hands, line)
    assert may(state) == set(free.split())
    rule, _, wrong = refused.partition(" ")
    assert refusals(state, wrong) == ({rule} if refused else set())
    assert may(playing(hands, line, **PENALTY)) == set(f"{free} {with_penalty}".split())


def test_SOLO_CARD_2_with_nothing_else_in_hand_its_holder_leads_the_called_card() -> None:
    line = "pass froke pass pass trump:C call:unknown"
    state = acts(dealt(FULL), line)
    assert (to_act(state), may(state)) == (0, {"AH"})
    assert refusals(state, "7H 8H 9H TH JH QH KH") == {"SOLO-CARD-2"}
    assert len(may(acts(dealt(FULL, **PENALTY), line))) == 8


@pytest.mark.parametrize(
    ("hands", "line", "bound", "beside_it", "refused"),
    [
        pytest.param(MARRIED, f"{IN_CLUBS} 8S TS 7D", "AS", "7S JS KS", "SOLO-CARD-1", id="SOLO-EX-18 the suit is led"),
        pytest.param(
            MARRIED,
            f"{IN_CLUBS} TD AD 7D QD KD 8D KC 9D",
            "AS TC JC",
            "7S JS KS",
            "SOLO-CARD-2",
            id="SOLO-EX-18 on lead",
        ),
        pytest.param(
            MARRIED, f"{IN_CLUBS} {FIFTH_OF_FIVE}", "AS", "7S JS KS", "SOLO-CARD-3", id="SOLO-EX-18 the fifth trick"
        ),
        pytest.param(
            MARRIED, f"{IN_SPADES} 8S QC 7D", "AS", "7S JS KS", "SOLO-CARD-1", id="SOLO-CARD-7 another trump is led"
        ),
        pytest.param(
            MARRIED, f"{IN_SPADES} TD AD 7D QD QC 8D", "7S JS KS AS", "", "", id="SOLO-CARD-7 a black queen is led"
        ),
        pytest.param(
            MARRIED, f"{IN_SPADES} {FIFTH_BY_A_QUEEN}", "AS", "JS KS", "SOLO-CARD-3", id="SOLO-CARD-7 the fifth trick"
        ),
        pytest.param(
            ONE_SPADE, f"{IN_SPADES} AH", "QC QS AC AD KD JD 9D", "TS", "SOLO-CARD-5", id="SOLO-CARD-7 no last trump"
        ),
    ],
)
def test_SOLO_WED_7_duties_in_a_wedding(hands: str, line: str, bound: str, beside_it: str, refused: str) -> None:
    state = acts(dealt(hands, **ANY_SUIT), line)
    assert may(state) == set(bound.split())
    assert refusals(state, beside_it) == ({refused} if refused else set())
    every = set(f"{bound} {beside_it}".split())
    assert may(acts(dealt(hands, **ANY_SUIT, **FREE), line)) == every
    # The option frees the holder, but not the declarer.
    with_penalty = may(state) if refused == "SOLO-CARD-5" else every
    assert may(acts(dealt(hands, **ANY_SUIT, **PENALTY), line)) == with_penalty


def test_SOLO_CARD_4_in_whatever_way_it_is_played_the_called_card_shows_the_partner() -> None:
    others = (0, 1, 3, SPECTATOR)
    for hands, line in ((EIGHTH, "8C KC"), (EXCHANGED, "9S KS AS 7S"), (VOID, f"{THREE_TRICKS} TD KD")):
        state = playing(hands, line)
        assert [dispatch.view(state, viewer).contract.partner for viewer in others] == [None] * 4
        state, facts = acts_with_facts(state, "AC")
        assert all(ContractChanged(Contract(partner=2)) in facts_for(facts, viewer) for viewer in others)
        assert [dispatch.view(state, viewer).contract.partner for viewer in others] == [2] * 4


def test_SOLO_VIS_2_only_the_holder_knows_that_they_are_the_partner() -> None:
    state, facts = acts_with_facts(dealt(EIGHTH), FROKE)
    changes = [fact for fact in facts if isinstance(fact, ContractChanged) and fact.changes.partner is not None]
    assert [(fact.changes.partner, fact.audience) for fact in changes] == [(2, 1 << 2)]
    viewers = (0, 1, 2, 3, SPECTATOR)
    assert [dispatch.view(state, viewer).contract.partner for viewer in viewers] == [None, None, 2, None, None]


def watched(hands: str, viewer: Viewer) -> list[tuple[list[Fact], View]]:
    """Return the viewer's facts and views, action by action until four tricks are lost."""
    state, found = playing(hands), []
    for text in FOUR_LOST.split():
        state, facts = acts_with_facts(state, text)
        found.append((list(facts_for(facts, viewer)), dispatch.view(state, viewer)))
    assert state.phase == "play"
    return found


@pytest.mark.parametrize("viewer", [0, 3, SPECTATOR])
def test_SOLO_VIS_4_all_is_the_same_whichever_seat_the_tricks_of_the_side_belong_to(viewer: Viewer) -> None:
    other_holder = exchanged(ELEVENTH, "9C AC")
    assert playing(other_holder).contract.partner == 1
    assert watched(ELEVENTH, viewer) == watched(other_holder, viewer)
