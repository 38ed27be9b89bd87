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


def test_listed_actions_and_choices_are_all_chosen_at_times(chance: random.Random) -> None:
    table = table_with("actions { pass {} } actions { draw {} } actions { match {} } " + KEEP + SWAP)
    verbs = {random_legal(table, chance).WhichOneof("verb") for _ in range(300)}
    assert verbs == {"pass", "draw", "match", "keep", "swap"}


@pytest.mark.parametrize(("legal", "verb", "sizes"), [(KEEP, "keep", {1, 2, 3}), (SWAP, "swap", {0, 1, 2})])
def test_cards_fit_their_choice(chance: random.Random, legal: str, verb: str, sizes: set[int]) -> None:
    choice = table_with(legal).legal_actions.choices[0]
    actions = [choose_cards(choice, chance) for _ in range(300)]
    assert {action.WhichOneof("verb") for action in actions} == {verb}
    made = [action.keep if verb == "keep" else action.swap for action in actions]
    assert {len(one.cards) for one in made} == sizes
    assert all(not Counter(one.cards) - Counter(choice.cards) for one in made)
    assert {one.trump for one in made if isinstance(one, pb.KeepAction)} == set(choice.suits)


def test_nothing_is_chosen_out_of_turn_or_from_a_newer_choice(chance: random.Random) -> None:
    with pytest.raises(ValueError, match="not this seat's turn"):
        random_legal(table_with(""), chance)
    with pytest.raises(ValueError, match="newer"):
        choose_cards(pb.CardChoice(), chance)
