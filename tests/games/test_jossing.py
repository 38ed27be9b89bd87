"""The rules of Jøssing by their ids, and the worked positions of the page, JOS-EX-1 to JOS-EX-14."""

from random import Random
from typing import Any

import pytest

from croupier.conformance.twins import outcome
from croupier.conformance.walks import viewers, walk
from croupier.games.actions import PLAYS, Action, Bid, Pass
from croupier.games.cards import STANDARD_DECK, cards, notation
from croupier.games.facts import SPECTATOR, CardsMoved, Contract, RoundEnded, Seat, all_but, only
from croupier.games.interface import CardsShuffled, SeatActed, SeatsToAct
from croupier.games.jossing import scoring
from croupier.games.values import CardsValue, NumberValue, PointsValue, SeatValue, SuitValue, phrase
from tests.games import dispatch
from tests.games.comparison import rule_against
from tests.games.positions import (
    acts,
    acts_with_facts,
    deal,
    details,
    due,
    ended,
    first_legal,
    hand,
    legal,
    over,
    pile,
    refusal,
    to_act,
)
from tests.games.positions_jossing import JOSSING, before, new, section, shuffled

THREE = "2C 3C | 5C 6D | 8C 9H"


def test_JOS_PLAYERS_2_three_to_six_is_a_hint_and_no_option_depends_on_it() -> None:
    assert "best with 3 to 6" in JOSSING.summary
    assert JOSSING.recommended_seats == range(3, 7)
    names = [[option.name for option in JOSSING.options(seats)] for seats in JOSSING.seats]
    assert all(of_seats == names[0] for of_seats in names)


def test_JOS_DECK_1_JOS_DECK_3_JOS_DEAL_4_all_of_one_or_two_packs_without_jokers_are_shuffled_for_each_section() -> (
    None
):
    assert sorted(due(new(4, decks=2)).cards) == sorted(STANDARD_DECK * 2)
    state = new(4)
    for number in (1, 2, 3):
        assert due(state) == (STANDARD_DECK, (), number, 1)
        assert {refusal(state, text, 0) for text in ("0", "2C", "pass")} == {"JOS-DEAL-4"}
        state = first_legal(deal(state))


def test_JOS_DEAL_2_one_card_at_a_time_from_the_left_of_the_dealer() -> None:
    state, _ = dispatch.apply(before(4, 3, dealer=1), CardsShuffled(STANDARD_DECK))
    assert [hand(state, seat) for seat in (2, 3, 0, 1)] == [set(notation(range(at, 12, 4))) for at in range(4)]
    assert state.section.indicator == 12


def test_JOS_DEAL_3_JOS_D8_the_next_card_shows_trump_and_plays_no_part() -> None:
    state = before(3, 2, dealer=0)
    state, facts = dispatch.apply(state, shuffled(state.options, THREE, "5H", 0))
    for seat, text in enumerate(THREE.split("|")):
        moved = [fact for fact in facts if isinstance(fact, CardsMoved) and fact.target == seat]
        assert [(fact.cards, fact.audience) for fact in moved] == [(cards(text), only(seat)), ((), all_but(seat))]
    for viewer in viewers(3):
        assert dispatch.view(state, viewer).contract == Contract(trump=2)
        assert pile(state, "indicator", viewer) == (1, "5H")
    state = acts(state, "0:0 1:0 2:0 5C 8C 2C 9H 3C 6D")
    assert [pile.name for pile in dispatch.view(state, 0).piles] == ["indicator", "taken"]


def test_JOS_DEAL_3_JOS_D9_the_same_suit_may_be_trump_again() -> None:
    state = acts(section("2C | 3C", "5H"), "0:0 1:0 3C 2C")
    again, _ = dispatch.apply(state, shuffled(state.options, "2C 3C | 4C 5C", "5H", 1))
    assert (state.section.trump, again.section.trump) == (2, 2)


@pytest.mark.parametrize("hook", [False, True])
def test_JOS_BID_4_what_the_others_bid_makes_no_difference_before_all_are_in(hook: bool) -> None:
    start = section("2C 3C | 5C 6C | 8C 9C | JC QC", "AH", 3, hook=hook)
    one, other = acts(start, "0:2"), acts(start, "0:0")
    tried: list[Action] = [Pass(), *(Bid(amount) for amount in range(-1, 6)), *PLAYS]
    for viewer in (1, 2, 3, SPECTATOR):
        assert dispatch.view(one, viewer) == dispatch.view(other, viewer)
        assert dispatch.legal_actions(one, viewer) == dispatch.legal_actions(other, viewer)
        for event in (SeatActed(viewer, action) for action in tried):
            assert outcome(JOSSING, one, event, viewer) == outcome(JOSSING, other, event, viewer)


@pytest.mark.parametrize(("game_type", "sections"), [("up", 6), ("up_and_down", 12)])
def test_JOS_END_1_JOS_END_2_the_game_ends_with_the_last_section(game_type: str, sections: int, seed: int) -> None:
    transitions = list(walk(JOSSING, new(8, game_type=game_type), Random(seed)))
    found = [fact.score for step in transitions for fact in step.facts if isinstance(fact, RoundEnded)]
    assert [fact.round_number for fact in found] == list(range(1, sections + 1))
    assert found[-1].totals == tuple(map(sum, zip(*(fact.points for fact in found), strict=True)))
    state = transitions[-1].after
    assert over(state)[:2] == (scoring.ranking(found[-1].totals), "sections_played")
    assert (refusal(state, "0", 0), rule_against(state, CardsShuffled(STANDARD_DECK))) == ("JOS-END-1", "JOS-DEAL-4")


FOUR = "2C 3C 4C | 5C 6C 7C | 8C 9C TC | JC QC KC"
TWO = {"decks": 2}
LAST = TWO | {"identical_cards": "last"}
DEALER_FIRST = "highest_bidder_dealer_first"


def sizes(seats: int, **options: Any) -> list[int]:
    """Return the cards per seat of all sections."""
    resolved = new(seats, **options).options
    return [resolved.size(number) for number in range(1, resolved.sections + 1)]


@pytest.mark.parametrize(("seats", "peak"), [(2, 10), (3, 10), (4, 10), (5, 10), (6, 8), (7, 7), (8, 6)])
def test_JOS_EX_2_JOS_LEN_1_JOS_LEN_2_JOS_LEN_3_JOS_D4_JOS_D5_the_sizes_of_all_sections(seats: int, peak: int) -> None:
    up = list(range(1, peak + 1))
    assert sizes(seats) == up
    assert sizes(seats, game_type="up_and_down") == up + up[::-1]
    assert sizes(seats, decks=2) == list(range(1, 11))


def test_JOS_DECK_4_JOS_EX_14_two_packs_are_suggested_for_eight_players_and_never_the_default() -> None:
    for seats in JOSSING.seats:
        decks = next(option for option in JOSSING.options(seats) if option.name == "decks")
        assert (decks.default, decks.allowed) == (1, (1, 2))
        assert "for eight players two are suggested" in decks.meaning
    chosen: list[dict[str, Any]] = [{}, TWO, {"game_type": "up_and_down"}, {"game_type": "up_and_down"} | TWO]
    assert [len(sizes(8, **options)) for options in chosen] == [6, 10, 12, 20]


def test_JOS_EX_3_JOS_LEAD_1_JOS_DEAL_1_JOS_D12_the_deal_and_the_lead_go_round() -> None:
    options = new(3, first_dealer=2).options
    dealers = [options.dealer(number) for number in range(1, 11)]
    assert dealers == [2, 0, 1, 2, 0, 1, 2, 0, 1, 2]
    leaders = [scoring.first_leader(options, dealer, (0, 0, 0)) for dealer in dealers]
    assert leaders == [0, 1, 2, 0, 1, 2, 0, 1, 2, 0]


@pytest.mark.parametrize(
    ("bids", "highest", "dealer_first"),
    [
        pytest.param("0:2 1:2 2:0 3:1", 0, 1, id="JOS-EX-4 JOS-EX-13 JOS-LEAD-2 JOS-D1"),
        pytest.param("0:0 1:0 2:0 3:0", 2, 1, id="JOS-EX-4 JOS-EX-13 JOS-LEAD-3 JOS-LEAD-4 all nought"),
        pytest.param("0:0 1:3 2:1 3:2", 1, 1, id="JOS-EX-4 JOS-EX-13 the dealer alone"),
        pytest.param("0:1 1:3 2:0 3:3", 3, 1, id="JOS-EX-4 JOS-EX-13 JOS-LEAD-3 JOS-D2 JOS-D3"),
        pytest.param("0:3 1:0 2:0 3:3", 3, 3, id="JOS-EX-13 JOS-LEAD-4 the dealer's right is last"),
        pytest.param("0:3 1:0 2:3 3:0", 2, 2, id="JOS-EX-13 JOS-LEAD-4 clockwise from the dealer"),
    ],
)
def test_the_leader_of_the_first_trick(bids: str, highest: Seat, dealer_first: Seat) -> None:
    assert to_act(acts(section(FOUR, "AH", dealer=1), bids)) == 2
    assert to_act(acts(section(FOUR, "AH", dealer=1, leader="highest_bidder"), bids)) == highest
    assert to_act(acts(section(FOUR, "AH", dealer=1, leader=DEALER_FIRST), bids)) == dealer_first


def test_JOS_LEAD_4_the_sheet_has_the_leader_too() -> None:
    _, facts = acts_with_facts(section("2C | 3C", "5H", leader=DEALER_FIRST), "0:1 1:1 0:2C 1:3C")
    assert details(facts)["leader"] == SeatValue(0)


@pytest.mark.parametrize(
    ("hands", "line", "dealer", "expected"),
    [
        pytest.param("9C 9D 9H 9S | 5C KC AH 2S", "0:0 1:0 9C", 1, "5C KC", id="JOS-EX-5 JOS-PLAY-3"),
        pytest.param("9C 9D | AH 2S", "0:0 1:0 9C", 1, "AH 2S", id="JOS-EX-5 JOS-PLAY-4"),
        pytest.param("9C 9D 9H 9S | 5C KC AH 2S", "0:0 1:0", 0, "5C KC AH 2S", id="JOS-EX-5 JOS-PLAY-2 JOS-D15"),
        pytest.param("9C | 5C", "0:0 1:0 9C", 1, "5C", id="JOS-PLAY-6 the last card waits too"),
    ],
)
def test_following_suit(hands: str, line: str, dealer: Seat, expected: str) -> None:
    assert legal(acts(section(hands, "2H", dealer=dealer), line)) == expected


@pytest.mark.parametrize(
    ("trump", "plays", "options", "winner"),
    [
        pytest.param("QS", "2:9D 3:KD 0:AC 1:3D", {}, 3, id="JOS-EX-6 JOS-WIN-2"),
        pytest.param("QS", "2:9D 3:KD 0:2S 1:AD", {}, 0, id="JOS-EX-6 JOS-WIN-1"),
        pytest.param("QS", "2:9D 3:4S 0:2S 1:AD", {}, 3, id="JOS-EX-6 JOS-WIN-1 JOS-DECK-2"),
        pytest.param("QH", "2:2C 3:AD 0:AS 1:KD", {}, 2, id="JOS-EX-6 JOS-WIN-3 JOS-D14"),
        pytest.param("9C", "0:KH 1:KH 2:4H", TWO, 0, id="JOS-EX-7 JOS-WIN-4 JOS-D7"),
        pytest.param("9C", "0:KH 1:KH 2:4H", LAST, 1, id="JOS-EX-7 JOS-WIN-4 last"),
        pytest.param("9C", "0:AH 1:3C 2:3C", TWO, 1, id="JOS-EX-7 trumps"),
        pytest.param("9C", "0:AH 1:3C 2:3C", LAST, 2, id="JOS-EX-7 trumps last"),
    ],
)
def test_the_winner_of_a_trick(trump: str, plays: str, options: dict[str, Any], winner: Seat) -> None:
    hands = " | ".join(word[2:] for word in sorted(plays.split()))
    dealer = (int(plays[0]) - 1) % len(plays.split())
    bids = " ".join(f"{word[0]}:0" for word in plays.split())
    assert acts(section(hands, trump, dealer=dealer, **options), f"{bids} {plays}").won[winner] == 1


def test_JOS_EX_7_both_copies_are_one_action_and_one_of_them_goes() -> None:
    state = acts(section("KH KH 4C | 2D 3D 4D | 2S 3S 4S", "9C", dealer=2, decks=2), "0:0 1:0 2:0")
    assert legal(state) == "4C KH"
    assert hand(acts(state, "0:KH"), 0) == {"4C", "KH"}


def test_JOS_EX_8_JOS_BID_6_JOS_BID_7_the_hook() -> None:
    state = section(FOUR, "AH", dealer=2, hook=True)
    assert dispatch.awaiting(state) == SeatsToAct((0, 1, 3))
    assert (refusal(state, "0", 2), refusal(state, "8C", 2)) == ("JOS-BID-6", "JOS-BID-1")
    for line, amounts in (("0:1 1:0 3:1", "0 2 3"), ("0:2 1:2 3:1", "0 1 2 3"), ("0:0 1:0 3:0", "0 1 2")):
        asked = acts(state, line)
        assert (to_act(asked), legal(asked)) == (2, amounts)
        assert [call.action for call in dispatch.view(asked, SPECTATOR).calls] == [
            Bid(int(bid[2:])) for bid in line.split()
        ]


def test_JOS_EX_9_JOS_BID_1_JOS_BID_4_bids_stay_secret_until_the_last() -> None:
    def known(viewer: int) -> dict[int, Action | None]:
        return {call.seat: call.action for call in dispatch.view(state, viewer).calls}

    state = acts(section("2C 3C | 5C 6C | 8C 9C", "AH"), "0:2")
    assert dispatch.awaiting(state) == SeatsToAct((1, 2))
    assert known(0) == {0: Bid(2)}
    assert known(1) == known(2) == known(SPECTATOR) == {0: None}
    state = acts(state, "2:0")
    assert (known(0), known(1), known(2)) == ({0: Bid(2), 2: None}, {0: None, 2: None}, {0: None, 2: Bid(0)})
    state = acts(state, "1:1")
    assert known(0) == known(1) == known(2) == known(SPECTATOR) == {0: Bid(2), 1: Bid(1), 2: Bid(0)}
    assert (state.phase, to_act(state)) == ("play", 1)


@pytest.mark.parametrize(
    ("line", "seat", "text", "rule"),
    [
        pytest.param("", 0, Bid(3), "JOS-BID-2", id="JOS-EX-10 JOS-BID-2 too many"),
        pytest.param("", 0, Bid("1"), "JOS-ACT-1", id="JOS-ACT-1 a contract"),
        pytest.param("", 3, Bid(1), "JOS-BID-1", id="JOS-BID-1 no such seat"),
        pytest.param("0:1", 0, Bid(1), "JOS-BID-3", id="JOS-EX-10 JOS-BID-3 JOS-D10"),
        pytest.param("0:1", 1, "5C", "JOS-BID-1", id="JOS-EX-10 a card while bids are missing"),
        pytest.param("0:1 1:1 2:1", 1, Bid(1), "JOS-BID-3", id="JOS-EX-10 a bid after they were shown"),
        pytest.param("0:1 1:1 2:1", 0, "2C", "JOS-PLAY-1", id="JOS-EX-10 JOS-PLAY-1"),
        pytest.param("0:1 1:1 2:1", 1, "8C", "JOS-PLAY-2", id="JOS-EX-10 JOS-PLAY-2"),
        pytest.param("0:1 1:1 2:1", 1, "AH", "JOS-PLAY-2", id="JOS-D8 the indicator"),
        pytest.param("", 1, Pass(), "JOS-ACT-1", id="JOS-EX-10 JOS-ACT-1"),
        pytest.param("0:1 1:1 2:1", 1, "5C/H", "JOS-ACT-1", id="JOS-ACT-1 a suit beside the card"),
    ],
)
def test_refusals(line: str, seat: Seat, text: str | Action, rule: str) -> None:
    assert refusal(acts(section("2C 3C | 5C 6C | 8C 9C", "AH"), line), text, seat) == rule


@pytest.mark.parametrize(
    ("hands", "trump", "line", "classic", "modern"),
    [
        pytest.param("TC | AC | 2H", "5H", "0:0 1:0 2:1 AC 2H TC", (10, 10, 11), (5, 5, 10), id="JOS-EX-1"),
        pytest.param("2S AH | QH KH", "9S", "0:2 1:0 1:QH 0:AH 2S KH", (12, 10), (15, 5), id="JOS-EX-11"),
        pytest.param("2S AH | QH KH", "9S", "0:2 1:0 1:QH 0:AH 2S", (0, 0), (0, 0), id="JOS-END-0 a trick is missing"),
        pytest.param("2C | 3C", "5D", "0:1 1:0 3C 2C", (0, 0), (0, 0), id="JOS-SCORE-1 one too few"),
        pytest.param("2C | 3C", "5D", "0:0 1:1 3C 2C", (10, 11), (5, 10), id="JOS-SCORE-2 JOS-SCORE-3"),
    ],
)
def test_the_scores_of_a_section(
    hands: str, trump: str, line: str, classic: tuple[int, ...], modern: tuple[int, ...]
) -> None:
    for system, expected in (("classic", classic), ("modern", modern)):
        assert dispatch.scores(acts(section(hands, trump, scoring=system), line)) == expected
    assert scoring.section_points((10, 2), (10, 4), modern=False) == (20, 0)
    assert scoring.section_points((10, 2), (10, 4), modern=True) == (55, 0)


def test_JOS_EX_12_JOS_END_3_JOS_D13_the_final_ranking() -> None:
    assert scoring.ranking((54, 71, 71, 12)) == ((1, 2), (0,), (3,))
    assert scoring.ranking((0, 0)) == ((0, 1),)


def test_JOS_BID_5_JOS_PLAY_5_JOS_D11_the_example_section_of_the_page() -> None:
    state = acts(section("AC 7D 2S | KC 9S 3D | 4C QD JS", "5S", dealer=2), "1:1 2:2 0:1")
    assert (state.section.number, state.options.first_dealer, to_act(state)) == (3, 0, 0)
    state, facts = acts_with_facts(state, "0:AC 1:KC 2:4C 0:7D 1:3D 2:QD 2:JS 0:2S 1:9S")
    assert (state.won, dispatch.scores(state)) == ((1, 0, 2), (11, 0, 12))
    assert ended(facts).headline == (phrase("cards", cards=NumberValue(3)), phrase("trump", trump=SuitValue(3)))
    assert ended(facts).notes == tuple(
        (phrase("bid", bid=NumberValue(bid)), phrase("won", tricks=NumberValue(won)))
        for bid, won in ((1, 1), (1, 0), (2, 2))
    )
    assert details(facts) == {
        "cards": NumberValue(3),
        "dealer": SeatValue(2),
        "indicator": CardsValue(cards("5S")),
        "trump": SuitValue(3),
        "leader": SeatValue(0),
        "bids": PointsValue((1, 1, 2)),
        "tricks": PointsValue((1, 0, 2)),
    }
