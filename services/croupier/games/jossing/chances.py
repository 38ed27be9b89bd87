"""The chances of cards to win tricks, as far as a seat knows: estimates of the computer players of Jøssing.

Cards that the seat does not see lie at random in other hands or in the box. Players with other figures than those
below did not do better against players with these.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from croupier.games.cards import Card, Suit
from croupier.games.hands import PACK, SUIT_OF
from croupier.games.jossing.scoring import worth

RUFFING = 0.5
"""The probability that a trump wins in the long run although a higher one is in another hand."""
UNUSED = 0.75
"""The probability that a trick that somebody else leads has no use for a certain card."""
TOO_LATE = 0.3
"""The probability that a card wins nothing in the long run because its seat, which leads now, leads others first."""
CONTESTED = 0.7
"""The probability that a seat that could beat a card does so."""
DOUBT = 0.01
"""The least chance of a card to win or to lose later, so that of two bad bids the nearer one is better."""
HIGHER: tuple[int, ...] = tuple(
    SUIT_OF[value] & ~((2 << value) - 1) & ~((2 << value) - 1 << PACK) for value in range(52)
)
"""For each card the higher ones of its suit, twice."""


class HiddenCards(NamedTuple):
    """The cards that a seat does not see, and their number; trump, and how many cards others hold."""

    trump: Suit
    unseen: int
    unseen_count: int
    held: tuple[int, ...]


def later_chance(hidden: HiddenCards, value: Card, tricks: int, leads: bool) -> float:
    """Return the chance that a card wins one of so many tricks to come; with `leads` its seat leads the first."""
    unseen, total = hidden.unseen, max(hidden.unseen_count, 1)
    elsewhere = min(sum(hidden.held) / total, 1.0)
    unbeaten = (1 - elsewhere) ** (unseen & HIGHER[value]).bit_count()
    if value // 13 == hidden.trump:
        return _doubted(unbeaten + (1 - unbeaten) * RUFFING * (1 - UNUSED ** (tricks - 1)))
    for count in hidden.held:
        unbeaten *= 1 - _ruffs(hidden, value // 13, count)
    unused = TOO_LATE * (1 - 1 / tricks) if leads else UNUSED**tricks
    return _doubted(unbeaten * (1 - unused))


def _doubted(chance: float) -> float:
    return min(max(chance, DOUBT), 1 - DOUBT)


def chance_now(
    hidden: HiddenCards, trick: Sequence[Card], value: Card, to_come: Iterable[int], last_copy_wins: bool
) -> float:
    """Return the chance that a card wins the trick to which it is played; seats with `to_come` cards follow."""
    led = trick[0] // 13 if trick else value // 13
    value_of = worth(hidden.trump, led)
    highest = max((value_of[laid] for laid in trick), default=0)
    if value_of[value] < highest or (value_of[value] == highest and not (highest and last_copy_wins)):
        return 0.0
    chance = 1.0
    for count in to_come:
        chance *= 1 - CONTESTED * _beats(hidden, led, value, count)
    return chance


def _beats(hidden: HiddenCards, led: Suit, value: Card, count: int) -> float:
    """Return the chance that a seat with so many cards can beat a card that leads the trick."""
    higher = _holds(hidden, hidden.unseen & HIGHER[value], count)
    if led == hidden.trump:
        return higher
    if value // 13 == hidden.trump:
        return higher * (1 - _holds(hidden, hidden.unseen & SUIT_OF[13 * led], count))
    return higher + (1 - higher) * _ruffs(hidden, led, count)


def _ruffs(hidden: HiddenCards, suit: Suit, count: int) -> float:
    """Return the chance that a seat with so many cards has none of a suit, but a trump."""
    void = 1 - _holds(hidden, hidden.unseen & SUIT_OF[13 * suit], count)
    return void * _holds(hidden, hidden.unseen & SUIT_OF[13 * hidden.trump], count)


def _holds(hidden: HiddenCards, wanted: int, count: int) -> float:
    """Return the chance that a seat with so many cards has one of these."""
    return 1.0 - (1 - wanted.bit_count() / max(hidden.unseen_count, 1)) ** count


def tricks_distribution(chances: Iterable[float]) -> list[float]:
    """Return the probability of each number of tricks, from none to all, if these cards win independently."""
    likely = [1.0]
    for chance in chances:
        missed = 1 - chance
        likely = [
            as_many * missed + one_less * chance for as_many, one_less in zip((*likely, 0), (0, *likely), strict=True)
        ]
    return likely
