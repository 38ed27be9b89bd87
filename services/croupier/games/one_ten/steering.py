"""Steering of random play to positions of 110 that it hardly ever reaches, for tests."""

from croupier.games.actions import Bid, StandPat, SwapCards
from croupier.games.interface import Event, OptionValues, RandomSource, SeatActed
from croupier.games.one_ten import bidding, kitty
from croupier.games.one_ten.state import OneTenState
from croupier.games.sampling import sample


def low_bids(state: OneTenState, event: Event, randrange: RandomSource) -> Event:
    """Return low bids, so that games are won, and large swaps, so that stocks fall short."""
    match event:
        case SeatActed(seat, Bid()):
            calls = bidding.legal(state, seat).actions
            (call,) = sample([call for call in calls if call == Bid(15)] or calls[-1:], 1, randrange)
            return SeatActed(seat, call)
        case SeatActed(seat, SwapCards() | StandPat()) if randrange(10):
            (choice,) = kitty.legal(state, seat).choices
            if choice.cards is not None:
                return SeatActed(seat, SwapCards(sample(choice.cards.cards, choice.cards.max_cards, randrange)))
    return event


def steered_options(seats: int) -> OptionValues:
    """Return a limit of rounds where low bids do not end a game soon."""
    return {"max_rounds": 0 if seats <= 4 else 2}
