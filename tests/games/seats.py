"""Observations of seats in any game, and tables that bots play."""

from collections import deque
from collections.abc import Iterator, Sequence
from random import Random

from croupier.games.facts import Seat
from croupier.games.interface import (
    Bot,
    Event,
    Game,
    GameOver,
    Observation,
    OptionValues,
    SeatActed,
    ShuffleNeeded,
    State,
    resolve_options,
)
from tests.games import dispatch
from tests.games.laws import fits
from tests.games.walk import MAX_EVENTS, shuffle


def observation(game: Game, state: State, seat: Seat, options: OptionValues) -> Observation:
    """Return the observation of a seat's bot; omitted options have their defaults."""
    view = dispatch.view(state, seat)
    return Observation(seat, resolve_options(game, len(view.seats), options), view, dispatch.legal_actions(state, seat))


def decisions(
    game: Game, state: State, options: OptionValues, bots: Sequence[Bot], random: Random
) -> Iterator[tuple[State, Observation]]:
    """Yield each decision of bots that play a table; raises AssertionError for illegal actions."""
    for _ in range(MAX_EVENTS):
        awaiting = dispatch.awaiting(state)
        if isinstance(awaiting, GameOver):
            return
        event: Event
        if isinstance(awaiting, ShuffleNeeded):
            event = shuffle(awaiting, random)
        else:
            seat = random.choice(awaiting.seats)
            asked = Observation(seat, options, dispatch.view(state, seat), dispatch.legal_actions(state, seat))
            yield state, asked
            event = SeatActed(seat, bots[seat](asked, random.randrange))
            assert fits(asked.legal, event.action)
        state, _ = dispatch.apply(state, event)
    raise AssertionError("the bots do not come to an end")


def play_out(game: Game, seats: int, options: OptionValues, bots: Sequence[Bot], random: Random) -> None:
    """Let bots play a table to its end."""
    deque(decisions(game, game.new(seats, options), options, bots, random), maxlen=0)
