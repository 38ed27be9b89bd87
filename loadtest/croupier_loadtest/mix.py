"""The mix of a load test: games by weight, with the numbers of seats and the options that are played.

It comes from the installed games (see installed.py), and goes with the settings of a run to processes that know none.
"""

from collections.abc import Collection, Mapping, Sequence
from random import Random
from typing import NamedTuple

OptionValue = bool | int | str
NO_OPTIONS: Mapping[str, OptionValue] = {}
NO_VALUES: Mapping[str, Sequence[OptionValue]] = {}


class Stalling(NamedTuple):
    """A way to play on for ever: options, and the action to repeat, an Action of the contract as JSON."""

    options: Mapping[str, OptionValue]
    action: str


class MixEntry(NamedTuple):
    """A game as a run plays it."""

    game: str
    seats: tuple[int, ...]
    """The numbers of seats to draw from."""
    weight: int = 1
    bounds: Mapping[str, OptionValue] = NO_OPTIONS
    """The options that keep it short."""
    drawn: Mapping[str, Sequence[OptionValue]] = NO_VALUES
    """By option, the values to draw from in place of all."""
    bot: str = ""
    """A kind of its computer players, the quickest."""
    preset: str = ""
    """The quickest preset; empty for none."""
    stalling: Stalling | None = None
    """A way to play on for ever, for attackers."""


def read_mix(text: str, known: Mapping[str, MixEntry]) -> tuple[MixEntry, ...]:
    """Return the entries that "GAME=2,GAME" names, with their weights; raises ValueError with the cause."""
    weights = read_weights(text, known)
    return tuple(known[game]._replace(weight=weight) for game, weight in weights.items())


def read_weights(text: str, known: Collection[str]) -> dict[str, int]:
    """Return the weights of known names in a text such as "NAME=2,NAME"; raises ValueError with the cause."""
    weights: dict[str, int] = {}
    for part in text.split(","):
        name, equals, weight = part.strip().partition("=")
        if name not in known:
            raise ValueError(f"unknown name {name!r}: expected {', '.join(known)}")
        if equals and not (weight.isdecimal() and 1 <= int(weight) <= 100):
            raise ValueError(f"invalid weight {weight!r} of {name}: expected an integer from 1 to 100")
        if name in weights:
            raise ValueError(f"duplicate name {name!r}: give it a weight, such as {name}=2")
        weights[name] = int(weight or 1)
    return weights


def draw_entry(entries: Sequence[MixEntry], random: Random) -> MixEntry:
    """Return an entry, drawn by weight."""
    return random.choices(entries, [entry.weight for entry in entries])[0]


def matchable(entries: Sequence[MixEntry]) -> tuple[MixEntry, ...]:
    """Return the entries that are short with default options, as quick match has them; all if there is none."""
    return tuple(entry for entry in entries if not entry.bounds) or tuple(entries)
