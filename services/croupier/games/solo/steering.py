"""Steering of random play to positions of Solo that it hardly ever reaches, for tests."""

from collections.abc import Callable
from typing import Any

from croupier.games.actions import Action, Bid
from croupier.games.cards import Card
from croupier.games.facts import EVERYONE, ContractChanged, Fact, TurnChanged
from croupier.games.interface import CardsShuffled, Event, RandomSource
from croupier.games.sampling import sample
from croupier.games.solo.deck import BLUE, DECK, OLD
from croupier.games.solo.state import SoloState


def shows_black_queens_or_partner(fact: Fact) -> bool:
    """Return whether a fact shows a wedding that must be called, or the partner to all."""
    if isinstance(fact, ContractChanged):
        return fact.changes.partner is not None and fact.audience == EVERYONE
    return isinstance(fact, TurnChanged) and fact.phase == "wedding"


def is_solo(action: Action) -> bool:
    """Return whether an action bids a solo."""
    return isinstance(action, Bid) and str(action.bid).startswith("solo")


def uneven_hands(_state: SoloState, event: Event, randrange: RandomSource) -> Event:
    """Return decks of which some hands are strong or short of suits, dealt in packets or singly."""
    if not isinstance(event, CardsShuffled):
        return event
    (order,) = sample(_orders(randrange(5)), 1, randrange)
    held = sorted(sample(DECK, len(DECK), randrange), key=order)
    for _ in range(randrange(6)):
        one, other = sample(range(len(held)), 2, randrange)
        held[one], held[other] = held[other], held[one]
    hands = [list(hand) for hand in sample([held[at : at + 8] for at in range(0, 32, 8)], 4, randrange)]
    packets = (3, 2, 3) if randrange(2) else (1,) * 8
    return CardsShuffled(tuple(hand.pop() for size in packets for hand in hands for _ in range(size)), event.drawn)


def _orders(last: int) -> list[Callable[[Card], Any]]:
    """Return orders of the deck: by rank with a suit at the end, also with the black queens in front, and by suit."""
    return [
        lambda card: (card // 13 == last, -(card % 13)),
        lambda card: (card not in (OLD, BLUE), card // 13 == last, -(card % 13)),
        lambda card: card,
    ]
