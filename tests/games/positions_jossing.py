"""Sections of Jøssing with given hands."""

from functools import partial

from croupier.games.cards import Card, card, cards
from croupier.games.facts import Seat
from croupier.games.hands import cards_left
from croupier.games.interface import CardsShuffled, OptionValue
from croupier.games.jossing.game import Jossing
from croupier.games.jossing.state import JossingOptions, JossingState, Section
from tests.games import positions
from tests.games.comparison import apply

JOSSING = Jossing()
new = partial(positions.new, "jossing")
"""Return a table before its first deal."""


def before(seats: int, size: int, dealer: Seat, **options: OptionValue) -> JossingState:
    """Return a table whose next section has this size and dealer; all totals are zero."""
    first_dealer = (dealer + 1 - size) % seats
    state: JossingState = new(seats, first_dealer=first_dealer, **options)
    return state._replace(section=Section.of(state.options, size - 1, 0)) if size > 1 else state


def shuffled(options: JossingOptions, hands: str, indicator: str, dealer: Seat) -> CardsShuffled:
    """Return the order of the deck that deals hands such as "2C 3C | 5C 6D" and this indicator."""
    held = [cards(text) for text in hands.split("|")]
    order = [*range(dealer + 1, len(held)), *range(dealer + 1)]
    dealt: list[Card] = [held[seat][turn] for turn in range(len(held[0])) for seat in order]
    dealt.append(card(indicator))
    return CardsShuffled((*dealt, *cards_left(options.deck, dealt)))


def section(hands: str, indicator: str, dealer: Seat = 0, **options: OptionValue) -> JossingState:
    """Return a newly dealt section; its number is the size of its hands."""
    first, *others = hands.split("|")
    state = before(1 + len(others), len(first.split()), dealer, **options)
    dealt: JossingState = apply(state, shuffled(state.options, hands, indicator, dealer))[0]
    return dealt
