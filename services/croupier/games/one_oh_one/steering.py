"""Steering of random play to positions of 101 that it hardly ever reaches, for tests."""

from croupier.games.actions import Draw, Play
from croupier.games.interface import CardsShuffled, Event, RandomSource, SeatActed
from croupier.games.one_oh_one import turns
from croupier.games.one_oh_one.effects import IS_QUEEN
from croupier.games.one_oh_one.state import OneOhOneState
from croupier.games.sampling import sample

SMALLEST_DECK = 36


def short_rounds(state: OneOhOneState, event: Event, randrange: RandomSource) -> Event:
    """Return plays of seats that draw only if they must; of a small deck also if they may, which empties the stock.

    Odd seats keep their queens, and often one has all.
    """
    if isinstance(event, CardsShuffled) and randrange(2):
        return _queens_together(state.options.seats, event, randrange)
    if not isinstance(event, SeatActed) or not randrange(20):
        return event
    legal = turns.legal_actions(state, event.seat).actions
    if Draw() in legal and state.options.may_draw_instead and _draws(state, randrange):
        return SeatActed(event.seat, Draw())
    plays = [play for play in legal if isinstance(play, Play)]
    others = [play for play in plays if not IS_QUEEN[play.card]]
    chosen = others if event.seat % 2 and others else plays
    return SeatActed(event.seat, sample(chosen, 1, randrange)[0]) if chosen else event


def _draws(state: OneOhOneState, randrange: RandomSource) -> bool:
    """Return whether a seat draws that may: with more cards, or more often, rounds would hardly end."""
    return len(state.options.deck) == SMALLEST_DECK and bool(randrange(2))


def _queens_together(seats: int, event: CardsShuffled, randrange: RandomSource) -> CardsShuffled:
    """Return the same cards in an order by which a seat is dealt four queens."""
    queens = [card for card in event.cards if IS_QUEEN[card]]
    order, first = [card for card in event.cards if not IS_QUEEN[card]], randrange(seats)
    for turn, queen in enumerate(queens[:4]):
        order.insert(first + turn * seats, queen)
    return CardsShuffled((*order, *queens[4:]), event.drawn)
