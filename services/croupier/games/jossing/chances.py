"""How likely a card wins a trick, as far as a seat can tell: what computer players of Jøssing go by.

Cards that the seat does not see lie by chance in other hands or in the box. The chances are estimates; players
with other figures than those below did not do better against players with these.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from croupier.games.cards import Card, Suit
from croupier.games.jossing.packs import HIGHER, SUIT_OF, Hand
from croupier.games.jossing.scoring import worth

RUFFING = 0.5
"""How often a trump wins in the long run although a higher one is in another hand."""
UNUSED = 0.75
"""How often a trick that somebody else leads gives no use for a certain card."""
TOO_LATE = 0.3
"""How often a card comes to nothing in the long run because its seat, that leads now, wants to lead others first."""
CONTESTED = 0.7
"""How often a seat that could beat a card does so."""
DOUBT = 0.01
"""No card is surer than this to win or to lose later, so that of two bids that are bad the nearer one is better."""


class Outlook(NamedTuple):
    """What a seat reckons with: trump, the cards it does not see, their number, and how many cards others hold."""

    trump: Suit
    unseen: Hand
    unseen_count: int
    held: tuple[int, ...]


def later_chance(outlook: Outlook, value: Card, tricks: int, leads: bool) -> float:
    """The chance that a card wins one of so many tricks to come; `leads` tells whether its seat leads the first."""
    unseen, total = outlook.unseen, max(outlook.unseen_count, 1)
    elsewhere = min(sum(outlook.held) / total, 1.0)
    unbeaten = (1 - elsewhere) ** (unseen & HIGHER[value]).bit_count()
    if value // 13 == outlook.trump:
        return _doubted(unbeaten + (1 - unbeaten) * RUFFING * (1 - UNUSED ** (tricks - 1)))
    for count in outlook.held:
        unbeaten *= 1 - _ruffs(outlook, value // 13, count)
    unused = TOO_LATE * (1 - 1 / tricks) if leads else UNUSED**tricks
    return _doubted(unbeaten * (1 - unused))


def _doubted(chance: float) -> float:
    return min(max(chance, DOUBT), 1 - DOUBT)


def chance_now(
    outlook: Outlook, trick: Sequence[Card], value: Card, to_come: Iterable[int], last_copy_wins: bool
) -> float:
    """The chance that a card wins the trick that it is played to; seats with so many cards are still to play to it."""
    led = trick[0] // 13 if trick else value // 13
    value_of = worth(outlook.trump, led)
    highest = max((value_of[laid] for laid in trick), default=0)
    if value_of[value] < highest or (value_of[value] == highest and not (highest and last_copy_wins)):
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
    likely = [1.0]
    for chance in chances:
        missed = 1 - chance
        likely = [
            as_many * missed + one_less * chance for as_many, one_less in zip((*likely, 0), (0, *likely), strict=True)
        ]
    return likely
