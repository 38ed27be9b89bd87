"""The worked positions of the rules page, JOS-EX-1 to JOS-EX-12."""

from typing import Any

import pytest

from croupier.games.actions import Action, Bid, Pass, action_from_json
from croupier.games.cards import card
from croupier.games.facts import SPECTATOR
from croupier.games.interface import CardsShuffled, SeatActed, SeatsToAct
from croupier.games.jossing import scoring
from tests.games.comparison import rule_against
from tests.games.positions_jossing import acts, before, hand, legal, new, section, shuffled, to_act


def sizes(seats: int, **options: Any) -> list[int]:
    """The cards per seat of all sections."""
    table = new(seats, **options).table
    return [table.size(number) for number in range(1, table.sections + 1)]


@pytest.mark.parametrize(("system", "expected"), [("classic", (10, 10, 11)), ("modern", (5, 5, 10))])
def test_JOS_EX_1_the_lowest_trump_beats_the_ace_that_was_led(system: str, expected: tuple[int, ...]) -> None:
    state = section(["TC", "AC", "2H"], "5H", scoring=system)
    state = acts(state, "0=0 1=0 2=1")
    assert to_act(state) == [1]
    state = acts(state, "1:AC 2:2H 0:TC")
    assert (state.won, state.scores) == ((0, 0, 1), expected)


def test_JOS_EX_2_the_sizes_of_all_sections() -> None:
    assert sizes(6) == [1, 2, 3, 4, 5, 6, 7, 8]
    assert sizes(7, game_type="up_and_down") == [1, 2, 3, 4, 5, 6, 7, 7, 6, 5, 4, 3, 2, 1]
    assert sizes(8, game_type="up_and_down") == [1, 2, 3, 4, 5, 6, 6, 5, 4, 3, 2, 1]
    assert sizes(8, decks=2) == list(range(1, 11))
    long = sizes(5, game_type="up_and_down")
    assert (len(long), long[9], long[10], long[11]) == (20, 10, 10, 9)


def test_JOS_EX_3_JOS_LEAD_1_JOS_DEAL_1_JOS_D12_the_deal_and_the_lead_go_round() -> None:
    table = new(3, first_dealer=2).table
    dealers = [table.dealer(number) for number in range(1, 11)]
    assert dealers == [2, 0, 1, 2, 0, 1, 2, 0, 1, 2]
    leaders = [scoring.first_leader((0, 0, 0), table.from_left_of(dealer), False) for dealer in dealers]
    assert leaders == [0, 1, 2, 0, 1, 2, 0, 1, 2, 0]


@pytest.mark.parametrize(
    ("bids", "highest"), [((2, 2, 0, 1), 0), ((0, 0, 0, 0), 2), ((0, 3, 1, 2), 1), ((1, 3, 0, 3), 3)]
)
def test_JOS_EX_4_the_leader_of_the_first_trick(bids: tuple[int, ...], highest: int) -> None:
    hands = ["2C 3C 4C", "5C 6C 7C", "8C 9C TC", "JC QC KC"]
    line = " ".join(f"{seat}={amount}" for seat, amount in enumerate(bids))
    assert to_act(acts(section(hands, "AH", dealer=1), line)) == [2]
    assert to_act(acts(section(hands, "AH", dealer=1, leader="highest_bidder"), line)) == [highest]


def test_JOS_EX_5_JOS_PLAY_3_JOS_PLAY_4_following_suit() -> None:
    hands = ["9C 9D 9H 9S", "5C KC AH 2S"]
    state = acts(section(hands, "2H", dealer=1), "0=0 1=0")
    assert legal(acts(state, "0:9C"), 1) == ["5C", "KC"]
    late = acts(section(hands, "2H", dealer=0), "0=0 1=0")
    assert legal(late, 1) == ["5C", "KC", "AH", "2S"]
    void = acts(section(["9C 9D", "AH 2S"], "2H", dealer=1), "0=0 1=0 0:9C")
    assert legal(void, 1) == ["AH", "2S"]


@pytest.mark.parametrize(
    ("indicator", "plays", "winner"),
    [
        ("QS", "2:9D 3:KD 0:AC 1:3D", 3),
        ("QS", "2:9D 3:KD 0:2S 1:AD", 0),
        ("QS", "2:9D 3:4S 0:2S 1:AD", 3),
        ("QD", "2:9D 3:KC 0:TD 1:AS", 0),
        ("QH", "2:2C 3:AD 0:AS 1:KD", 2),
    ],
)
def test_JOS_EX_6_who_wins_a_trick(indicator: str, plays: str, winner: int) -> None:
    held = sorted(plays.split())
    state = section([word[2:] for word in held], indicator, dealer=1)
    assert acts(state, "0=0 1=0 2=0 3=0 " + plays).won[winner] == 1


@pytest.mark.parametrize(
    ("plays", "first", "last"),
    [("0:KH 1:KH 2:4H", 0, 1), ("0:AH 1:3C 2:3C", 1, 2), ("0:KH 1:KH 2:AH", 2, 2)],
)
def test_JOS_EX_7_JOS_WIN_4_JOS_D7_identical_cards(plays: str, first: int, last: int) -> None:
    for identical, winner in (("first", first), ("last", last)):
        hands = [word[2:] for word in plays.split()]
        state = section(hands, "9C", dealer=2, decks=2, identical_cards=identical)
        assert acts(state, "0=0 1=0 2=0 " + plays).won[winner] == 1


def test_JOS_EX_7_both_copies_are_one_action_and_one_of_them_goes() -> None:
    state = acts(section(["KH KH 4C", "2D 3D 4D", "2S 3S 4S"], "9C", dealer=2, decks=2), "0=0 1=0 2=0")
    assert legal(state, 0) == ["4C", "KH"]
    assert hand(acts(state, "0:KH"), 0) == ["4C", "KH"]


def test_JOS_EX_7_a_third_copy_is_impossible() -> None:
    state = before(2, 1, 0, decks=2)
    right = shuffled(state.table, ["KH", "KH"], "9C", 0)
    third = CardsShuffled((*right.cards[:2], card("KH"), *right.cards[3:]))
    assert (rule_against(state, right), rule_against(state, third)) == ("", "JOS-DECK-1")
    single = before(2, 1, 0)
    twice = CardsShuffled((card("KH"), card("KH"), *range(50)))
    assert rule_against(single, twice) == "JOS-DECK-1"


def test_JOS_EX_8_JOS_BID_7_the_hook() -> None:
    state = section(["2C 3C 4C", "5C 6C 7C", "8C 9C TC", "JC QC KC"], "AH", dealer=2, hook=True)
    assert to_act(state) == [0, 1, 3]
    assert rule_against(state, SeatActed(2, Bid(0))) == "JOS-BID-6"
    for line, amounts in (
        ("0=1 1=0 3=1", [0, 2, 3]),
        ("0=2 1=2 3=1", [0, 1, 2, 3]),
        ("0=0 1=0 3=0", [0, 1, 2]),
    ):
        asked = acts(state, line)
        assert to_act(asked) == [2]
        assert legal(asked, 2) == amounts
        shown = [call.action for call in asked.view(SPECTATOR).calls]
        assert shown == [Bid(int(word[2:])) for word in line.split()]


def test_JOS_EX_9_bids_stay_secret_until_the_last() -> None:
    def known(viewer: int) -> dict[int, Action | None]:
        return {call.seat: call.action for call in state.view(viewer).calls}

    state = acts(section(["2C 3C", "5C 6C", "8C 9C"], "AH"), "0=2")
    assert state.awaiting == SeatsToAct((1, 2))
    assert known(0) == {0: Bid(2)}
    assert known(1) == known(2) == known(SPECTATOR) == {0: None}
    state = acts(state, "2=0")
    assert (known(0), known(1), known(2)) == ({0: Bid(2), 2: None}, {0: None, 2: None}, {0: None, 2: Bid(0)})
    state = acts(state, "1=1")
    assert known(0) == known(1) == known(2) == known(SPECTATOR) == {0: Bid(2), 1: Bid(1), 2: Bid(0)}
    assert (state.phase, to_act(state)) == ("play", [1])


def test_JOS_EX_10_illegal_actions() -> None:
    state = section(["2C 3C", "5C 6C", "8C 9C"], "AH")
    for amount in (3, -1, True, 1.0):
        assert rule_against(state, SeatActed(0, Bid(amount))) == "JOS-BID-2"  # type: ignore[arg-type]
    # A contract is named under another key, of which the page knows nothing.
    assert rule_against(state, SeatActed(0, Bid("1"))) == "JOS-ACT-1"
    for written in ({"type": "bid"}, {"type": "bid", "amount": 1.0}, {"type": "bid", "amount": True}):
        with pytest.raises(ValueError, match="is not an"):
            action_from_json(written)
    play = action_from_json({"type": "play", "card": "5C"})
    waiting = acts(state, "0=1")
    assert rule_against(waiting, SeatActed(0, Bid(1))) == "JOS-BID-3"
    assert rule_against(waiting, SeatActed(1, play)) == "JOS-BID-1"
    playing = acts(waiting, "1=1 2=1")
    assert rule_against(playing, SeatActed(1, Bid(1))) == "JOS-BID-3"
    assert rule_against(playing, SeatActed(0, play)) == "JOS-PLAY-1"
    assert rule_against(acts(playing, "1:6C"), SeatActed(2, play)) == "JOS-PLAY-2"
    assert {rule_against(moment, SeatActed(1, Pass())) for moment in (state, waiting, playing)} == {"JOS-ACT-1"}


@pytest.mark.parametrize(("system", "expected"), [("classic", (12, 10)), ("modern", (15, 5))])
def test_JOS_EX_11_a_section_for_two(system: str, expected: tuple[int, ...]) -> None:
    state = acts(section(["AH 2S", "KH QH"], "9S", dealer=1, scoring=system), "0=2 1=0")
    assert state.table.first_dealer == 0
    assert to_act(state) == [0]
    state = acts(state, "0:AH 1:KH")
    assert to_act(state) == [0]
    assert acts(state, "0:2S 1:QH").scores == expected


def test_JOS_EX_12_JOS_END_3_JOS_D13_the_final_ranking() -> None:
    assert scoring.ranking((54, 71, 71, 12)) == ((1, 2), (0,), (3,))
    assert scoring.ranking((0, 0)) == ((0, 1),)


def test_JOS_BID_5_JOS_D11_the_section_that_the_page_tells() -> None:
    state = acts(section(["AC 7D 2S", "KC 9S 3D", "4C QD JS"], "5S", dealer=2), "1=1 2=2 0=1")
    assert (state.section.number, state.table.first_dealer, to_act(state)) == (3, 0, [0])
    state = acts(state, "0:AC 1:KC 2:4C 0:7D 1:3D 2:QD 2:JS 0:2S 1:9S")
    assert (state.won, state.scores) == ((1, 0, 2), (11, 0, 12))
