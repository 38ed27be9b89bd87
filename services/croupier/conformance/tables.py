"""Sampled tables: random options, and a way to play them, which is at random, steered, or by the game's first bot."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from random import Random
from typing import NamedTuple

from croupier.conformance.attempts import fits
from croupier.conformance.law import LawBroken
from croupier.conformance.walks import Transition, shuffle, walk
from croupier.games.bots import random_of
from croupier.games.facts import Seat
from croupier.games.interface import (
    Bot,
    Event,
    Game,
    GameOver,
    InvalidOption,
    Observation,
    Option,
    OptionValue,
    OptionValues,
    SeatActed,
    ShuffleNeeded,
    State,
    resolve_options,
)

MAX_TRANSITIONS = 200
"""The number of a table's transitions that slow laws check."""
MAX_DECISIONS = 50_000
"""The maximum length of a table that bots play; a longer one counts as one without end."""
MAX_DRAWS = 10_000
"""So many random combinations of options are tried at most until one is valid."""


class Style(StrEnum):
    """How a table is played."""

    RANDOM = "at random"
    STEERED = "steered"
    """At random, but steered to positions that random play hardly ever reaches, as the game's `sampling` says."""
    BOT = "by the first bot"


class SampledTable(NamedTuple):
    """A table before its first event, and how it is played."""

    game: Game
    seats: int
    state: State
    options: Mapping[str, OptionValue]
    random: Random
    style: Style

    def walk(self) -> Iterator[Transition]:
        """Play the table to its end; raises LawBroken without an end."""
        return walk(self.game, self.state, self.random, self.change)

    def some_transitions(self, most: int = MAX_TRANSITIONS) -> Iterator[Transition]:
        """Play the table to its end, or for so many events."""
        return itertools.islice(self.walk(), most)

    def change(self, state: State, event: Event) -> Event:
        """Return the event of the table's style in place of a random one."""
        steered = self.game.sampling.steered
        if self.style is Style.STEERED and steered is not None:
            steered_event: Event = steered(state, event, self.random.randrange)
            return steered_event
        if self.style is Style.BOT and isinstance(event, SeatActed):
            return self._by_bot(state, event.seat)
        return event

    def _by_bot(self, state: State, seat: Seat) -> Event:
        observed = observation(self.game, state, seat, self.options)
        action = first_bot(self.game)(observed, self.random.randrange)
        # A law of its own finds illegal actions of bots.
        return SeatActed(
            seat, action if fits(observed.legal, action) else random_of(observed.legal, self.random.randrange)
        )

    def __str__(self) -> str:
        chosen = ", ".join(f"{name}={value}" for name, value in self.options.items()) or "no options"
        return f"{self.seats} seats, played {self.style}, {chosen}"


def first_bot(game: Game) -> Bot:
    """Return the bot that also acts for seats that time out."""
    return next(iter(game.bots.values()))


def styles(game: Game, seats: int) -> tuple[Style, ...]:
    """Return the ways in which tables of a game are played."""
    is_steered = game.sampling.steered is not None or game.sampling.steered_options(seats)
    return (Style.RANDOM, Style.STEERED, Style.BOT) if is_steered else (Style.RANDOM, Style.BOT)


def tables(game: Game, seats: int, seed: int, count: int) -> Iterator[SampledTable]:
    """Yield new tables with random options, played in turn in each style; three times as many of a single number."""
    ways = styles(game, seats)
    for number in range(count if len(game.seats) > 1 else count * 3):
        random, style = Random(f"{seed}/{number}"), ways[(seed + number) % len(ways)]
        options = sample_options(game, seats, random)
        if style is Style.STEERED:
            options |= game.sampling.steered_options(seats)
        yield SampledTable(game, seats, game.new(seats, options), options, random, style)


def drawn_values(game: Game, option: Option) -> Sequence[OptionValue]:
    """Return the values of an option with which random play comes to an end."""
    return game.sampling.drawn.get(option.name, option.allowed)


def sample_options(game: Game, seats: int, random: Random) -> dict[str, OptionValue]:
    """Return a valid combination of options; a long range has its default, ends and a few others."""
    for _ in range(MAX_DRAWS):
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
    raise LawBroken(f"none of {MAX_DRAWS} random combinations of options for {seats} seats is valid")


def observation(game: Game, state: State, seat: Seat, options: OptionValues) -> Observation:
    """Return the observation of a seat's bot; omitted options have their defaults."""
    view = game.view(state, seat)
    return Observation(seat, resolve_options(game, len(view.seats), options), view, game.legal_actions(state, seat))


def decisions(
    game: Game, state: State, options: OptionValues, bots: Sequence[Bot], random: Random
) -> Iterator[tuple[State, Observation]]:
    """Yield each decision of bots that play a table; raises LawBroken for illegal actions and without an end."""
    for _ in range(MAX_DECISIONS):
        awaiting = game.awaiting(state)
        if isinstance(awaiting, GameOver):
            return
        event: Event
        if isinstance(awaiting, ShuffleNeeded):
            event = shuffle(awaiting, random)
        else:
            seat = random.choice(awaiting.seats)
            asked = Observation(seat, options, game.view(state, seat), game.legal_actions(state, seat))
            yield state, asked
            event = SeatActed(seat, bots[seat](asked, random.randrange))
            if not fits(asked.legal, event.action):
                raise LawBroken(f"the bot of seat {seat} chose {event.action}, which is not legal")
        state, _ = game.apply(state, event)
    raise LawBroken(f"the bots do not come to an end within {MAX_DECISIONS} actions")
