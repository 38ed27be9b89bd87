"""The fold yields the engine's view in any game, and follows the contract where no game goes."""

import os
import re
from itertools import islice
from random import Random

import pytest
from google.protobuf import text_format

from croupier.conformance.fold import facts_for
from croupier.conformance.tables import sample_options
from croupier.conformance.walks import viewers, walk
from croupier.engine.api.fact_codec import encode_fact, encode_view
from croupier.games.facts import SPECTATOR
from croupier.games.interface import Game
from croupier.games.registry import OWN_GAMES
from croupier_api.v1 import facts_pb2 as pb
from croupier_api.v1.cards_pb2 import Card
from croupier_client import FoldError, card_from_text, fold
from tests.games.toy import TOY

SEED = os.environ.get("CROUPIER_TEST_SEED", str(Random().randrange(2**32)))
TABLES, EVENTS = 4, 500

THREE_SEATS = "seats { card_count: 3 cards: [CARD_2C, CARD_5H, CARD_5H] } seats { card_count: 3 } seats { score: 7 }"


def view_of(text: str) -> pb.TableView:
    return text_format.Parse(_with_card_names(text), pb.TableView())


def fact_of(text: str) -> pb.Fact:
    return text_format.Parse(_with_card_names(text), pb.Fact())


def _with_card_names(text: str) -> str:
    """Return the text with the names of the contract for cards such as CARD_5H."""
    return re.sub(r"CARD_(\w\w)\b", lambda found: Card.Name(card_from_text(found[1])), text)


CASES = {
    "a round begins: scores, ranking and phase stay, everything else is reset": (
        "round: 1 phase: 'score' dealer: 0 seats { card_count: 1 cards: CARD_2C score: 5 tricks_taken: 2 "
        "is_out: true place: 1 } piles { name: 'kitty' count: 2 } calls { seat: 0 } contract { declarer: 0 } "
        "marks { name: 'm' value { number: 0 } } seats_to_act: 0 ranking { seats: 0 }",
        "round_started { round: 2 dealer: 1 }",
        "round: 2 phase: 'score' dealer: 1 seats { score: 5 } contract {} ranking { seats: 0 }",
    ),
    "a round begins without a dealer": ("round: 1 dealer: 2", "round_started { round: 2 }", "round: 2 contract {}"),
    "known cards join a hand that lies open": (
        "seats {} seats { card_count: 1 cards: CARD_KS }",
        "cards_moved { target { hand: 1 } cards: CARD_9H count: 1 }",
        "seats {} seats { card_count: 2 cards: [CARD_9H, CARD_KS] }",
    ),
    "cards that are listed come to a hidden hand: they are known": (
        "seats {} seats { card_count: 2 known_cards: CARD_TH }",
        "cards_moved { target { hand: 1 } cards: [CARD_KS, CARD_9H] count: 2 }",
        "seats {} seats { card_count: 4 known_cards: [CARD_9H, CARD_TH, CARD_KS] }",
    ),
    "cards come to an own hand": (
        "seats { card_count: 1 cards: CARD_KS }",
        "cards_moved { target { hand: 0 } cards: CARD_9H count: 1 }",
        "seats { card_count: 2 cards: [CARD_9H, CARD_KS] }",
    ),
    "a known card is seen to leave": (
        "seats {} seats { card_count: 3 known_cards: [CARD_9H, CARD_KS] }",
        "cards_moved { source { hand: 1 } cards: CARD_KS count: 1 }",
        "seats {} seats { card_count: 2 known_cards: CARD_9H }",
    ),
    "a card leaves a hidden hand unseen: it may be any": (
        "seats {} seats { card_count: 3 known_cards: [CARD_9H, CARD_KS] }",
        "cards_moved { source { hand: 1 } count: 1 }",
        "seats {} seats { card_count: 2 }",
    ),
    "a card leaves an open hand unseen": (
        "seats {} seats { card_count: 2 cards: [CARD_9H, CARD_KS] }",
        "cards_moved { source { hand: 1 } count: 1 }",
        "seats {} seats { card_count: 1 }",
    ),
    "a card comes unseen to an open hand, which is hidden from now on": (
        "seats {} seats { card_count: 1 cards: CARD_KS }",
        "cards_moved { target { hand: 1 } count: 1 }",
        "seats {} seats { card_count: 2 known_cards: CARD_KS }",
    ),
    "a hand of which something was known is revealed": (
        "seats {} seats { card_count: 2 known_cards: CARD_9H }",
        "hand_revealed { seat: 1 cards: [CARD_KS, CARD_9H] }",
        "seats {} seats { card_count: 2 cards: [CARD_9H, CARD_KS] }",
    ),
    "a pile of a seat is another than that of the table with its name, and comes after it": (
        "seats { card_count: 1 } piles { name: 'meld' owner: 1 count: 2 } piles { name: 'waste' count: 1 }",
        "cards_moved { source { hand: 0 } target { pile: 'meld' } cards: CARD_2C count: 1 }",
        "seats {} piles { name: 'meld' count: 1 cards { card: CARD_2C seat: 0 } } "
        "piles { name: 'meld' owner: 1 count: 2 } piles { name: 'waste' count: 1 }",
    ),
    "a pile lies as the last move to it says": (
        "piles { name: 'a' count: 1 } piles { name: 'a' owner: 0 count: 1 face_down: true }",
        "cards_moved { target { pile: 'a' } count: 1 face_down: true }",
        "piles { name: 'a' count: 2 face_down: true } piles { name: 'a' owner: 0 count: 1 face_down: true }",
    ),
    "a seat goes out without a place": (
        "seats { place: 2 }",
        "seat_out { seat: 0 }",
        "seats { is_out: true }",
    ),
    "a fact of a newer kind changes nothing": ("round: 1", "", "round: 1"),
    "the game ends": (
        "phase: 'play' seats_to_act: 1 ranking { seats: 9 }",
        "game_ended { ranking { seats: [0, 2] } ranking { seats: 1 } reason: 'won' }",
        "phase: 'play' ranking { seats: [0, 2] } ranking { seats: 1 }",
    ),
    "the game ends without a result": (
        "phase: 'play' seats_to_act: 1",
        "game_ended { ranking { seats: [0, 1] } reason: 'abandoned' is_void: true }",
        "phase: 'play' ranking { seats: [0, 1] } is_void: true",
    ),
}


@pytest.mark.parametrize(("before", "fact", "after"), CASES.values(), ids=CASES.keys())
def test_fact(before: str, fact: str, after: str) -> None:
    view = view_of(before)
    assert fold(view, [fact_of(fact)], viewer=0) == view_of(after)
    assert view == view_of(before), "the argument is not changed"


@pytest.mark.parametrize("game", [*OWN_GAMES.values(), TOY], ids=lambda game: game.id)
def test_folded_facts_yield_the_view_of_the_engine(game: Game) -> None:
    print(f"CROUPIER_TEST_SEED={SEED} .venv/bin/pytest tests/client/test_view.py")
    random = Random(f"{SEED} {game.id}")
    for _ in range(TABLES):
        seats = random.choice(game.seats)
        state = game.new(seats, sample_options(game, seats, random))
        views = {viewer: encode_view(game.view(state, viewer)) for viewer in viewers(seats)}
        for step in islice(walk(game, state, random), EVENTS):
            for viewer, view in views.items():
                facts = [encode_fact(fact) for fact in facts_for(step.facts, viewer)]
                views[viewer] = fold(view, facts, None if viewer == SPECTATOR else viewer)
                assert views[viewer] == encode_view(game.view(step.after, viewer))


def test_a_view_keeps_no_part_of_a_fact() -> None:
    fact = fact_of("called { call { seat: 0 action { bid { amount: 60 } } } }")
    folded = fold(pb.TableView(), [fact], viewer=0)
    fact.called.call.action.bid.amount = 70
    assert folded.calls[0].action.bid.amount == 60


MISFITS = {
    "a seat that the table does not have": "trick_taken { seat: 3 }",
    "more cards than the hand holds": "cards_moved { source { hand: 2 } count: 1 }",
    "more cards than the pile holds": "cards_moved { source { pile: 'none' } count: 1 }",
    "a total too few": "round_ended { score { totals: [1, 2] } }",
}


@pytest.mark.parametrize("fact", MISFITS.values(), ids=MISFITS.keys())
def test_misfit(fact: str) -> None:
    view = view_of(THREE_SEATS)
    with pytest.raises(FoldError):
        fold(view, [fact_of("turn_changed { phase: 'x' }"), fact_of(fact)], viewer=0)
    assert view == view_of(THREE_SEATS)
