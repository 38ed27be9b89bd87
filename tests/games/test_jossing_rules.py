"""The rules of Jøssing by their ids, apart from the worked positions."""

from random import Random

import pytest

from croupier.games.actions import PLAYS, Action, Bid, Pass
from croupier.games.cards import STANDARD_DECK, card, cards, notation
from croupier.games.facts import SPECTATOR, CardsMoved, Contract, RoundEnded, all_but, only
from croupier.games.interface import CardsShuffled, IllegalAction, SeatActed
from croupier.games.jossing import JossingState, scoring
from tests.games import dispatch
from tests.games.comparison import rule_against
from tests.games.fold import facts_for
from tests.games.positions import acts, deal, due, first_legal, hand, legal, over, pile, refusal
from tests.games.positions_jossing import JOSSING, before, new, section, shuffled
from tests.games.walk import viewers, walk

THREE = "2C 3C | 5C 6D | 8C 9H"


def test_JOS_PLAYERS_2_three_to_six_is_a_hint_and_no_option_depends_on_it() -> None:
    assert "best with 3 to 6" in JOSSING.summary
    names = [[option.name for option in JOSSING.options(seats)] for seats in JOSSING.seats]
    assert all(of_seats == names[0] for of_seats in names)


def test_JOS_DECK_1_JOS_DECK_3_all_of_one_or_two_packs_without_jokers_are_shuffled_for_each_section() -> None:
    assert sorted(due(new(4, decks=2)).cards) == sorted(STANDARD_DECK * 2)
    state = new(4)
    for number in (1, 2, 3):
        assert due(state) == (STANDARD_DECK, (), number, 1)
        state = first_legal(deal(state))


@pytest.mark.parametrize("trump", range(4))
def test_JOS_DECK_2_ranks_are_the_same_for_trumps_and_others(trump: int) -> None:
    for led in range(4):
        value_of = scoring.worth(trump, led)
        for suit in {led, trump}:
            of_suit = [value_of[card(rank + "CDHS"[suit])] for rank in "23456789TJQKA"]
            assert of_suit == sorted(set(of_suit))


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


def test_JOS_DEAL_4_nobody_acts_before_the_deal() -> None:
    assert {refusal(new(3), text, 0) for text in ("0", "2C", "pass")} == {"JOS-DEAL-4"}


@pytest.mark.parametrize("size", [1, 5, 10])
def test_JOS_BID_2_any_number_from_none_to_all(size: int) -> None:
    hands = " | ".join(" ".join(notation(range(start, start + size))) for start in (0, 13))
    assert legal(section(hands, "AS"), 0) == " ".join(map(str, range(size + 1)))


def test_JOS_BID_4_what_the_others_bid_makes_no_difference_before_all_are_in(seed: int) -> None:
    random = Random(seed)
    for _ in range(20):
        one = other = section("2C 3C | 5C 6C | 8C 9C | JC QC", "AH", random.randrange(4), hook=random.random() < 0.5)
        order = [seat for seat in random.sample(range(4), 4) if dispatch.legal_actions(one, seat).actions]
        for at, seat in enumerate(order[:-1], start=1):
            one, facts = dispatch.apply(one, SeatActed(seat, Bid(random.randrange(3))))
            other, others_facts = dispatch.apply(other, SeatActed(seat, Bid(random.randrange(3))))
            for viewer in {*viewers(4)} - {*order[:at]}:
                assert facts_for(facts, viewer) == facts_for(others_facts, viewer)
                assert (dispatch.view(one, viewer), dispatch.awaiting(one)) == (
                    dispatch.view(other, viewer),
                    dispatch.awaiting(other),
                )
                assert viewer == SPECTATOR or learned(one, viewer) == learned(other, viewer)


def learned(state: JossingState, seat: int) -> list[object]:
    """Return the legal actions that a seat receives."""
    answers: list[object] = [dispatch.legal_actions(state, seat)]
    tried: list[Action] = [Pass(), *(Bid(amount) for amount in range(-1, 6)), *PLAYS]
    for action in tried:
        try:
            dispatch.apply(state, SeatActed(seat, action))
        except IllegalAction as refused:
            answers.append((refused.rule, str(refused)))
    return answers


@pytest.mark.parametrize(("game_type", "sections"), [("up", 6), ("up_and_down", 12)])
def test_JOS_END_1_JOS_END_2_the_game_ends_with_the_last_section(game_type: str, sections: int, seed: int) -> None:
    transitions = list(walk(JOSSING, new(8, game_type=game_type), Random(seed)))
    found = [fact.score for step in transitions for fact in step.facts if isinstance(fact, RoundEnded)]
    assert [fact.round_number for fact in found] == list(range(1, sections + 1))
    assert found[-1].totals == tuple(map(sum, zip(*(fact.points for fact in found), strict=True)))
    state = transitions[-1].after
    assert over(state)[:2] == (scoring.ranking(found[-1].totals), "sections_played")
    assert (refusal(state, "0", 0), rule_against(state, CardsShuffled(STANDARD_DECK))) == ("JOS-END-1", "JOS-DEAL-4")
