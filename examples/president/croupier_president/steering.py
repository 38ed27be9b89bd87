"""Steering of random play to positions of President that it hardly ever reaches, for tests."""

from croupier.games.interface import CardsShuffled, Event, RandomSource
from croupier.games.sampling import sample
from croupier_president.state import HIGHEST_RANK, PresidentState, rank_of


def ranks_together(state: PresidentState, event: Event, randrange: RandomSource) -> Event:
    """Return deals by which seats hold whole ranks, so that sets of four are laid and a leader has several threes."""
    if not isinstance(event, CardsShuffled):
        return event
    seats, order = state.options.seats, sample(range(HIGHEST_RANK + 1), HIGHEST_RANK + 1, randrange)
    held = sorted(event.cards, key=lambda value: order[rank_of(value)])
    places = sorted(range(len(held)), key=lambda place: place % seats)
    return CardsShuffled(tuple(value for _, value in sorted(zip(places, held, strict=True))), event.drawn)
