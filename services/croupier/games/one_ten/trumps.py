"""The cards of 110 under each trump suit (110-RANK-1 to -5, 110-REN-1 to -4)."""

from typing import NamedTuple

from croupier.games.cards import CARD_OF_NOTATION, JOKER, SUITS, Card, Suit, mask_of, suit_of
from croupier.games.facts import View
from croupier.games.hands import PACK
from croupier.games.one_ten.state import UNNAMED, OneTenState

ACE_OF_HEARTS: Card = CARD_OF_NOTATION["AH"]
TRUMP_POWER = 100
"""Every trump has more power than this, every plain card less."""

_RED_TRUMPS, _BLACK_TRUMPS = "AKQT9876432", "AKQ2346789T"
_RED_PLAIN, _BLACK_PLAIN = "KQJT98765432A", "KQJA23456789T"


class Trumps(NamedTuple):
    """The pack under a trump suit: bit sets of cards, and tables by card.

    `ordinary` are the trumps of renege rank 0, `plain` the plain cards of each suit, `led` the suit that a card asks
    for, `forces` the cards that it forces out (110-REN-3), `power` how a card beats others for each suit led,
    `order` how a hand is sorted for show (110-TABLE-1).
    """

    suit: Suit
    trumps: int
    ordinary: int
    plain: tuple[int, ...]
    led: tuple[Suit, ...]
    forces: tuple[int, ...]
    power: tuple[tuple[int, ...], ...]
    order: tuple[Card, ...]


def _of_suit(suit: Suit, ranks: str) -> list[Card]:
    return [CARD_OF_NOTATION[rank + SUITS[suit]] for rank in ranks]


def _is_red(suit: Suit) -> bool:
    return SUITS[suit] in "DH"


def _plain_order(suit: Suit, trump: Suit) -> list[Card]:
    """Return the plain cards of a suit, highest first."""
    if suit == trump:
        return []
    ordered = _of_suit(suit, _RED_PLAIN if _is_red(suit) else _BLACK_PLAIN)
    return [value for value in ordered if value != ACE_OF_HEARTS]


def _trump_order(trump: Suit) -> list[Card]:
    """Return the trumps, highest first."""
    if trump == UNNAMED:
        return [JOKER, ACE_OF_HEARTS]
    others = _of_suit(trump, _RED_TRUMPS if _is_red(trump) else _BLACK_TRUMPS)
    return [*_of_suit(trump, "5J"), JOKER, ACE_OF_HEARTS, *(value for value in others if value != ACE_OF_HEARTS)]


def _power(ordered: list[Card], plain: list[list[Card]], led: Suit) -> tuple[int, ...]:
    """Return the power of each card when a suit was led; plain cards of other suits have none."""
    power = dict.fromkeys(range(PACK), 0)
    followers = plain[led] if led < len(plain) else []
    power |= {value: len(followers) - at for at, value in enumerate(followers)}
    power |= {value: TRUMP_POWER + len(ordered) - at for at, value in enumerate(ordered)}
    return tuple(power[value] for value in range(PACK))


def _trumps(trump: Suit) -> Trumps:
    ordered = _trump_order(trump)
    plain = [_plain_order(suit, trump) for suit in range(len(SUITS))]
    reneging = ordered[:4] if trump != UNNAMED else ordered
    below = {value: mask_of(reneging[at + 1 :]) for at, value in enumerate(reneging)}
    return Trumps(
        suit=trump,
        trumps=mask_of(ordered),
        ordinary=mask_of(ordered) & ~mask_of(reneging),
        plain=tuple(map(mask_of, plain)),
        led=tuple(trump if value in ordered else suit_of(value) for value in range(PACK)),
        forces=tuple(below.get(value, 0) for value in range(PACK)),
        power=tuple(_power(ordered, plain, led) for led in range(UNNAMED + 1)),
        order=(*ordered, *(value for suit in plain for value in suit)),
    )


TRUMPS: tuple[Trumps, ...] = tuple(map(_trumps, range(UNNAMED + 1)))
"""By trump suit, the last one for UNNAMED."""


def trumps_of(state: OneTenState) -> Trumps:
    """Return the pack under the trump suit of a state."""
    return TRUMPS[state.exchange.trump]


def shown_trump(view: View) -> Suit:
    """Return the trump suit that a view shows, or UNNAMED."""
    return UNNAMED if view.contract.trump is None else view.contract.trump
