"""Random players choose legal actions only."""

import random
from collections import Counter

import pytest

from croupier.engine.api.action_codec import decode_action, encode_legal
from croupier.games.actions import (
    UNCHOSEN,
    Bid,
    Declare,
    Draw,
    KeepCards,
    Lay,
    MatchBid,
    NameTrump,
    Play,
    StandPat,
    SwapCards,
)
from croupier.games.cards import JOKER, CardFace, cards
from croupier.games.choices import ActionChoice, AmountChoice, CardChoice, cards_of, fits, parts_of
from croupier.games.interface import Legal
from croupier_api.v1 import actions_pb2
from croupier_api.v1.cards_pb2 import SUIT_CLUBS
from croupier_client import FollowedTable, choose_random_action, complete_choice

DECK = (CardFace(63, "R7", "red", "7", "Red seven"), CardFace(64, "R8", "red", "8", "Red eight"))
KEEP = ActionChoice(KeepCards((), UNCHOSEN), CardChoice(cards("2C 3C 3C"), 1, 3), suits=(0, 3))
SWAP = ActionChoice(SwapCards(()), CardChoice(cards("2C 3C 4C"), 1, 2))
CHOICES = {
    "keep": KEEP,
    "swap": SWAP,
    "play": ActionChoice(Play(JOKER, UNCHOSEN), suits=(0, 2)),
    "name trump": ActionChoice(NameTrump(UNCHOSEN, True), suits=(1,)),
    "bid": ActionChoice(Bid(UNCHOSEN), amount=AmountChoice(60, 70, 5)),
    "lay": ActionChoice(Lay((), "run"), CardChoice((63, 64), 2, 2)),
    "declare": ActionChoice(
        Declare("ask", amount=UNCHOSEN), CardChoice((63,), 0, 1), amount=AmountChoice(0, 1), seats=(0, 2)
    ),
}


def table_with(legal: Legal) -> FollowedTable:
    table = FollowedTable("t1")
    table.legal_actions = encode_legal(legal)
    return table


@pytest.fixture
def rng() -> random.Random:
    seed = random.randrange(2**32)
    print(f"seed {seed}: put it into the fixture `rng` of tests/client/test_bots.py to repeat")
    return random.Random(seed)


def test_listed_actions_and_choices_are_all_chosen_at_times(rng: random.Random) -> None:
    table = table_with(Legal((Draw(), MatchBid()), (KEEP, SWAP)))
    verbs = {choose_random_action(table, rng).WhichOneof("verb") for _ in range(300)}
    assert verbs == {"draw", "match_bid", "keep_cards", "swap_cards"}


@pytest.mark.parametrize("choice", CHOICES.values(), ids=CHOICES.keys())
def test_every_way_to_complete_a_choice_is_legal_and_chosen_at_times(rng: random.Random, choice: ActionChoice) -> None:
    table = table_with(Legal((), (choice,)))
    actions = [decode_action(choose_random_action(table, rng), DECK) for _ in range(300)]
    assert all(fits(choice, action) for action in actions)
    chosen = [parts_of(choice, action) for action in actions]
    least, most = (choice.cards.min_cards, choice.cards.max_cards) if choice.cards else (0, 0)
    assert {len(parts.cards) for parts in chosen} == set(range(least, most + 1))
    assert {parts.suit for parts in chosen} == set(choice.suits or [None])
    assert {parts.amount for parts in chosen} == set(choice.amount.amounts if choice.amount else [None])
    assert {parts.seat for parts in chosen} == set(choice.seats or [None])


def test_standing_pat_is_as_likely_as_a_swap_of_each_number_of_cards() -> None:
    table, chances = table_with(Legal((StandPat(),), (SWAP,))), random.Random(5)
    actions = [decode_action(choose_random_action(table, chances)) for _ in range(3000)]
    assert {type(action) for action in actions} == {StandPat, SwapCards}
    counts = Counter(len(cards_of(action)) for action in actions)
    assert all(900 < counts[number] < 1100 for number in range(3))
    assert choose_random_action(table_with(Legal((StandPat(),))), chances).HasField("stand_pat")


def test_nothing_is_chosen_out_of_turn(rng: random.Random) -> None:
    with pytest.raises(ValueError, match="not this seat's turn"):
        choose_random_action(table_with(Legal()), rng)


def test_a_part_that_the_action_lacks_is_refused() -> None:
    swap = actions_pb2.ActionChoice(action=actions_pb2.Action(swap_cards=actions_pb2.SwapCardsAction()))
    with pytest.raises(ValueError, match="invalid suit for swap_cards"):
        complete_choice(swap, suit=SUIT_CLUBS)
    with pytest.raises(ValueError, match="invalid amount for swap_cards"):
        complete_choice(swap, amount=1)
    with pytest.raises(ValueError, match="invalid seat for swap_cards"):
        complete_choice(swap, seat=1)


def test_a_choice_that_is_newer_than_the_client_is_refused(rng: random.Random) -> None:
    table = FollowedTable("t1")
    table.legal_actions.choices.add(seats=[1])
    with pytest.raises(ValueError, match="newer than this client"):
        choose_random_action(table, rng)
