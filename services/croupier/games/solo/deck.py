"""The 32 cards of Solo, and what each is under each trump: precomputed bit sets and strengths.

The black queens are trumps always and of no printed suit (SOLO-RANK-1, SOLO-RANK-2).
"""

from collections.abc import Sequence

from croupier.games.cards import CARD_OF_NOTATION, RANKS, SUITS, Card, Suit, card, mask_of
from croupier.games.facts import PileCard

DECK: tuple[Card, ...] = tuple(card(rank + suit) for suit in SUITS for rank in "789TJQKA")
"""Every card once, ascending (SOLO-DECK-1)."""

ALL = mask_of(DECK)
CLUBS: Suit = 0
SPADES: Suit = 3
OLD: Card = CARD_OF_NOTATION["QC"]
BLUE: Card = CARD_OF_NOTATION["QS"]
BLACK_QUEENS = mask_of((OLD, BLUE))

PLAIN = tuple(mask_of(value for value in DECK if value // 13 == suit) & ~BLACK_QUEENS for suit in range(4))
"""The cards of each printed suit as bit sets, without black queens (SOLO-RANK-2)."""
TRUMPS = tuple(mask | BLACK_QUEENS for mask in PLAIN)
"""The trumps as bit sets, by the trump suit."""


def of_rank(rank: str) -> tuple[Card, ...]:
    """Return the cards of a rank, by suit."""
    return tuple(card(rank + suit) for suit in SUITS)


ACES = of_rank("A")


def _descending(suit: Suit) -> tuple[Card, ...]:
    return tuple(value for value in reversed(DECK) if PLAIN[suit] >> value & 1)


def _trumps_descending(trump: Suit) -> tuple[Card, ...]:
    """Return the Old, the seven, the Blue, then ace to eight (SOLO-RANK-1)."""
    *others, seven = _descending(trump)
    return OLD, seven, BLUE, *others


ORDER = tuple(
    (*_trumps_descending(trump), *(value for suit in range(4) if suit != trump for value in _descending(suit)))
    for trump in range(4)
)
"""All cards as hands are shown, by the trump suit: trumps first, each suit from the top."""
ORDER_WITHOUT_TRUMP = (OLD, BLUE, *(value for suit in range(4) for value in _descending(suit)))
"""All cards as hands are shown before trump is named."""


FOLLOWING = tuple(tuple(trumps if trumps >> led & 1 else PLAIN[led // 13] for led in range(52)) for trumps in TRUMPS)
"""By trump suit and card led: the cards that follow it, as a bit set (SOLO-PLAY-2)."""


def _powers(trump: Suit, led: Card) -> tuple[int, ...]:
    powers = [0] * 52
    for number, value in enumerate(reversed(_trumps_descending(trump))):
        powers[value] = len(RANKS) + number
    for number, value in enumerate(reversed(_descending(led // 13)), start=1):
        powers[value] = powers[value] or number
    return tuple(powers)


POWER = tuple(tuple(_powers(trump, led) for led in range(52)) for trump in range(4))
"""By trump suit, card led and card: its strength in that trick, 0 if it cannot win (SOLO-PLAY-3)."""


def taking(trump: Suit, trick: Sequence[PileCard]) -> int:
    """Return the index of the card that wins a trick or is winning it so far (SOLO-PLAY-3)."""
    power = POWER[trump][trick[0].card]
    return max(range(len(trick)), key=lambda index: power[trick[index].card])
