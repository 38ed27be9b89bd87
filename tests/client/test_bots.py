"""Random players: whatever they choose fits what is legal."""

import random
from collections import Counter

import pytest
from google.protobuf import text_format

from croupier_api.v1 import table_pb2 as pb
from croupier_client import Table, choose_cards, random_legal

KEEP = (
    "choices { verb: CARD_CHOICE_VERB_KEEP cards: [CARD_2C, CARD_3C, CARD_3C] min_cards: 1 max_cards: 3 "
    "suits: [SUIT_CLUBS, SUIT_SPADES] }"
)
SWAP = "choices { verb: CARD_CHOICE_VERB_SWAP cards: [CARD_2C, CARD_3C, CARD_4C] min_cards: 0 max_cards: 2 }"


def table_with(legal: str) -> Table:
    table = Table("t1")
    table.legal_actions = text_format.Parse(legal, pb.LegalActions())
    return table


@pytest.fixture
def chance() -> random.Random:
    seed = random.randrange(2**32)
    print(f"seed {seed}: put it into the fixture `chance` of tests/client/test_bots.py to repeat")
    return random.Random(seed)


def test_listed_actions_are_all_chosen_at_times(chance: random.Random) -> None:
    table = table_with("actions { pass {} } actions { draw {} } actions { match {} }")
    assert {random_legal(table, chance).WhichOneof("verb") for _ in range(200)} == {"pass", "draw", "match"}


def test_choices_are_expanded(chance: random.Random) -> None:
    table = table_with("actions { pass {} } " + KEEP + SWAP)
    verbs = {random_legal(table, chance).WhichOneof("verb") for _ in range(200)}
    assert verbs == {"pass", "keep", "swap"}


def test_keep_fits_its_choice(chance: random.Random) -> None:
    choice = table_with(KEEP).legal_actions.choices[0]
    made = [choose_cards(choice, chance).keep for _ in range(300)]
    assert {len(keep.cards) for keep in made} == {1, 2, 3}
    assert {keep.trump for keep in made} == set(choice.suits)
    assert all(not Counter(keep.cards) - Counter(choice.cards) for keep in made)


def test_swap_fits_its_choice(chance: random.Random) -> None:
    choice = table_with(SWAP).legal_actions.choices[0]
    made = [choose_cards(choice, chance) for _ in range(300)]
    assert {len(action.swap.cards) for action in made} == {0, 1, 2}
    assert {action.WhichOneof("verb") for action in made} == {"swap"}
    assert all(not Counter(action.swap.cards) - Counter(choice.cards) for action in made)


def test_nothing_to_choose_from(chance: random.Random) -> None:
    with pytest.raises(ValueError, match="not this seat's turn"):
        random_legal(table_with(""), chance)


def test_choice_from_the_future(chance: random.Random) -> None:
    with pytest.raises(ValueError, match="newer"):
        choose_cards(pb.CardChoice(), chance)
