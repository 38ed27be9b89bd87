"""The rules of Jøssing from the first lead to the last trick, one by one, and what can be seen of them."""

import pytest

from croupier.games.actions import PLAYS, Bid, Play
from croupier.games.cards import STANDARD_DECK, card, cards
from croupier.games.facts import SPECTATOR, Called, CardsMoved, Mark, MoveReason, PileCard, TrickTaken, TurnChanged
from croupier.games.interface import NOTHING_LEGAL, CardsShuffled, GameOver, SeatActed, SeatsToAct
from croupier.games.jossing import scoring
from tests.games.comparison import rule_against
from tests.games.positions_jossing import acts, acts_with_facts, legal, section, to_act

THREE = ["2C 3C", "5C 6D", "8C 9H"]


# The first leader

FOUR = ["2C 3C 4C", "5C 6C 7C", "8C 9C TC", "JC QC KC"]


@pytest.mark.parametrize("dealer", range(4))
def test_JOS_LEAD_2_JOS_LEAD_3_JOS_D1_JOS_D2_JOS_D3_ties_go_clockwise_from_the_left_of_the_dealer(dealer: int) -> None:
    state = section(FOUR, "AH", dealer=dealer, leader="highest_bidder")
    left, across, right = [(dealer + step) % 4 for step in (1, 2, 3)]
    for amount in (0, 1, 3):
        assert to_act(acts(state, " ".join(f"{seat}={amount}" for seat in range(4)))) == [left]
    assert to_act(acts(state, f"{left}=0 {across}=1 {right}=2 {dealer}=2")) == [right]
    assert to_act(acts(state, f"{left}=0 {across}=2 {right}=1 {dealer}=2")) == [across]


# Playing


def test_JOS_PLAY_1_one_seat_after_the_other() -> None:
    state = acts(section(THREE, "5H"), "0=0 1=0 2=0")
    for seat, line in ((1, "1:5C"), (2, "2:8C"), (0, "0:2C")):
        assert state.awaiting == SeatsToAct((seat,))
        for other in {-1, 0, 1, 2, 3} - {seat}:
            assert state.legal_actions(other) == NOTHING_LEGAL
            assert rule_against(state, SeatActed(other, PLAYS[card("2C")])) == "JOS-PLAY-1"
        state = acts(state, line)
    assert to_act(state) == [2]


def test_JOS_PLAY_2_JOS_D15_the_leader_plays_any_card_of_his_own() -> None:
    state = acts(section(["AH 5C", "KH 2S"], "3H", dealer=1), "0=0 1=0")
    assert legal(state, 0) == ["5C", "AH"]
    for value in (card("KH"), card("3H"), -1, 52, 53, 52 + card("5C"), 999):
        assert rule_against(state, SeatActed(0, Play(value))) == "JOS-PLAY-2"


def test_JOS_PLAY_5_the_winner_leads_and_there_are_as_many_tricks_as_cards() -> None:
    state, facts = acts_with_facts(section(THREE, "5H"), "0=0 1=0 2=2 1:6D 2:8C 0:2C")
    swept = CardsMoved("trick", "taken", cards("6D 8C 2C"), 3, MoveReason.WIN)
    assert facts[-3:] == (swept, TrickTaken(1), TurnChanged("play", (1,)))
    taken = next(pile.cards for pile in state.view(0).piles if pile.name == "taken")
    assert taken == (PileCard(card("6D"), 1), PileCard(card("8C"), 2), PileCard(card("2C"), 0))
    state = acts(state, "1:5C 2:9H 0:3C")
    assert (state.won, state.phase) == ((0, 1, 1), "deal")
    assert [seat.tricks_taken for seat in state.view(SPECTATOR).seats] == [0, 1, 1]


def test_JOS_PLAY_6_nothing_is_played_automatically() -> None:
    state = acts(section(["KC", "2C", "3D"], "5H"), "0=0 1=0 2=0")
    for seat, line in ((1, "1:2C"), (2, "2:3D"), (0, "0:KC")):
        assert (to_act(state), len(legal(state, seat))) == ([seat], 1)
        state = acts(state, line)
    assert state.phase == "deal"


# Who wins a trick


@pytest.mark.parametrize(
    ("line", "winner"),
    [
        pytest.param("0:AC 1:2H 2:KC", 1, id="JOS-WIN-1 any trump"),
        pytest.param("0:AC 1:2H 2:3H", 2, id="JOS-WIN-1 the highest trump"),
        pytest.param("0:2H 1:AC 2:AS", 0, id="JOS-WIN-1 a trump that was led"),
        pytest.param("0:9C 1:TC 2:8C", 1, id="JOS-WIN-2 the highest of the led suit"),
        pytest.param("0:2C 1:AS 2:AD", 0, id="JOS-WIN-3 JOS-D14 others never win"),
    ],
)
def test_who_wins(line: str, winner: int) -> None:
    played = cards(" ".join(word[2:] for word in line.split()))
    for last_copy_wins in (False, True):
        assert scoring.winner(played, 2, last_copy_wins) == winner
    state = section([word[2:] for word in line.split()], "9H", dealer=2)
    assert acts(state, f"0=0 1=0 2=0 {line}").won[winner] == 1


# What can be seen


def test_the_marks_of_a_section() -> None:
    state = section(THREE, "5H", game_type="up_and_down")
    assert state.view(SPECTATOR).marks == (Mark("cards", None, "2"), Mark("sections", None, "20"))


def test_bids_stay_on_the_table_until_the_next_deal() -> None:
    state = acts(section(["2C", "3C"], "5H"), "1=0 0=1 1:3C 0:2C")
    assert state.view(0).calls == (Called(1, Bid(0)), Called(0, Bid(1)))
    again, _ = state.apply(CardsShuffled(STANDARD_DECK))
    assert again.view(0).calls == ()


def test_JOS_END_1_after_the_game_every_action_is_refused() -> None:
    state = section(["2C", "3C"], "5H")
    state = acts(state, "0=0 1=0 1:3C")
    state = state._replace(section=state.section._replace(number=10))
    state = acts(state, "0:2C")
    assert isinstance(state.awaiting, GameOver)
    assert rule_against(state, SeatActed(0, Bid(0))) == "JOS-END-1"
    assert rule_against(state, CardsShuffled(STANDARD_DECK)) == "JOS-DEAL-4"
