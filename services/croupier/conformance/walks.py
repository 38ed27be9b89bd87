"""Walks through tables of any game, along which the laws are checked: events one after the other, to the end."""

from collections.abc import Callable, Iterator
from random import Random
from typing import NamedTuple

from croupier.conformance.law import LawBroken
from croupier.games.bots import random_of
from croupier.games.facts import SPECTATOR, Fact, Viewer
from croupier.games.interface import (
    CardsShuffled,
    Event,
    Game,
    GameOver,
    IllegalAction,
    Legal,
    ProposalAgreed,
    SeatActed,
    ShuffleNeeded,
    State,
)

PROPOSALS = 0.01
"""The probability that an event is an agreed proposal, in games with proposals."""
RARE_SHARE = 0.1
"""The probability that a walk considers rare actions."""
MAX_EVENTS = 50_000
"""The maximum length of a random walk; a longer table counts as one without end."""


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


def shuffle(due: ShuffleNeeded, random: Random) -> CardsShuffled:
    """Return the needed shuffle in a random order."""
    return CardsShuffled(tuple(random.sample(due.cards, len(due.cards))), tuple(map(random.randrange, due.draw_bounds)))


def next_event(game: Game, state: State, random: Random) -> Event | None:
    """Return a random event that the table awaits or an agreed proposal; None when the game is over."""
    awaiting = game.awaiting(state)
    if game.proposals and random.random() < PROPOSALS:
        agreed = ProposalAgreed(random.choice(list(game.proposals)))
        try:
            game.apply(state, agreed)
        except IllegalAction:
            pass
        else:
            return agreed
    if isinstance(awaiting, GameOver):
        return None
    if isinstance(awaiting, ShuffleNeeded):
        return shuffle(awaiting, random)
    seat = random.choice(awaiting.seats)
    return SeatActed(seat, random_of(usual_actions(game, game.legal_actions(state, seat), random), random.randrange))


def usual_actions(game: Game, legal: Legal, random: Random) -> Legal:
    """Return the legal actions, mostly without the rare ones."""
    if random.random() < RARE_SHARE:
        return legal
    actions = tuple(action for action in legal.actions if not game.sampling.is_rare(action))
    return Legal(actions, legal.choices) if actions or legal.choices else legal


def walk(
    game: Game, state: State, random: Random, change: Callable[[State, Event], Event] | None = None
) -> Iterator[Transition]:
    """Play at random to the end, perhaps with other events than the random ones; raises LawBroken without an end.

    A legal event that is refused breaks the law too. `change` returns the event in place of a random one.
    """
    for _ in range(MAX_EVENTS):
        event = next_event(game, state, random)
        if event is None:
            return
        if change is not None:
            event = change(state, event)
        try:
            after, facts = game.apply(state, event)
        except IllegalAction as refused:
            raise LawBroken(f"{event} is legal, and is refused by {refused.rule}: {refused}") from refused
        yield Transition(state, event, after, facts)
        state = after
    raise LawBroken(f"no end within {MAX_EVENTS} events: draw only values of options with one, by `sampling.drawn`")
