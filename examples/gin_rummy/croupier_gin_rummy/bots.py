"""A computer player of Gin Rummy: it takes what makes melds, keeps what may become some, and knocks early."""

from collections.abc import Sequence

from croupier.games.actions import Action, Declare, Draw, Lay, Pass, Play
from croupier.games.cards import Card, cards_of_mask, mask_of
from croupier.games.facts import Mark, View
from croupier.games.interface import Observation, RandomSource
from croupier.games.values import NumberValue, WordValue
from croupier_gin_rummy.melds import (
    POINTS,
    RANKS,
    Meld,
    arrangements,
    extends,
    is_run,
    least_deadwood,
    points_of,
    rank_of,
)
from croupier_gin_rummy.state import MELD_NAMES, other

PAIR_WORTH = 1.5
"""Two cards that lack one for a meld are worth so many points of deadwood."""
Laid = tuple[tuple[Card, ...], ...]
"""The melds of the knocker."""


def sensible(observation: Observation, randrange: RandomSource) -> Action:  # noqa: ARG001 - the port's signature
    """Play by what the seat sees; it uses no randomness. Raises ValueError if nothing is legal."""
    seat, view, actions = observation.seat, observation.view, observation.legal.actions
    if not actions:
        raise ValueError(f"seat {seat} has nothing to decide")
    hand = mask_of(view.seats[seat].cards)
    match view.phase:
        case "upcard" | "draw":
            return _draw(view, hand, actions)
        case "discard":
            return _discard(hand, actions)
        case "knock":
            return min(_plays(actions), key=lambda play: least_deadwood(hand ^ 1 << play.card))
        case "lay":
            return _lay(hand, actions)
        case _:
            return _lay_off(hand, _laid(view, other(seat)), actions)


def _draw(view: View, hand: int, actions: Sequence[Action]) -> Action:
    """Take the top card of the discard pile if it makes a meld, or the knock possible."""
    discard, otherwise = Draw("discard"), Pass() if Pass() in actions else Draw("stock")
    if discard not in actions:
        return otherwise
    card = view.pile("discard")[-1].card
    taken = hand | 1 << card
    held = cards_of_mask(hand)
    if min(least_deadwood(taken ^ 1 << value) for value in held) <= _limit(view):
        return discard
    # Each card that is taken lowers the cost of the hand, so that two such players do not go round in circles.
    pairs = _pairs(taken)
    improves = min(_cost_after(taken, value, pairs) for value in held) < _cost(hand)
    is_melded = least_deadwood(taken) < least_deadwood(hand) + POINTS[card]
    return discard if improves and is_melded else otherwise


def _limit(view: View) -> int:
    """Return the limit of this hand."""
    marked = (mark.value for mark in view.marks if mark.name == "knock_limit")
    return next((value.number for value in marked if isinstance(value, NumberValue)), 0)


def _discard(hand: int, actions: Sequence[Action]) -> Action:
    """Declare big gin or knock; otherwise discard what costs most and promises least."""
    for word in ("big_gin", "knock"):
        if Declare(word) in actions:
            return Declare(word)
    pairs = _pairs(hand)
    return min(_plays(actions), key=lambda play: (_cost_after(hand, play.card, pairs), -POINTS[play.card]))


def _plays(actions: Sequence[Action]) -> list[Play]:
    return [action for action in actions if isinstance(action, Play)]


def _cost(hand: int) -> float:
    """Return the deadwood of a hand, less for pairs that may become melds."""
    return least_deadwood(hand) - PAIR_WORTH * _pairs(hand)


def _cost_after(hand: int, card: Card, pairs: int) -> float:
    """Return the cost of a hand with so many pairs after a card has left it."""
    return least_deadwood(hand ^ 1 << card) - PAIR_WORTH * (pairs - (hand & _NEAR[card]).bit_count())


def _pairs(hand: int) -> int:
    """Return the number of pairs of cards that lack one for a meld."""
    return sum([(hand & _NEAR[card]).bit_count() for card in cards_of_mask(hand)]) // 2


def _near(card: Card) -> int:
    """Return the other cards that can be in a meld of three with a card and only one more."""
    same_suit = [value for value in range(52) if value // RANKS == card // RANKS]
    neighbours = [value for value in same_suit if abs(rank_of(value) - rank_of(card)) in (1, 2)]
    return mask_of([*neighbours, *(value for value in range(card % RANKS, 52, RANKS) if value != card)])


_NEAR = tuple(_near(card) for card in range(52))


def _lay(hand: int, actions: Sequence[Action]) -> Action:
    """Lay the melds that leave the least deadwood, as few of them as possible."""
    melds, _ = min(arrangements(hand), key=lambda arranged: (points_of(arranged[1]), len(arranged[0])))
    return _first_of(melds, actions)


def _lay_off(hand: int, laid: Laid, actions: Sequence[Action]) -> Action:
    """Lay the melds that leave the least deadwood once all else has been laid off, then lay off."""
    melds, _ = min(
        arrangements(hand), key=lambda arranged: (points_of(_after_lay_offs(arranged[1], laid)), len(arranged[0]))
    )
    if melds:
        return _first_of(melds, actions)
    lay_offs = [action for action in actions if isinstance(action, Lay) and action.pile]
    # A run goes first: a card on it makes room for the next one.
    on_runs = [action for action in lay_offs if is_run(laid[MELD_NAMES.index(action.pile)])]
    return next(iter((*on_runs, *lay_offs)), Declare("done"))


def _first_of(melds: tuple[Meld, ...], actions: Sequence[Action]) -> Action:
    """Return the action for the first of these melds; *done* if there is none."""
    wanted = [Lay(cards_of_mask(meld.mask), meld.name) for meld in melds]
    return next((action for action in wanted if action in actions), Declare("done"))


def _laid(view: View, owner: int) -> Laid:
    """Return the melds on which cards can be laid off; none after gin."""
    if Mark("knock", owner, WordValue("knock")) not in view.marks:
        return ()
    piles = [pile for pile in view.piles if pile.owner == owner]
    return tuple(tuple(lying.card for lying in pile.cards) for pile in piles)


def _after_lay_offs(hand: int, laid: Laid) -> int:
    """Return the cards that are left when all cards are laid off that can be, on runs first."""
    for meld in sorted(laid, key=is_run, reverse=True):
        for card in cards_of_mask(hand):
            if extends(card, meld):
                longer = tuple((*cards, card) if cards == meld else cards for cards in laid)
                return _after_lay_offs(hand ^ 1 << card, longer)
    return hand
