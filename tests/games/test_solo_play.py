"""Tricks in Solo: following, five out of five, when a hand stops, who sees what."""

from typing import Any

import pytest

from croupier.games.actions import PLAYS, Bid, Call, Draw, Play, ThrowDown, Yield
from croupier.games.cards import card
from croupier.games.facts import (
    SPECTATOR,
    HandRevealed,
    Marked,
)
from croupier.games.solo import SoloState
from tests.games.positions_solo import (
    CALLED_UNKNOWN,
    EIGHTH,
    ELEVENTH,
    FIVE_OF_FIVE,
    FROKE,
    TWELFTH,
    UNKNOWN,
    Hands,
    dealt,
    details,
    legal,
    may,
    play,
    play_with_facts,
    refusal,
)

DO = FROKE.replace("trump:H", "trump:H!")
FOUR_LOST = "8H QC JH QH AS 9S 7S 7D KS TS 8S 8D AH QS 7H 9H"
SOLO_IN_CLUBS: Hands = (
    "QC 7C QS AC KC JC TC 7D",
    "9C 8C 8D 9D TD JD QD KD",
    "AD 7H 8H 9H TH JH QH KH",
    "AH 7S 8S 9S TS JS KS AS",
)
"""Seat 0 wins seven tricks with trumps, and loses the last one."""


def playing(hands: Hands = EIGHTH, line: str = "", **options: Any) -> SoloState:
    """A froke in hearts of seat 0, who calls the ace of clubs."""
    return play(dealt(hands, **options), f"{FROKE} {line}")


# Following suit and winning


@pytest.mark.parametrize(("first_lead", "leader"), [("left_of_dealer", 2), ("declarer", 0)])
def test_SOLO_PLAY_1_who_leads_first_and_then_clockwise(first_lead: str, leader: int) -> None:
    state = play(dealt(TWELFTH, dealer=1, first_lead=first_lead), "pass pass froke pass trump:H call:AC")
    assert (state.to_act, state.phase) == (leader, "play")
    for step in (1, 2, 3):
        state = play(state, legal(state).split()[0])
        assert state.to_act == (leader + step) % 4
        for other in {0, 1, 2, 3, -1, 4} - {state.to_act}:
            assert refusal(state, PLAYS[card("8C")], other) == "SOLO-PLAY-1"


def test_SOLO_PLAY_2_follow_the_suit_led_and_black_queens_follow_trumps_only() -> None:
    state = playing(EIGHTH, "8C")
    assert may(state) == {"JC", "KC"}
    for wrong in ("QC", "TH", "8S", PLAYS[card("2C")], Play(-1), Play(53), Play(card("KC"), 0)):
        assert refusal(state, wrong) == "SOLO-PLAY-2"
    assert may(playing(EIGHTH, "7H")) == {"QC", "TH"}
    assert may(playing(EIGHTH, "9S AS")) == {"TS", "JS"}


@pytest.mark.parametrize("asked", [Bid("solo"), Call(None), Draw(), Yield()])
def test_SOLO_PLAY_1_other_verbs_are_refused_in_play(asked: Any) -> None:
    assert refusal(playing(), asked) == "SOLO-PLAY-1"


def test_SOLO_PLAY_4_seats_that_are_out_declare_help_and_defend() -> None:
    state = play(dealt(TWELFTH, scores=(36, 0, 36, 0)), f"{FROKE} {FIVE_OF_FIVE} throw_down")
    assert state.scores == (36, 0, 36, 0)


# Five out of five


def test_SOLO_THROUGH_1_the_lead_to_the_sixth_trick_chooses() -> None:
    state = playing(TWELFTH, FIVE_OF_FIVE)
    assert (state.to_act, legal(state)) == (2, "7C TS JS throw_down")
    assert refusal(state, "throw_down", 0) == "SOLO-PLAY-1"
    assert "throw_down" in may(playing(TWELFTH, FIVE_OF_FIVE, through_factor=1))
    for early in ("", "QC 8H JH TH", FIVE_OF_FIVE[:-3]):
        assert refusal(playing(TWELFTH, early), ThrowDown()) == "SOLO-THROUGH-1"


def test_SOLO_THROUGH_2_thrown_down_cards_stay_closed() -> None:
    state, facts = play_with_facts(dealt(TWELFTH), f"{FROKE} {FIVE_OF_FIVE} throw_down")
    assert (state.scores, details(facts)["reason"]) == ((2, 0, 2, 0), "thrown_down")
    view = state.view(SPECTATOR)
    assert [seat.card_count for seat in view.seats] == [3, 3, 3, 3]
    assert all(not seat.cards for seat in view.seats)


def test_SOLO_THROUGH_3_the_sixth_card_played_makes_it_a_through_hand() -> None:
    state, facts = play_with_facts(playing(TWELFTH, FIVE_OF_FIVE), "TS")
    assert state.through
    assert Marked("pledge", None, "through") in facts
    assert state.view(SPECTATOR).contract.amount == 4
    assert refusal(play(state, "9S AH 9D"), "throw_down") == "SOLO-THROUGH-1"


# When a hand stops


def test_SOLO_STOP_1_SOLO_STOP_3_a_solo_stops_at_once() -> None:
    state = play(dealt(ELEVENTH), f"solo pass pass pass trump:H {FOUR_LOST}")
    assert (state.phase, state.scores) == ("deal", (0, 6, 6, 6))


def test_SOLO_STOP_2_a_do_needs_every_trick() -> None:
    failed, facts = play_with_facts(dealt(SOLO_IN_CLUBS), "solo_do_clubs pass pass pass trump:C 7D KD AD AH")
    assert (details(facts)["reason"], failed.scores) == ("trick_lost", (0, 36, 36, 36))
    made, facts = play_with_facts(play(dealt(TWELFTH), f"{DO} {FIVE_OF_FIVE}"), "TS 9S AH 9D KH TD 7C KD QH KC JS AD")
    assert (details(facts)["reason"], made.scores) == ("all_tricks", (6, 0, 6, 0))


def test_SOLO_STOP_4_five_tricks_with_one_lost_are_enough() -> None:
    line = "7D KD AD AH 7H 7S QC 8D 7C 8C 8H 8S QS 9C 9H 9S AC 9D TH TS"
    before = play(dealt(SOLO_IN_CLUBS), f"solo_clubs pass pass pass trump:C {line}")
    assert (before.phase, before.tricks) == ("play", (4, 0, 1, 0))
    state, facts = play_with_facts(before, "KC TD JH JS")
    assert (details(facts)["reason"], details(facts)["side_tricks"]) == ("five_tricks", "5")
    assert state.scores == (12, 0, 0, 0)


# Who knows what


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
    state, facts = play_with_facts(dealt(EIGHTH, scores=scores), line)
    assert (state.phase, all(state.hands)) == (phase, True)
    assert not any(isinstance(fact, HandRevealed) for fact in facts)
    for viewer in (0, 1, 2, 3, SPECTATOR):
        shown = [bool(seat.cards) for seat in state.view(viewer).seats]
        assert shown == [seat == viewer for seat in range(4)]


def test_SOLO_VIS_3_an_unknown_card_that_never_appears_stays_unknown() -> None:
    state, facts = play_with_facts(dealt(UNKNOWN, scores=(30, 33, 36, 36)), CALLED_UNKNOWN)
    assert (state.phase, details(facts)["partner"], details(facts)["called"]) == ("deal", "1", "unknown")
    assert state.view(3).contract.partner == 1
    assert state.view(3).calls[-1].action == Call(None)
