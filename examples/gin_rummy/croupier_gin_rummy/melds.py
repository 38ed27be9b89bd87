"""Sets, runs and the least deadwood of a hand. Hands are bit sets: bit c stands for card c."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from croupier.games.cards import Card, cards_of_mask, mask_of

RANKS = 13
SHORTEST, LONGEST = 3, 11
"""A meld has at least three cards, and no hand has more than eleven."""
SET, RUN = "set", "run"


class Meld(NamedTuple):
    """A set or a run: its name, its cards as a bit set, and their points."""

    name: str
    mask: int
    points: int


def rank_of(card: Card) -> int:
    """Return the rank by number, the ace low: 0 for the ace, 12 for the king (GIN-CARDS-1)."""
    return (card + 1) % RANKS


_SUIT = (1 << RANKS) - 1
"""The bits of a suit."""
POINTS: tuple[int, ...] = tuple(min((card + 1) % RANKS + 1, 10) for card in range(52))
"""The points of each card (GIN-CARDS-2)."""


def _points_of_suits() -> Iterator[int]:
    """Yield the points of each set of cards of one suit."""
    for cards in range(_SUIT + 1):
        yield sum(POINTS[card] for card in cards_of_mask(cards))


_POINTS_OF_SUIT = tuple(_points_of_suits())


def points_of(hand: int) -> int:
    """Return the points of all cards of a hand."""
    return sum([_POINTS_OF_SUIT[hand >> shift & _SUIT] for shift in (0, 13, 26, 39)])


def is_set(cards: tuple[Card, ...]) -> bool:
    """Return whether different cards are a set (GIN-MELD-1)."""
    return len(cards) in (3, 4) and len({rank_of(card) for card in cards}) == 1


def is_run(cards: tuple[Card, ...]) -> bool:
    """Return whether different cards are a run (GIN-MELD-2)."""
    ranks = sorted(rank_of(card) for card in cards)
    one_suit = len({card // RANKS for card in cards}) == 1
    return len(cards) >= SHORTEST and one_suit and ranks[-1] - ranks[0] == len(cards) - 1


def _meld(name: str, cards: Sequence[Card]) -> Meld:
    return Meld(name, mask_of(cards), sum(POINTS[card] for card in cards))


def _sets_of(rank: int) -> tuple[Meld, ...]:
    four = tuple(card for card in range(52) if rank_of(card) == rank)
    threes = [tuple(card for card in four if card != left_out) for left_out in four]
    return tuple(_meld(SET, cards) for cards in (four, *threes))


def _runs_from(suit: int, low: int) -> tuple[Meld, ...]:
    ascending = sorted(range(RANKS * suit, RANKS * (suit + 1)), key=rank_of)
    lengths = range(SHORTEST, min(LONGEST, RANKS - low) + 1)
    return tuple(_meld(RUN, ascending[low : low + length]) for length in lengths)


_SETS = tuple(_sets_of(rank) for rank in range(RANKS))
"""By rank."""
_RUNS = tuple(tuple(_runs_from(suit, low) for low in range(RANKS)) for suit in range(4))
"""By suit and lowest rank."""
MELDS: tuple[Meld, ...] = (
    *(meld for melds in _SETS for meld in melds),
    *(meld for suit in _RUNS for melds in suit for meld in melds),
)
"""All melds: sets by rank, then runs by suit and lowest rank."""


def melds_in(hand: int) -> list[Meld]:
    """Return all melds whose cards are in a hand, in the order of MELDS."""
    suits = [_low_ace(hand >> RANKS * suit & _SUIT) for suit in range(4)]
    clubs, diamonds, hearts, spades = suits
    threes = clubs & diamonds & (hearts | spades) | hearts & spades & (clubs | diamonds)
    possible = [meld for rank in _bits(threes) for meld in _SETS[rank]]
    for runs, held in zip(_RUNS, suits, strict=True):
        possible += [meld for low in _bits(held & held >> 1 & held >> 2) for meld in runs[low]]
    return [meld for meld in possible if meld.mask & hand == meld.mask]


def _low_ace(suit: int) -> int:
    """Return the cards of a suit as a bit set by rank, in which the ace is the lowest bit."""
    return suit << 1 & _SUIT | suit >> RANKS - 1


def _bits(mask: int) -> Iterator[int]:
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


@lru_cache(maxsize=1 << 15)
def least_deadwood(hand: int) -> int:
    """Return the points that the best melds of a hand leave (GIN-MELD-3)."""
    return points_of(hand) - _most_melded(hand, melds_in(hand))


def _most_melded(hand: int, melds: list[Meld]) -> int:
    """Return the greatest sum of points of disjoint melds."""
    best = 0
    for at, (_, mask, points) in enumerate(melds):
        if mask & hand == mask:
            best = max(best, points + _most_melded(hand ^ mask, melds[at + 1 :]))
    return best


def arrangements(hand: int) -> Iterator[tuple[tuple[Meld, ...], int]]:
    """Yield every set of disjoint melds of a hand, none first, and the cards that they leave."""
    yield from _arranged((), hand, melds_in(hand))


def _arranged(chosen: tuple[Meld, ...], rest: int, melds: list[Meld]) -> Iterator[tuple[tuple[Meld, ...], int]]:
    yield chosen, rest
    for at, meld in enumerate(melds):
        if meld.mask & rest == meld.mask:
            yield from _arranged((*chosen, meld), rest ^ meld.mask, melds[at + 1 :])


def extends(card: Card, laid: tuple[Card, ...]) -> bool:
    """Return whether a card can be laid off on a meld (GIN-OFF-3)."""
    extended = (*laid, card)
    return card not in laid and (is_set(extended) or is_run(extended))
