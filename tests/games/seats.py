"""Observations of seats in any game, and tables that bots play."""

from collections import deque
from collections.abc import Iterator, Sequence
from math import sqrt
from random import Random
from statistics import mean, stdev

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
) -> Iterator[tuple[State, Observation | None]]:
    """Yield each decision of bots that play a table, and None at its end; raises AssertionError for illegal actions."""
    for _ in range(MAX_EVENTS):
        awaiting = dispatch.awaiting(state)
        if isinstance(awaiting, GameOver):
            yield state, None
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


def play_out(game: Game, seats: int, options: OptionValues, bots: Sequence[Bot], random: Random) -> GameOver:
    """Let bots play a table to its end, and return its state."""
    resolved = resolve_options(game, seats, options)
    ((end, _),) = deque(decisions(game, game.new(seats, resolved), resolved, bots, random), maxlen=1)
    over = game.awaiting(end)
    assert isinstance(over, GameOver)
    return over


def places(game: Game, seats: int, options: OptionValues, one: Bot, others: Bot, games: int) -> list[float]:
    """Return the places of one bot in games among others: 0 is first, 1 is last, and shared places are averaged."""
    found = []
    for number in range(games):
        own = number % seats
        bots = [one if seat == own else others for seat in range(seats)]
        groups = play_out(game, seats, options, bots, Random(number)).ranking
        at = next(index for index, group in enumerate(groups) if own in group)
        better = sum(len(group) for group in groups[:at])
        found.append((better + (len(groups[at]) - 1) / 2) / (seats - 1))
    return found


def is_significantly_better(places: Sequence[float]) -> bool:
    """Return whether the mean place is better than the middle by more than three standard errors."""
    return mean(places) + 3 * stdev(places) / sqrt(len(places)) < 0.5
