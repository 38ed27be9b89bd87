"""How fast the rules are: actions of random play in a second of one core, with all that play needs."""

from random import Random
from time import process_time

from croupier.games.bots import random_of
from croupier.games.catalogue import GAMES
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

SECONDS = 1.0
SEED = 1
MOST_ACTIONS = 5_000
"""Games that play by chance would hardly end are left after so many."""


def actions_per_second(game: Game, seats: int, seconds: float) -> float:
    """Play random tables with default options for so long: legal actions, their choice, the event and its facts."""
    random = Random(SEED)
    options = resolve_options(game, seats, {})
    actions, start = 0, process_time()
    while (elapsed := process_time() - start) < seconds or not actions:
        actions += _play_table(game, seats, options, random)
    return actions / elapsed


def _play_table(game: Game, seats: int, options: OptionValues, random: Random) -> int:
    state, actions = game.new(seats, options), 0
    while not isinstance(awaiting := state.awaiting, GameOver) and actions < MOST_ACTIONS:
        if isinstance(awaiting, SeatsToAct):
            state, _ = state.apply(_random_action(state, awaiting.seats[0], random))
            actions += 1
        else:
            cards = tuple(random.sample(awaiting.cards, len(awaiting.cards)))
            state, _ = state.apply(CardsShuffled(cards, tuple(map(random.randrange, awaiting.draw_bounds))))
    return actions


def _random_action(state: State, seat: int, random: Random) -> SeatActed:
    legal = state.legal_actions(seat)
    if not legal.choices:
        return SeatActed(seat, legal.actions[int(random.random() * len(legal.actions))])
    return SeatActed(seat, random_of(legal, random.randrange))


def main() -> None:
    """Print a table of all games and numbers of seats."""
    print(f"{'game':<12}{'seats':>5}{'actions/s':>12}")
    for game in GAMES.values():
        for seats in game.seats:
            rate = actions_per_second(game, seats, SECONDS)
            print(f"{game.id:<12}{seats:>5}{rate:>12,.0f}")
