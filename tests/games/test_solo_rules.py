"""The rules of Solo by their ids, apart from the worked positions and the called card."""

from typing import Any

import pytest

from croupier.games.actions import Action, Bid, CallPartner, NameTrump, Play
from croupier.games.cards import NOTATION, SUITS, notation
from croupier.games.facts import SPECTATOR, HandRevealed, Mark, MarkChanged, RoundStarted, Seat, TurnChanged
from croupier.games.interface import CardsShuffled, ProposalAgreed
from croupier.games.solo.deck import DECK, ORDER, TRUMPS
from tests.games import dispatch
from tests.games.comparison import rule_against
from tests.games.positions import acts, acts_with_facts, details, due, first_legal, legal, may, refusals, to_act
from tests.games.positions_solo import (
    BIDDERS,
    CALLED_UNKNOWN,
    CLUBLESS,
    DO,
    EIGHTH,
    FIVE_OF_FIVE,
    FROKE,
    MARRIED,
    SOLO,
    TWELFTH,
    UNKNOWN,
    dealt,
    exchanged,
    new,
)

TO_CALL = "froke pass pass pass trump:H"
UNKNOWN_CALL = "froke pass pass pass trump:D"
DIAMONDS = exchanged(CLUBLESS, "QS 7D")
"""Seat 0 has diamonds and both black queens."""
NO_SUIT = exchanged(UNKNOWN, "AC JD", "AH AD", "KH KD")
"""Seat 0 misses three aces and has no card of their suits."""
BUCK = "solo_do_clubs pass pass pass trump:C 8C KC AC TC"


def test_SOLO_DECK_1_thirty_two_cards() -> None:
    assert due(new()).cards == DECK
    assert {NOTATION[value] for value in DECK} == {rank + suit for rank in "789TJQKA" for suit in SUITS}
    assert len(DECK) == 32


@pytest.mark.parametrize("trump", SUITS)
def test_SOLO_RANK_1_the_order_of_trumps(trump: str) -> None:
    suit, queen = SUITS.index(trump), f"Q{trump}" if trump in "DH" else ""
    order = f"QC 7{trump} QS A{trump} K{trump} {queen} J{trump} T{trump} 9{trump} 8{trump}"
    assert notation(ORDER[suit][: TRUMPS[suit].bit_count()]) == order.split()


def test_SOLO_DEAL_1_SOLO_DEAL_3_a_dealer_is_drawn_once_and_then_the_deal_moves_clockwise() -> None:
    state = new()
    assert (due(state).draw_bounds, refusals(state, "pass", 0)) == ((4,), {"SOLO-DEAL-3"})
    record = dispatch.event_record(state, CardsShuffled(DECK[::-1], (3,)))
    assert record == {"type": "deal", "dealer": 3, "deck": notation(DECK[::-1])}
    state, _ = dispatch.apply(state, CardsShuffled(DECK, (2,)))
    assert (state.progress.dealer, dispatch.view(state, 0).dealer) == (2, 2)
    state = first_legal(acts(state, "solo_clubs pass pass pass"))
    assert due(state)[1:] == ((), 2, 1)
    assert dispatch.apply(state, CardsShuffled(DECK))[0].progress.dealer == 3


@pytest.mark.parametrize(
    ("hands", "line", "seat", "text", "rule"),
    [
        pytest.param(BIDDERS, "", None, "match draw call:AC keep swap 7C trump:C", "SOLO-BID-1", id="SOLO-BID-1"),
        pytest.param(BIDDERS, "", 4, "pass", "SOLO-BID-1", id="SOLO-BID-1 no such seat"),
        pytest.param(BIDDERS, "", None, "5", "SOLO-BID-2", id="SOLO-BID-2 an amount"),
        pytest.param(BIDDERS, "solo", None, "froke iss wedding solo", "SOLO-BID-4", id="SOLO-BID-4"),
        pytest.param(CLUBLESS, "", None, "iss solo_clubs solo_do_clubs", "SOLO-BID-5", id="SOLO-BID-5"),
        pytest.param(BIDDERS, "", None, "wedding", "SOLO-BID-6", id="SOLO-BID-6"),
        pytest.param(MARRIED, "pass", None, "froke iss", "SOLO-WED-1", id="SOLO-WED-1"),
        pytest.param(MARRIED, "froke pass pass iss", None, "pass solo keep", "SOLO-WED-2", id="SOLO-WED-2"),
        pytest.param(BIDDERS, "froke iss pass pass", 1, "keep", "SOLO-KEEP-1", id="SOLO-KEEP-1 another seat"),
        pytest.param(BIDDERS, "froke iss pass pass", None, "pass iss keep:7C/C", "SOLO-KEEP-2", id="SOLO-KEEP-2"),
        pytest.param(BIDDERS, "froke pass pass pass", None, "call:AC pass", "SOLO-TRUMP-1", id="SOLO-TRUMP-1"),
        pytest.param(BIDDERS, "iss pass pass pass", None, "trump:H", "SOLO-TRUMP-2", id="SOLO-TRUMP-2"),
        pytest.param(DIAMONDS, "solo pass pass pass", None, "trump:C trump:S", "SOLO-TRUMP-3", id="SOLO-TRUMP-3"),
        pytest.param(BIDDERS, "solo pass pass pass", None, "trump:C!", "SOLO-TRUMP-4", id="SOLO-TRUMP-4"),
        pytest.param(EIGHTH, TO_CALL, 2, "call:AC", "SOLO-CALL-1", id="SOLO-CALL-1 another seat"),
        pytest.param(EIGHTH, TO_CALL, None, "pass 8C", "SOLO-CALL-1", id="SOLO-CALL-1"),
        pytest.param(EIGHTH, TO_CALL, None, "call:unknown call:AH call:KC call:2C", "SOLO-CALL-2", id="SOLO-CALL-2"),
        pytest.param(UNKNOWN, UNKNOWN_CALL, None, "call:AS", "SOLO-CALL-4", id="SOLO-CALL-4"),
        pytest.param(NO_SUIT, UNKNOWN_CALL, None, "call:unknown call:AD call:KC", "SOLO-CALL-5", id="SOLO-CALL-5"),
        pytest.param(MARRIED, "pass wedding pass pass call:AS", None, "trump:S", "SOLO-WED-6", id="SOLO-WED-6"),
        pytest.param(EIGHTH, FROKE, None, "solo call:AC draw yield", "SOLO-PLAY-1", id="SOLO-PLAY-1"),
        pytest.param(EIGHTH, f"{FROKE} 8C", 0, "9C", "SOLO-PLAY-1", id="SOLO-PLAY-1 another seat"),
        pytest.param(EIGHTH, f"{FROKE} 8C", None, "QC TH 8S 2C KC/C", "SOLO-PLAY-2", id="SOLO-PLAY-2"),
        pytest.param(TWELFTH, f"{FROKE} QC 8H JH TH", None, "throw_down", "SOLO-THROUGH-1", id="SOLO-THROUGH-1 early"),
        pytest.param(TWELFTH, f"{FROKE} {FIVE_OF_FIVE}", 0, "throw_down", "SOLO-PLAY-1", id="SOLO-THROUGH-1 seat"),
        pytest.param(TWELFTH, f"{FROKE} {FIVE_OF_FIVE} TS", None, "throw_down", "SOLO-THROUGH-1", id="SOLO-THROUGH-3"),
        pytest.param(EIGHTH, BUCK, 3, "pass 8H solo", "SOLO-END-2", id="SOLO-END-2"),
        pytest.param(BIDDERS, "", None, Bid("nonsense"), "SOLO-BID-2", id="SOLO-BID-2"),
        pytest.param(
            BIDDERS, "solo pass pass pass", None, NameTrump(4, all_tricks=False), "SOLO-TRUMP-3", id="SOLO-TRUMP-3 4"
        ),
        pytest.param(EIGHTH, TO_CALL, None, CallPartner(53), "SOLO-CALL-2", id="SOLO-CALL-2 no card"),
        pytest.param(EIGHTH, f"{FROKE} 8C", None, Play(-1), "SOLO-PLAY-2", id="SOLO-PLAY-2 a negative one"),
    ],
)
def test_refusals(hands: str, line: str, seat: Seat | None, text: str | Action, rule: str) -> None:
    assert refusals(acts(dealt(hands), line), text, seat) == {rule}


def test_SOLO_KEEP_2_SOLO_TRUMP_4_a_do_that_is_kept_stays_a_do() -> None:
    kept = acts(dealt(BIDDERS, solo_keep=True), "solo_do solo_do_clubs pass pass keep")
    assert kept.contract == (0, "solo_do_clubs", -1, True, -1, -1)
    for bid in ("solo", "solo_do"):
        assert acts(dealt(BIDDERS), f"{bid} pass pass pass trump:C").contract.do == (bid == "solo_do")


def test_SOLO_VIS_3_an_unknown_card_that_never_appears_stays_unknown() -> None:
    state, facts = acts_with_facts(dealt(UNKNOWN, scores=(30, 33, 36, 36)), CALLED_UNKNOWN)
    assert (state.phase, details(facts)["partner"], details(facts)["called"]) == ("deal", "1", "unknown")
    assert dispatch.view(state, 3).contract.partner == 1
    assert dispatch.view(state, 3).calls[-1].action == CallPartner(None)


@pytest.mark.parametrize(("first_lead", "leader"), [("left_of_dealer", 2), ("declarer", 0)])
def test_SOLO_PLAY_1_the_first_leader_and_then_clockwise(first_lead: str, leader: int) -> None:
    state = acts(dealt(TWELFTH, dealer=1, first_lead=first_lead), "pass pass froke pass trump:H call:AC")
    for step in range(4):
        assert to_act(state) == (leader + step) % 4
        state = acts(state, legal(state).split()[0])


def test_SOLO_THROUGH_2_SOLO_THROUGH_3_thrown_down_cards_stay_closed_and_a_sixth_card_goes_through() -> None:
    choice = acts(dealt(TWELFTH), f"{FROKE} {FIVE_OF_FIVE}")
    view = dispatch.view(acts(choice, "throw_down"), SPECTATOR)
    assert [(seat.card_count, seat.cards) for seat in view.seats] == [(3, ())] * 4
    state, facts = acts_with_facts(choice, "TS")
    assert (state.through, dispatch.view(state, SPECTATOR).contract.amount) == (True, 4)
    assert MarkChanged(Mark("pledge", None, "through")) in facts
    assert "throw_down" in may(acts(dealt(TWELFTH, through_factor=1), f"{FROKE} {FIVE_OF_FIVE}"))


@pytest.mark.parametrize(
    ("phase", "scores", "line"),
    [
        ("auction", (0, 0, 0, 0), "froke"),
        ("call", (0, 0, 0, 0), "froke pass pass pass trump:H"),
        ("play", (0, 0, 0, 0), f"{FROKE} 9S KS"),
        ("deal", (0, 0, 0, 0), f"{DO} 9S KS JS 7S JC AC TC 8C"),
        ("over", (36, 32, 36, 10), f"{DO} 9S KS JS 7S JC AC TC 8C"),
    ],
)
def test_SOLO_VIS_1_a_hand_is_its_owners_even_when_it_or_the_game_has_ended(
    phase: str, scores: tuple[int, ...], line: str
) -> None:
    state, facts = acts_with_facts(dealt(EIGHTH, scores=scores), line)
    assert (state.phase, all(state.hands)) == (phase, True)
    assert not any(isinstance(fact, HandRevealed) for fact in facts)
    for viewer in (0, 1, 2, 3, SPECTATOR):
        shown = [bool(seat.cards) for seat in dispatch.view(state, viewer).seats]
        assert shown == [seat == viewer for seat in range(4)]


def test_SOLO_RESTART_1_SOLO_RESTART_2_SOLO_END_5_new_cards_from_the_same_dealer_any_number_of_times() -> None:
    state: Any = acts(dealt(EIGHTH), FROKE)
    for number in (2, 3, 4):
        state, facts = dispatch.apply(state, ProposalAgreed("restart_new"))
        assert facts == (RoundStarted(1, 3), TurnChanged("deal", ()))
        assert due(state)[1:] == ((), 1, number)
        for proposal in SOLO.proposals:
            assert rule_against(state, ProposalAgreed(proposal)) == "SOLO-RESTART-2"
        state, _ = dispatch.apply(state, CardsShuffled(DECK))
        assert (state.progress.dealer, dispatch.view(state, 0).round_number, to_act(state)) == (3, 1, 0)
    assert due(first_legal(acts(state, "solo pass pass pass")))[1:] == ((), 2, 1)


def test_SOLO_RESTART_2_no_restart_without_a_hand_in_progress() -> None:
    passed = acts(dealt(BIDDERS), "pass pass pass pass")
    over = acts(dealt(EIGHTH), BUCK)
    for state, rule in ((new(), "SOLO-RESTART-2"), (passed, "SOLO-RESTART-2"), (over, "SOLO-END-2")):
        assert {rule_against(state, ProposalAgreed(proposal)) for proposal in SOLO.proposals} == {rule}
