"""What a seat of any game sees, and tables that computer players play."""

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
    OptionValues,
    SeatActed,
    Seen,
    ShuffleNeeded,
    State,
    resolve_options,
)
from tests.games.laws import fits
from tests.games.walk import MOST_EVENTS, shuffle


def seen(game: Game, state: State, seat: Seat, options: OptionValues) -> Seen:
    """What a computer player on the seat gets; options that are not given are the defaults."""
    view = state.view(seat)
    return Seen(seat, resolve_options(game, len(view.seats), options), view, state.legal_actions(seat))


def decisions(
    game: Game, state: State, options: OptionValues, bots: Sequence[Bot], random: Random
) -> Iterator[tuple[State, Seen | None]]:
    """Each decision while bots play a table, whose actions are checked against what is legal; None at the end."""
    for _ in range(MOST_EVENTS):
        awaiting = state.awaiting
        if isinstance(awaiting, GameOver):
            yield state, None
            return
        event: Event
        if isinstance(awaiting, ShuffleNeeded):
            event = shuffle(awaiting, random)
        else:
            seat = random.choice(awaiting.seats)
            asked = Seen(seat, options, state.view(seat), state.legal_actions(seat))
            yield state, asked
            event = SeatActed(seat, bots[seat](asked, random.randrange))
            assert fits(asked.legal, event.action)
        state, _ = state.apply(event)
    raise AssertionError("the bots do not come to an end")


def play_out(game: Game, seats: int, options: OptionValues, bots: Sequence[Bot], random: Random) -> GameOver:
    """Let bots play a table to its end."""
    resolved = resolve_options(game, seats, options)
    ((end, _),) = deque(decisions(game, game.new(seats, resolved), resolved, bots, random), maxlen=1)
    assert isinstance(end.awaiting, GameOver)
    return end.awaiting


def places(game: Game, seats: int, options: OptionValues, one: Bot, others: Bot, games: int) -> list[float]:
    """Where one player ends in games among others: 0 is first and 1 last, and who shares a place has the middle."""
    found = []
    for number in range(games):
        own = number % seats
        bots = [one if seat == own else others for seat in range(seats)]
        groups = play_out(game, seats, options, bots, Random(number)).ranking
        at = next(index for index, group in enumerate(groups) if own in group)
        better = sum(len(group) for group in groups[:at])
        found.append((better + (len(groups[at]) - 1) / 2) / (seats - 1))
    return found


def surely_better_than_even(places: Sequence[float]) -> bool:
    """Whether the mean place is better than the middle by more than three standard errors."""
    return mean(places) + 3 * stdev(places) / sqrt(len(places)) < 0.5
