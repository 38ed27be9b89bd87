"""The referee's solo beside the engine's."""

import os
import secrets
from random import Random

import pytest

from croupier.games.cards import card
from croupier.games.catalogue import GAMES
from croupier.games.interface import CardsShuffled
from loadtest.judge.rules.interface import Card
from loadtest.judge.rules.solo import SoloTable
from loadtest.judge.rules.solo.cards import DECK, SUITS
from tests.games.walk import MOST_EVENTS, next_event, sample_options
from tests.loadtest.rules.comparison import TRIES, Both, Compared, applied, compare_attempt, compare_games, same
from tests.loadtest.rules.solo_hands import deck_for


def test_random_games_are_the_same(request: pytest.FixtureRequest) -> None:
    compared = compare_games("solo", SoloTable, request.node.nodeid, games=6)
    assert compared.events > 0
    assert compared.refused > 0


def uneven(random: Random) -> list[list[Card]]:
    """Hands of which some are strong or short of suits, as chance hardly deals them."""
    last = random.choice([*SUITS, ""])
    cards = list(DECK)
    match random.randrange(3):
        case 0:
            cards.sort(key=lambda card: (card[1] == last, "AKQJT987".index(card[0]), random.random()))
        case 1:
            cards.sort(key=lambda card: (card not in ("QC", "QS"), card[1] == last, "AKQJT987".index(card[0])))
        case _:
            pass  # One suit in each hand.
    for _ in range(random.randrange(6)):
        one, other = random.sample(range(32), 2)
        cards[one], cards[other] = cards[other], cards[one]
    return random.sample([cards[start : start + 8] for start in range(0, 32, 8)], 4)


def compare_uneven_game(random: Random, compared: Compared) -> None:
    """Play one random game on both, with a stacked deck for each deal."""
    game = GAMES["solo"]
    options = sample_options(game, 4, random)
    table = SoloTable(4, options)
    both = Both(game, game.new(4, options), table, [])
    for _ in range(MOST_EVENTS):
        event = next_event(game, both.state, random)
        if event is None:
            compared.games += 1
            return
        if isinstance(event, CardsShuffled):
            deck = deck_for(uneven(random), [*event.drawn, table.dealer][0], options)
            event = event._replace(cards=tuple(map(card, deck)))
        if random.random() < TRIES:
            compare_attempt(both, random, compared)
        both = applied(both, event)
        same(both)
        compared.events += 1
    raise AssertionError(f"the game has no end within {MOST_EVENTS} events")


def test_games_with_uneven_hands_are_the_same(request: pytest.FixtureRequest) -> None:
    compared = Compared()
    first = int(os.environ.get("CROUPIER_TEST_SEED") or secrets.randbelow(1 << 31))
    for seed in range(first, first + int(os.environ.get("CROUPIER_TEST_REFEREE_GAMES") or 6)):
        print(
            f"repeat with: CROUPIER_TEST_SEED={seed} CROUPIER_TEST_REFEREE_GAMES=1"
            f" .venv/bin/pytest '{request.node.nodeid}'"
        )
        compare_uneven_game(Random(seed), compared)
    print(compared)
    assert compared.events > 0
    assert compared.refused > 0
