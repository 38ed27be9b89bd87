"""Steering of random play to positions of Thulla that it hardly ever reaches, for tests."""

from croupier.games.cards import suit_of
from croupier.games.interface import CardsShuffled, Event, OptionValues, RandomSource
from croupier.games.thulla.state import ThullaState


def equal_suits(_state: ThullaState, event: Event, randrange: RandomSource) -> Event:
    """Return deals by which seats hold as many cards of a suit as others: then six of them run out together."""
    if not isinstance(event, CardsShuffled) or randrange(2):
        return event
    return CardsShuffled(tuple(sorted(event.cards, key=suit_of)), event.drawn)


def steered_options(seats: int) -> OptionValues:  # noqa: ARG001 - the same for all
    """Return tables without a limit that end all the same, and on which several seats may run out at once."""
    return {"stall_limit": 0, "pickup": "highest", "last_card": "safe_after_trick"}
