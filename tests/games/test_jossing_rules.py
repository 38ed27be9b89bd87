"""The rules of Jøssing from the deal to the bids, one by one."""

import json
from random import Random
from typing import Any

import pytest

from croupier.games.actions import (
    PLAYS,
    Action,
    Bid,
    Call,
    Draw,
    Keep,
    Match,
    NameTrump,
    Pass,
    Play,
    Swap,
    ThrowDown,
    Yield,
)
from croupier.games.cards import STANDARD_DECK, card, cards, notation
from croupier.games.facts import (
    SPECTATOR,
    Called,
    CardsMoved,
    ContractChanged,
    MoveReason,
    PileCard,
    RoundStarted,
    TurnChanged,
    all_but,
    only,
)
from croupier.games.hands import hand_of
from croupier.games.interface import (
    NOTHING_LEGAL,
    CardsShuffled,
    IllegalAction,
    ProposalAgreed,
    SeatActed,
    SeatsToAct,
    ShuffleNeeded,
)
from croupier.games.jossing import JossingState, scoring
from tests.games.comparison import rule_against
from tests.games.fold import heard
from tests.games.positions_jossing import (
    JOSSING,
    acts,
    acts_with_facts,
    before,
    legal,
    new,
    section,
    shuffled,
    to_act,
)
from tests.games.walk import shuffle, viewers

THREE = ["2C 3C", "5C 6D", "8C 9H"]


def due(state: JossingState) -> ShuffleNeeded:
    """The shuffle that a table awaits."""
    assert isinstance(state.awaiting, ShuffleNeeded)
    return state.awaiting


# The players, the deck, the options


def test_JOS_PLAYERS_2_three_to_six_is_a_hint_and_no_option_depends_on_it() -> None:
    assert "best with 3 to 6" in JOSSING.summary
    names = [[option.name for option in JOSSING.options(seats)] for seats in JOSSING.seats]
    assert all(of_seats == names[0] for of_seats in names)


def test_JOS_DECK_1_one_or_two_packs_without_jokers() -> None:
    assert due(new(4)).cards == STANDARD_DECK
    assert sorted(due(new(4, decks=2)).cards) == sorted(STANDARD_DECK * 2)


@pytest.mark.parametrize("trump", range(4))
def test_JOS_DECK_2_ranks_are_the_same_for_trumps_and_others(trump: int) -> None:
    for led in range(4):
        value_of = scoring.worth(trump, led)
        for suit in {led, trump}:
            of_suit = [value_of[card(rank + "CDHS"[suit])] for rank in "23456789TJQKA"]
            assert of_suit == sorted(set(of_suit))


def test_JOS_DECK_3_the_whole_deck_is_shuffled_before_each_section() -> None:
    state, random = new(3), Random(1)
    for number in (1, 2, 3):
        needed = due(state)
        assert (needed.cards, needed.draw_bounds) == (STANDARD_DECK, ())
        assert (needed.round_number, needed.shuffle_number) == (number, 1)
        state, facts = state.apply(shuffle(needed, random))
        assert facts[0] == RoundStarted(number, state.table.dealer(number))
        assert [seat.tricks_taken for seat in state.view(SPECTATOR).seats] == [0, 0, 0]
        assert [seat.card_count for seat in state.view(SPECTATOR).seats] == [number] * 3
        assert [pile.name for pile in state.view(SPECTATOR).piles] == ["indicator"]
        assert state.view(SPECTATOR).calls == ()
        while not isinstance(state.awaiting, ShuffleNeeded):
            seat = to_act(state)[0]
            state, _ = state.apply(SeatActed(seat, state.legal_actions(seat).actions[0]))


# Sections


@pytest.mark.parametrize(("seats", "peak"), [(2, 10), (3, 10), (4, 10), (5, 10), (6, 8), (7, 7), (8, 6)])
def test_JOS_LEN_1_JOS_LEN_2_JOS_LEN_3_JOS_D4_JOS_D5_the_peak_and_the_number_of_sections(seats: int, peak: int) -> None:
    up, long = new(seats).table, new(seats, game_type="up_and_down").table
    assert (up.peak, up.sections, long.sections) == (peak, peak, 2 * peak)
    assert [up.size(number) for number in range(1, peak + 1)] == list(range(1, peak + 1))
    both = [long.size(number) for number in range(1, 2 * peak + 1)]
    assert both == [*range(1, peak + 1), *range(peak, 0, -1)]
    assert peak * seats + 1 <= 52


# The deal


def test_JOS_DEAL_2_one_card_at_a_time_from_the_left_of_the_dealer() -> None:
    state, _ = before(4, 3, dealer=1).apply(CardsShuffled(STANDARD_DECK))
    assert state.hands == tuple(map(hand_of, [(2, 6, 10), (3, 7, 11), (0, 4, 8), (1, 5, 9)]))
    assert state.section.indicator == 12


def test_JOS_DEAL_3_JOS_D8_the_next_card_shows_trump_and_plays_no_part() -> None:
    state = before(3, 2, dealer=0)
    event = shuffled(state.table, THREE, "5H", 0)
    state, facts = state.apply(event)
    assert CardsMoved(None, "indicator", cards("5H"), 1, MoveReason.DEAL) in facts
    assert ContractChanged(trump=2) in facts
    for viewer in viewers(3):
        view = state.view(viewer)
        assert view.contract == ContractChanged(trump=2)
        assert [(pile.name, pile.cards) for pile in view.piles] == [("indicator", (PileCard(card("5H"), None),))]
    state = acts(state, "0=0 1=0 2=0")
    assert rule_against(state, SeatActed(1, PLAYS[card("5H")])) == "JOS-PLAY-2"
    state = acts(state, "1:5C 2:8C 0:2C 2:9H 0:3C 1:6D")
    assert [pile.name for pile in state.view(0).piles] == ["indicator", "taken"]


def test_JOS_DEAL_3_JOS_D9_the_same_suit_may_be_trump_again() -> None:
    state = acts(section(["2C", "3C"], "5H"), "0=0 1=0 1:3C 0:2C")
    again, _ = state.apply(shuffled(state.table, ["2C 3C", "4C 5C"], "5H", 1))
    assert (state.section.trump, again.section.trump) == (2, 2)


def test_JOS_DEAL_3_each_seat_learns_its_own_cards_and_everybody_the_numbers() -> None:
    state = before(3, 2, dealer=0)
    _, facts = state.apply(shuffled(state.table, THREE, "5H", 0))
    for seat, text in enumerate(THREE):
        assert CardsMoved(None, seat, cards(text), 2, MoveReason.DEAL, only(seat)) in facts
        assert CardsMoved(None, seat, (), 2, MoveReason.DEAL, all_but(seat)) in facts
    assert facts[-1] == TurnChanged("bid", (0, 1, 2))


def test_JOS_DEAL_4_the_deal_as_it_is_written() -> None:
    state = new(3)
    event = shuffled(state.table, ["7C", "AS", "2H"], "5H", 0)
    written = json.dumps(state.event_record(event), separators=(",", ":"))
    assert written == '{"type":"deal","hands":[["7C"],["AS"],["2H"]],"trump":"5H"}'


def test_JOS_DEAL_4_a_deal_that_is_not_due_or_not_valid_is_refused() -> None:
    state, deck = new(3), STANDARD_DECK
    assert rule_against(state, CardsShuffled(deck[1:])) == "JOS-DECK-1"
    assert rule_against(state, CardsShuffled((1, *deck[1:]))) == "JOS-DECK-1"
    assert rule_against(state, CardsShuffled((52, *deck[1:]))) == "JOS-DECK-1"
    assert rule_against(state, CardsShuffled(deck * 2)) == "JOS-DECK-1"
    assert rule_against(new(3, decks=2), CardsShuffled(deck)) == "JOS-DECK-1"
    assert rule_against(state, CardsShuffled(deck, (0,))) == "JOS-DEAL-2"
    dealt, _ = state.apply(CardsShuffled(deck))
    assert rule_against(dealt, CardsShuffled(deck)) == "JOS-DEAL-4"
    with pytest.raises(IllegalAction):
        dealt.event_record(CardsShuffled(deck))


@pytest.mark.parametrize("action", [Bid(0), PLAYS[0], Pass()])
def test_JOS_DEAL_4_nobody_acts_before_the_deal(action: Action) -> None:
    assert rule_against(new(3), SeatActed(0, action)) == "JOS-DEAL-4"


# Actions

VERBS: list[Action] = [
    Pass(),
    Match(),
    Yield(),
    Draw(),
    ThrowDown(),
    Keep(),
    Keep((1,), 2),
    Swap(()),
    Call(3),
    NameTrump(1, do=True),
]


@pytest.mark.parametrize("action", [*VERBS, Play(card("5C"), 2)], ids=repr)
def test_JOS_ACT_1_other_verbs_and_arguments_are_refused(action: Action) -> None:
    playing = acts(section(THREE, "5H"), "0=0 1=0 2=0")
    assert rule_against(playing, SeatActed(1, action)) == "JOS-ACT-1"
    bidding = acts(section(THREE, "5H", dealer=1, hook=True), "0=1")
    for seat in range(3):
        assert rule_against(bidding, SeatActed(seat, action)) == "JOS-ACT-1"
        assert rule_against(playing, SeatActed(seat, action)) == "JOS-ACT-1"


def test_JOS_ACT_1_nothing_can_be_proposed() -> None:
    assert not JOSSING.proposals
    for state in (new(2), section(THREE, "5H")):
        with pytest.raises(IllegalAction):
            state.apply(ProposalAgreed("rest"))
        with pytest.raises(IllegalAction):
            state.event_record(ProposalAgreed("rest"))


# Bids


def test_JOS_BID_1_all_bid_once_in_any_order() -> None:
    state = section(THREE, "5H")
    for seat, left in ((2, (0, 1)), (0, (1,))):
        state = acts(state, f"{seat}=1")
        assert state.awaiting == SeatsToAct(left)
        assert state.legal_actions(seat) == NOTHING_LEGAL
    for seat, text in ((0, "2C"), (1, "5C"), (2, "8C")):
        assert rule_against(state, SeatActed(seat, PLAYS[card(text)])) == "JOS-BID-1"
    assert {rule_against(state, SeatActed(seat, Bid(1))) for seat in (-1, 3)} == {"JOS-BID-1"}
    assert acts(state, "1=1").phase == "play"


@pytest.mark.parametrize("size", [1, 5, 10])
def test_JOS_BID_2_any_number_from_none_to_all(size: int) -> None:
    hands = [" ".join(notation(range(start, start + size))) for start in (0, 13)]
    state = section(hands, "AS")
    assert legal(state, 0) == list(range(size + 1))
    amounts: list[Any] = [-1, size + 1, 1.0, True, False, None]
    assert {rule_against(state, SeatActed(0, Bid(amount))) for amount in amounts} == {"JOS-BID-2"}
    assert {rule_against(state, SeatActed(0, Bid(name))) for name in ("1", "pass")} == {"JOS-ACT-1"}


def test_JOS_BID_3_JOS_D10_a_bid_is_final() -> None:
    state = acts(section(THREE, "5H"), "0=1 1=2")
    assert rule_against(state, SeatActed(0, Bid(1))) == "JOS-BID-3"
    assert rule_against(state, SeatActed(0, Bid(0))) == "JOS-BID-3"
    shown = acts(state, "2=0")
    assert {rule_against(shown, SeatActed(seat, Bid(2))) for seat in range(3)} == {"JOS-BID-3"}


def test_JOS_BID_4_the_facts_of_secret_bids() -> None:
    state, facts = acts_with_facts(section(THREE, "5H"), "1=2")
    turn = TurnChanged("bid", (0, 2))
    assert facts == (Called(1, None, all_but(1)), Called(1, Bid(2), only(1)), turn)
    for viewer in (0, 2, SPECTATOR):
        assert heard(facts, viewer) == [Called(1, None, all_but(1)), turn]
    _, revealed = acts_with_facts(acts(state, "2=0"), "0=1")
    assert revealed == (
        Called(1, Bid(2), all_but(1)),
        Called(2, Bid(0), all_but(2)),
        Called(0, Bid(1)),
        TurnChanged("play", (1,)),
    )


def test_JOS_BID_4_what_the_others_bid_makes_no_difference_before_all_are_in(seed: int) -> None:
    random = Random(seed)
    for _ in range(20):
        hook, dealer = random.random() < 0.5, random.randrange(4)
        hands = ["2C 3C 4C", "5C 6C 7C", "8C 9C TC", "JC QC KC"]
        one = other = section(hands, "AH", dealer=dealer, hook=hook)
        order = random.sample(to_act(one), len(to_act(one)))
        for at, seat in enumerate(order[:-1]):
            (one, facts), (other, others_facts) = [
                state.apply(SeatActed(seat, Bid(random.randrange(4)))) for state in (one, other)
            ]
            for viewer in {*viewers(4)} - {*order[: at + 1]}:
                assert heard(facts, viewer) == heard(others_facts, viewer)
                assert one.view(viewer) == other.view(viewer)
                assert one.awaiting == other.awaiting
                if viewer != SPECTATOR:
                    assert one.legal_actions(viewer) == other.legal_actions(viewer)
                    assert refusals(one, viewer) == refusals(other, viewer)


def refusals(state: JossingState, seat: int) -> list[str]:
    """What a seat is told about actions of all sorts."""
    told = []
    bids: list[Action] = [Bid(amount) for amount in range(-1, 6)]
    for action in [*VERBS, *bids, *PLAYS]:
        try:
            state.apply(SeatActed(seat, action))
        except IllegalAction as refusal:
            told.append(f"{refusal.rule} {refusal}")
    return told


def test_JOS_BID_6_the_dealer_bids_last_and_openly() -> None:
    state = section(THREE, "5H", dealer=1, hook=True)
    assert to_act(state) == [0, 2]
    assert state.legal_actions(1) == NOTHING_LEGAL
    assert rule_against(state, SeatActed(1, Bid(0))) == "JOS-BID-6"
    assert rule_against(state, SeatActed(1, PLAYS[card("5C")])) == "JOS-BID-1"
    state, facts = acts_with_facts(acts(state, "2=1"), "0=0")
    assert facts == (Called(2, Bid(1), all_but(2)), Called(0, Bid(0)), TurnChanged("bid", (1,)))
    assert rule_against(state, SeatActed(0, Bid(0))) == "JOS-BID-3"
    state, facts = acts_with_facts(state, "1=2")
    assert facts == (Called(1, Bid(2)), TurnChanged("play", (2,)))
