"""The rules of Solo up to the contract, one by one: deck, options, deal, auction."""

import json
from typing import Any

import pytest

from croupier.games.actions import Bid, Call, Draw, Keep, Match, NameTrump, Pass, Play, Swap
from croupier.games.cards import NOTATION, cards, notation
from croupier.games.facts import TurnChanged
from croupier.games.interface import (
    CardsShuffled,
    SeatActed,
    SeatsToAct,
)
from croupier.games.solo.contracts import KINDS
from croupier.games.solo.deck import DECK, FOLLOWING, ORDER, PLAIN, TRUMPS
from tests.games.comparison import rule_against
from tests.games.positions_solo import (
    BIDDERS,
    EIGHTH,
    MARRIED,
    Hands,
    dealt,
    details,
    due,
    ended,
    hand,
    legal,
    may,
    new,
    play,
    play_with_facts,
    refusal,
)

# The deck, the seats, the options


def test_SOLO_DECK_1_thirty_two_cards() -> None:
    assert due(new()).cards == DECK
    assert {NOTATION[value] for value in DECK} == {rank + suit for rank in "789TJQKA" for suit in "CDHS"}
    assert len(DECK) == 32


@pytest.mark.parametrize(
    ("trump", "order"),
    [
        ("C", "QC 7C QS AC KC JC TC 9C 8C"),
        ("S", "QC 7S QS AS KS JS TS 9S 8S"),
        ("H", "QC 7H QS AH KH QH JH TH 9H 8H"),
        ("D", "QC 7D QS AD KD QD JD TD 9D 8D"),
    ],
)
def test_SOLO_RANK_1_the_order_of_trumps(trump: str, order: str) -> None:
    suit = "CDHS".index(trump)
    assert notation(ORDER[suit][: TRUMPS[suit].bit_count()]) == order.split()


def test_SOLO_RANK_2_the_black_queens_are_of_no_printed_suit() -> None:
    old, blue = cards("QC QS")
    assert (PLAIN[0] >> old & 1, PLAIN[3] >> blue & 1) == (0, 0)
    assert FOLLOWING[1][cards("AC")[0]] == PLAIN[0]
    assert FOLLOWING[1][old] == FOLLOWING[1][blue] == TRUMPS[1]


# The deal


def test_SOLO_DEAL_1_a_dealer_is_drawn_once_and_then_the_deal_moves_clockwise() -> None:
    state = new()
    assert due(state).draw_bounds == (4,)
    state, _ = state.apply(CardsShuffled(DECK, (2,)))
    assert (state.match.dealer, state.view(0).dealer) == (2, 2)
    state = play(state, "solo_clubs pass pass pass trump:C")
    while state.to_act >= 0:
        state = play(state, legal(state).split()[0])
    assert due(state)[1:] == ((), 2, 1)
    assert state.apply(CardsShuffled(DECK))[0].match.dealer == 3


@pytest.mark.parametrize(
    ("options", "first_eight", "receivers"),
    [
        ({}, "7C 8C 9C JD QD JH QH KH", (3, 0, 1, 2)),
        ({"deal_start": "left"}, "7C 8C 9C JD QD JH QH KH", (1, 2, 3, 0)),
        ({"deal_packets": "singles"}, "7C JC 7D JD 7H JH 7S JS", (3, 0, 1, 2)),
        ({"deal_packets": "singles", "deal_start": "left"}, "7C JC 7D JD 7H JH 7S JS", (1, 2, 3, 0)),
    ],
)
def test_SOLO_DEAL_2_packets_and_where_they_begin(
    options: dict[str, Any], first_eight: str, receivers: tuple[int, ...]
) -> None:
    state, _ = new(**options).apply(CardsShuffled(DECK, (0,)))
    assert hand(state, receivers[0]) == first_eight
    third_packet = {"323": ["KD"], "singles": ["9D"]}[options.get("deal_packets", "323")]
    assert set(third_packet) <= set(
        hand(state, receivers[1] if "deal_packets" not in options else receivers[2]).split()
    )
    assert all(held.bit_count() == 8 for held in state.hands)


def test_SOLO_DEAL_3_the_deal_as_it_is_written() -> None:
    record = new().event_record(CardsShuffled(DECK[::-1], (3,)))
    assert json.loads(json.dumps(record)) == {"type": "deal", "dealer": 3, "deck": notation(DECK[::-1])}


def test_SOLO_DEAL_3_a_deal_that_is_not_due_or_not_valid_is_refused() -> None:
    state = new()
    for shuffled in (CardsShuffled(DECK[1:], (0,)), CardsShuffled((DECK[1], *DECK[1:]), (0,)), CardsShuffled((), ())):
        assert rule_against(state, shuffled) == "SOLO-DEAL-3"
    assert rule_against(state, CardsShuffled(DECK)) == "SOLO-DEAL-1"
    assert rule_against(state, CardsShuffled(DECK, (4,))) == "SOLO-DEAL-1"
    assert rule_against(state, SeatActed(0, Pass())) == "SOLO-DEAL-3"
    assert rule_against(dealt(EIGHTH), CardsShuffled(DECK)) == "SOLO-DEAL-3"


# The auction


def test_SOLO_BID_1_one_turn_each_from_the_left_of_the_dealer() -> None:
    state = dealt(BIDDERS, dealer=1)
    for seat in (2, 3, 0, 1):
        assert state.awaiting == SeatsToAct((seat,))
        for other in {-1, 0, 1, 2, 3, 4} - {seat}:
            assert not state.legal_actions(other).actions
            assert refusal(state, "pass", other) == "SOLO-BID-1"
        state = play(state, "pass")
    assert state.phase == "deal"


@pytest.mark.parametrize("asked", [Match(), Draw(), Call(None), Keep(), Swap(()), Play(5), NameTrump(0, do=False)])
def test_SOLO_BID_1_other_verbs_are_refused_in_the_auction(asked: Any) -> None:
    assert refusal(dealt(BIDDERS), asked) == "SOLO-BID-1"


def test_SOLO_BID_2_the_ladder() -> None:
    assert list(KINDS) == ["froke", "iss", "wedding", "solo", "solo_clubs", "solo_do", "solo_do_clubs"]
    assert [kind.rank for kind in KINDS.values()] == [1, 2, 3, 4, 5, 6, 7]
    for wrong in (Bid("nonsense"), Bid(5), Bid("Solo"), Bid("")):
        assert refusal(dealt(BIDDERS), wrong) == "SOLO-BID-2"


@pytest.mark.parametrize("low", ["froke", "iss", "wedding", "solo"])
def test_SOLO_BID_4_a_bid_is_higher_than_all_before(low: str) -> None:
    assert refusal(play(dealt(BIDDERS), "solo"), low) == "SOLO-BID-4"


@pytest.mark.parametrize("bid", ["iss", "solo_clubs", "solo_do_clubs"])
def test_SOLO_BID_5_club_bids_need_a_club_that_is_not_the_old(bid: str) -> None:
    hands = ("QC 7D 8D 9D TD JD QD KD", "7C 8C 9C TC JC KC AC 7H", "8H 9H TH JH QH KH AH AD", "7S 8S 9S TS JS QS KS AS")
    assert refusal(dealt(hands), bid) == "SOLO-BID-5"


@pytest.mark.parametrize("bid", ["froke", "iss"])
def test_SOLO_WED_1_both_queens_forbid_froke_and_iss(bid: str) -> None:
    state = play(dealt(MARRIED), "pass")
    assert refusal(state, bid) == "SOLO-WED-1"
    assert may(state) == {"pass", "wedding", "solo", "solo_clubs", "solo_do", "solo_do_clubs"}


@pytest.mark.parametrize(
    ("hands", "line", "outcome"),
    [
        pytest.param(BIDDERS, "froke iss solo pass", ("name_trump", 2, "solo"), id="a-solo"),
        pytest.param(BIDDERS, "solo solo_clubs pass pass", ("name_trump", 1, "solo_clubs"), id="a-solo-in-clubs"),
        pytest.param(MARRIED, "pass solo pass pass", ("name_trump", 1, "solo"), id="a-solo-of-the-married"),
        pytest.param(MARRIED, "pass pass solo pass", ("name_trump", 2, "solo"), id="a-solo-over-the-married"),
        pytest.param(MARRIED, "froke wedding pass pass", ("call", 1, "wedding"), id="a-wedding"),
        pytest.param(MARRIED, "pass pass pass pass", ("wedding", 1, ""), id="nothing-but-both-queens"),
        pytest.param(MARRIED, "froke pass pass iss", ("wedding", 1, ""), id="an-iss-but-both-queens"),
        pytest.param(BIDDERS, "pass pass pass pass", ("deal", -1, ""), id="nothing"),
        pytest.param(BIDDERS, "froke iss pass pass", ("keep", 0, ""), id="an-iss-over-a-froke"),
        pytest.param(BIDDERS, "pass iss pass pass", ("name_trump", 1, "iss"), id="an-iss-alone"),
        pytest.param(BIDDERS, "pass pass pass froke", ("name_trump", 3, "froke"), id="a-froke-alone"),
    ],
)
def test_SOLO_BID_7_who_is_declarer(hands: Hands, line: str, outcome: tuple[str, int, str]) -> None:
    state = play(dealt(hands), line)
    assert (state.phase, state.to_act, state.contract.bid) == outcome


def test_SOLO_WED_2_the_wedding_has_to_be_called_after_the_round() -> None:
    state, facts = play_with_facts(dealt(MARRIED), "froke pass pass iss")
    assert facts[-1] == TurnChanged("wedding", (1,))
    assert legal(state) == "wedding"
    assert {refusal(state, said) for said in ("pass", "solo", "keep")} == {"SOLO-WED-2"}
    assert refusal(state, "wedding", 0) == "SOLO-WED-2"
    state = play(state, "wedding")
    assert (state.phase, state.contract.declarer, state.contract.bid) == ("call", 1, "wedding")


def test_SOLO_BID_8_four_passes_throw_the_hand_in() -> None:
    state, facts = play_with_facts(dealt(BIDDERS, scores=(1, 2, 3, 4)), "pass pass pass pass")
    assert state.scores == (1, 2, 3, 4)
    assert (ended(facts).points, ended(facts).notes) == ((0, 0, 0, 0), ("", "", "", ""))
    assert ended(facts).headline == "thrown in, all passed"
    assert details(facts) == {"outcome": "thrown_in", "reason": "all_passed", "void": "false"}
    assert state.apply(CardsShuffled(DECK))[0].match[:2] == (2, 0)


@pytest.mark.parametrize(
    ("line", "keeps", "asked"),
    [
        ("froke iss pass pass", False, 0),
        ("pass pass pass pass", True, -1),
        ("solo solo_clubs pass pass", True, 0),
        ("solo solo_clubs pass pass", False, -1),
        ("solo_do solo_do_clubs pass pass", True, 0),
        ("solo solo_do_clubs pass pass", True, -1),
        ("pass solo solo_do solo_do_clubs", True, 2),
        ("solo_clubs solo_do pass solo_do_clubs", True, 1),
        ("froke iss solo pass", True, -1),
    ],
)
def test_SOLO_KEEP_1_who_is_asked_whether_he_keeps_his_bid(line: str, keeps: bool, asked: int) -> None:
    state = play(dealt(BIDDERS, solo_keep=keeps), line)
    assert (state.to_act if state.phase == "keep" else -1) == asked


def test_SOLO_KEEP_2_keeping_needs_a_club_and_yielding_nothing() -> None:
    asked = play(dealt(BIDDERS), "froke iss pass pass")
    assert legal(asked) == "yield keep"
    assert play(asked, "keep").contract[:2] == (0, "iss")
    assert play(asked, "yield").contract[:2] == (1, "iss")
    assert refusal(asked, "keep", 1) == "SOLO-KEEP-1"
    for wrong in (Keep(cards("7C"), 0), Keep((), 0), Keep(cards("7C")), Pass(), Bid("iss")):
        assert refusal(asked, wrong) == "SOLO-KEEP-2"
    clubless = play(dealt(BIDDERS, dealer=1), "froke iss pass pass")
    assert legal(clubless) == "yield"
    assert refusal(clubless, "keep") == "SOLO-KEEP-2"
    kept = play(dealt(BIDDERS, solo_keep=True), "solo_do solo_do_clubs pass pass keep")
    assert kept.contract == (0, "solo_do_clubs", -1, True, -1, -1)
