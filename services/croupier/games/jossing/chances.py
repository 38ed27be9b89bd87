"""How likely a card wins a trick, as far as a seat can tell: what computer players of Jøssing go by.

Cards that the seat does not see lie by chance in other hands or in the box. The chances are estimates; the figures
below were found by letting players with different ones play against each other.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from croupier.games.cards import Card, Suit
from croupier.games.jossing.hands import HIGHER, SUIT_OF, Hand
from croupier.games.jossing.scoring import worth

RUFFING = 0.35
"""How often a trump wins although a higher one is in another hand."""
USED = 0.85
"""How often a card of another suit, which nobody could beat, comes to lie in a trick of its suit."""
CONTESTED = 0.7
"""How often a seat that could beat a card does so."""


class Outlook(NamedTuple):
    """What a seat reckons with: trump, the cards it does not see, their number, and how many cards others hold."""

    trump: Suit
    unseen: Hand
    unseen_count: int
    held: tuple[int, ...]


def later_chance(outlook: Outlook, value: Card) -> float:
    """The chance that a card wins a trick some time later."""
    unseen, total = outlook.unseen, max(outlook.unseen_count, 1)
    elsewhere = min(sum(outlook.held) / total, 1.0)
    unbeaten = (1 - elsewhere) ** (unseen & HIGHER[value]).bit_count()
    if value // 13 == outlook.trump:
        return unbeaten + (1 - unbeaten) * RUFFING
    for count in outlook.held:
        unbeaten *= 1 - _ruffs(outlook, value // 13, count)
    return unbeaten * USED


def chance_now(outlook: Outlook, trick: Sequence[Card], value: Card, to_come: Iterable[int]) -> float:
    """The chance that a card wins the trick that it is played to; seats with so many cards are still to play to it."""
    led = trick[0] // 13 if trick else value // 13
    value_of = worth(outlook.trump, led)
    if not value_of[value] or any(value_of[laid] >= value_of[value] for laid in trick):
        return 0.0
    chance = 1.0
    for count in to_come:
        chance *= 1 - CONTESTED * _beats(outlook, led, value, count)
    return chance


def _beats(outlook: Outlook, led: Suit, value: Card, count: int) -> float:
    """The chance that a seat with so many cards can beat a card that leads the trick."""
    higher = _holds(outlook, outlook.unseen & HIGHER[value], count)
    if led == outlook.trump:
        return higher
    if value // 13 == outlook.trump:
        return higher * (1 - _holds(outlook, outlook.unseen & SUIT_OF[13 * led], count))
    return higher + (1 - higher) * _ruffs(outlook, led, count)


def _ruffs(outlook: Outlook, suit: Suit, count: int) -> float:
    """The chance that a seat with so many cards has none of a suit, but a trump."""
    void = 1 - _holds(outlook, outlook.unseen & SUIT_OF[13 * suit], count)
    return void * _holds(outlook, outlook.unseen & SUIT_OF[13 * outlook.trump], count)


def _holds(outlook: Outlook, wanted: Hand, count: int) -> float:
    """The chance that a seat with so many cards has one of these."""
    return 1.0 - (1 - wanted.bit_count() / max(outlook.unseen_count, 1)) ** count


def spread(chances: Iterable[float]) -> list[float]:
    """How likely each number of tricks is, from none to all, when these cards win independently of each other."""
    spread = [1.0]
    for chance in chances:
        missed = 1 - chance
        spread = [few * missed + fewer * chance for few, fewer in zip((*spread, 0.0), (0.0, *spread), strict=True)]
    return spread
