"""Random walks through the tables of any game, along which the laws are checked."""

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
from tests.games import dispatch
from tests.games.traits import TRAITS

PROPOSALS = 0.01
"""The probability that an event is an agreed proposal, in games with proposals."""
RARE_SHARE = 0.1
"""The probability that a walk considers rare actions."""
MAX_EVENTS = 50_000
"""The maximum length of a random walk; a longer table counts as one without end."""

ENDING: Mapping[str, Mapping[str, range]] = {"one_ten": {"max_rounds": range(1, 7)}}
"""The values that walks draw from instead of all, by game and option, because random play may have no end."""


def drawn_values(game: Game, option: Option) -> Sequence[OptionValue]:
    """Return the values of an option with which random play comes to an end."""
    return ENDING.get(game.id, {}).get(option.name, option.allowed)


class Transition(NamedTuple):
    """An event with the table before and after it, and its facts."""

    before: State
    event: Event
    after: State
    facts: tuple[Fact, ...]


def viewers(seats: int) -> tuple[Viewer, ...]:
    """Return every seat and the spectators."""
    return (*range(seats), SPECTATOR)


def some_viewers(seats: int, random: Random) -> tuple[Viewer, ...]:
    """Return a random seat and the spectators: what is wrong with one seat's view is so with that of others."""
    return random.randrange(seats), SPECTATOR


def sample_options(game: Game, seats: int, random: Random) -> dict[str, OptionValue]:
    """Return a valid combination of options; a long range has its default, ends and a few others."""
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
    """Return the needed shuffle in a random order."""
    return CardsShuffled(tuple(random.sample(due.cards, len(due.cards))), tuple(map(random.randrange, due.draw_bounds)))


def next_event(game: Game, state: State, random: Random) -> Event | None:
    """Return a random event that the table awaits or an agreed proposal; None when the game is over."""
    awaiting = dispatch.awaiting(state)
    if game.proposals and random.random() < PROPOSALS:
        agreed = ProposalAgreed(random.choice(list(game.proposals)))
        try:
            dispatch.apply(state, agreed)
        except IllegalAction:
            pass
        else:
            return agreed
    if isinstance(awaiting, GameOver):
        return None
    if isinstance(awaiting, ShuffleNeeded):
        return shuffle(awaiting, random)
    seat = random.choice(awaiting.seats)
    return SeatActed(
        seat, random_of(usual_actions(game, dispatch.legal_actions(state, seat), random), random.randrange)
    )


def usual_actions(game: Game, legal: Legal, random: Random) -> Legal:
    """Return the legal actions, mostly without the rare ones."""
    if random.random() < RARE_SHARE:
        return legal
    actions = tuple(action for action in legal.actions if not TRAITS[game.id].is_rare(action))
    return Legal(actions, legal.choices) if actions or legal.choices else legal


def walk(game: Game, state: State, random: Random, *, steered: bool = False) -> Iterator[Transition]:
    """Play at random, perhaps steered to rare positions, to the end; raises AssertionError without an end."""
    for _ in range(MAX_EVENTS):
        event = next_event(game, state, random)
        if event is None:
            return
        if steered:
            event = TRAITS[game.id].steered(state, event, random)
        after, facts = dispatch.apply(state, event)
        yield Transition(state, event, after, facts)
        state = after
    raise AssertionError(f"the game has no end within {MAX_EVENTS} events")
