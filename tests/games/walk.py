"""Random tables of any game: the walks along which the laws are checked."""

from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import NamedTuple

from croupier.games.bots import random_of
from croupier.games.facts import SPECTATOR, Fact, Viewer
from croupier.games.interface import (
    CardsShuffled,
    Event,
    Game,
    GameOver,
    IllegalAction,
    InvalidOption,
    Legal,
    Option,
    OptionValue,
    ProposalAgreed,
    SeatActed,
    ShuffleNeeded,
    State,
    resolve_options,
)
from tests.games.peculiar import PECULIAR

PROPOSALS = 0.01
"""How likely an event is something that all seats agreed on, where a game has such things."""
RARELY = 0.1
"""How likely a walk considers the actions too that it else leaves out."""
MOST_EVENTS = 50_000
"""No table of any game is longer than this in a random walk; one that is has no end."""

ENDING: Mapping[str, Mapping[str, range]] = {"one_ten": {"max_rounds": range(1, 7)}}
"""By game and option the values that walks draw from instead of all, because play by chance may have no end."""


def drawn_values(game: Game, option: Option) -> Sequence[OptionValue]:
    """The values of an option with which play by chance comes to an end."""
    return ENDING.get(game.id, {}).get(option.name, option.allowed)


class Step(NamedTuple):
    """An event with the table before and after it, and what became known."""

    before: State
    event: Event
    after: State
    facts: tuple[Fact, ...]


def viewers(seats: int) -> tuple[Viewer, ...]:
    """Every seat and the spectators."""
    return (*range(seats), SPECTATOR)


def sample_options(game: Game, seats: int, random: Random) -> dict[str, OptionValue]:
    """Any valid combination of options; of a long range the default, the ends and a few others."""
    while True:
        chosen: dict[str, OptionValue] = {}
        for option in game.options(seats):
            allowed = drawn_values(game, option)
            if isinstance(allowed, range) and len(allowed) > 10:
                allowed = (option.default, allowed[0], allowed[-1], *random.sample(allowed, 3), *allowed[1:9])
            chosen[option.name] = random.choice(allowed)
        try:
            return resolve_options(game, seats, chosen)
        except InvalidOption:
            continue


def shuffle(due: ShuffleNeeded, random: Random) -> CardsShuffled:
    """The cards that are due in a random order."""
    return CardsShuffled(tuple(random.sample(due.cards, len(due.cards))), tuple(map(random.randrange, due.draw_bounds)))


def next_event(game: Game, state: State, random: Random) -> Event | None:
    """A random event that the table awaits or may be agreed on; None when the game is over."""
    awaiting = state.awaiting
    if game.proposals and random.random() < PROPOSALS:
        agreed = ProposalAgreed(random.choice(list(game.proposals)))
        try:
            state.apply(agreed)
        except IllegalAction:
            pass
        else:
            return agreed
    if isinstance(awaiting, GameOver):
        return None
    if isinstance(awaiting, ShuffleNeeded):
        return shuffle(awaiting, random)
    seat = random.choice(awaiting.seats)
    return SeatActed(seat, random_of(usual(game, state.legal_actions(seat), random), random.randrange))


def usual(game: Game, legal: Legal, random: Random) -> Legal:
    """What is legal, most times without the actions that the game's walks take rarely."""
    if random.random() < RARELY:
        return legal
    actions = tuple(action for action in legal.actions if not PECULIAR[game.id].rarely(action))
    return Legal(actions, legal.choices) if actions or legal.choices else legal


def walk(game: Game, state: State, random: Random, *, steered: bool = False) -> Iterator[Step]:
    """Play on by chance, which can be steered to what is rare, until the game is over; one without an end fails."""
    for _ in range(MOST_EVENTS):
        event = next_event(game, state, random)
        if event is None:
            return
        if steered:
            event = PECULIAR[game.id].steered(state, event, random)
        after, facts = state.apply(event)
        yield Step(state, event, after, facts)
        state = after
    raise AssertionError(f"the game has no end within {MOST_EVENTS} events")
