"""The speed of the rules: actions of random play a second on one core."""

from collections.abc import Sequence
from random import Random
from time import process_time

from benchmarks.measurement import Row
from croupier.games.bots import random_of
from croupier.games.interface import (
    CardsShuffled,
    Game,
    GameOver,
    OptionValues,
    SeatActed,
    SeatsToAct,
    State,
    resolve_options,
)
from croupier.games.registry import installed_games

SECONDS = 0.2
SEED = 1
MAX_ACTIONS = 5_000
"""Tables end after this many actions, because random play of some games hardly ends."""


def actions_per_second(game: Game, seats: int, seconds: float) -> float:
    """Play random tables with default options for `seconds`: legal actions, their choice, the event and its facts."""
    random = Random(SEED)
    options = resolve_options(game, seats, {})
    actions, start = 0, process_time()
    while (elapsed := process_time() - start) < seconds or not actions:
        actions += _play_table(game, seats, options, random)
    return actions / elapsed


def _play_table(game: Game, seats: int, options: OptionValues, random: Random) -> int:
    state, actions = game.new(seats, options), 0
    while not isinstance(awaiting := game.awaiting(state), GameOver) and actions < MAX_ACTIONS:
        if isinstance(awaiting, SeatsToAct):
            state, _ = game.apply(state, _random_action(game, state, awaiting.seats[0], random))
            actions += 1
        else:
            cards = tuple(random.sample(awaiting.cards, len(awaiting.cards)))
            state, _ = game.apply(state, CardsShuffled(cards, tuple(map(random.randrange, awaiting.draw_bounds))))
    return actions


def _random_action(game: Game, state: State, seat: int, random: Random) -> SeatActed:
    legal = game.legal_actions(state, seat)
    if not legal.choices:
        return SeatActed(seat, legal.actions[int(random.random() * len(legal.actions))])
    return SeatActed(seat, random_of(legal, random.randrange))


async def compare() -> list[Row]:
    """Measure all games with each number of seats."""
    return [_row(game) for game in installed_games().values()]


def _row(game: Game) -> Row:
    print(f"  {game.id}", flush=True)
    rates = [actions_per_second(game, seats, SECONDS) for seats in game.seats]
    return Row("rules", f"{game.id}, seats: {extent(game.seats)}", f"{extent(rates)} actions a second of CPU")


def extent(numbers: Sequence[float]) -> str:
    """Return the lowest and the highest number, or the only one."""
    low, high = f"{min(numbers):,.0f}", f"{max(numbers):,.0f}"
    return low if low == high else f"{low} to {high}"
