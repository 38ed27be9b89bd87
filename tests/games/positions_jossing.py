"""Sections of Jøssing with given hands."""

from croupier.games.cards import Card, card, cards
from croupier.games.facts import Seat
from croupier.games.interface import CardsShuffled, OptionValue, resolve_options
from croupier.games.jossing import Jossing, JossingState
from croupier.games.jossing.deal import Section
from croupier.games.jossing.packs import left_of
from croupier.games.jossing.table import Table
from tests.games.comparison import apply

JOSSING = Jossing()


def new(seats: int, **options: OptionValue) -> JossingState:
    """A table before its first deal."""
    return JOSSING.new(seats, resolve_options(JOSSING, seats, options))


def before(seats: int, size: int, dealer: Seat, **options: OptionValue) -> JossingState:
    """A table whose next section has so many cards and this dealer; all totals are nought."""
    first_dealer = (dealer + 1 - size) % seats
    state = new(seats, first_dealer=first_dealer, **options)
    return state._replace(section=Section.of(state.table, size - 1, 0)) if size > 1 else state


def shuffled(table: Table, hands: str, indicator: str, dealer: Seat) -> CardsShuffled:
    """The order of the deck that gives hands such as "2C 3C | 5C 6D" and this indicator."""
    held = [cards(text) for text in hands.split("|")]
    order = [*range(dealer + 1, len(held)), *range(dealer + 1)]
    dealt: list[Card] = [held[seat][turn] for turn in range(len(held[0])) for seat in order]
    dealt.append(card(indicator))
    return CardsShuffled((*dealt, *left_of(table.decks, dealt)))


def section(hands: str, indicator: str, dealer: Seat = 0, **options: OptionValue) -> JossingState:
    """A section that has just been dealt; its number is that of the cards in each hand."""
    first, *others = hands.split("|")
    state = before(1 + len(others), len(first.split()), dealer, **options)
    dealt: JossingState = apply(state, shuffled(state.table, hands, indicator, dealer))[0]
    return dealt
