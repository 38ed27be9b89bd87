"""The mix of a load test: games by weight, with the numbers of seats and the options that are played."""

from collections.abc import Collection, Mapping, Sequence
from random import Random
from types import MappingProxyType
from typing import NamedTuple

OptionValue = bool | int | str
NO_OPTIONS: Mapping[str, OptionValue] = {}


class MixEntry(NamedTuple):
    """A game, the numbers of seats to draw from, and the options that keep it short."""

    game: str
    seats: tuple[int, ...]
    weight: int = 1
    bounds: Mapping[str, OptionValue] = NO_OPTIONS


DEFAULT_MIX: Mapping[str, MixEntry] = MappingProxyType(
    {
        entry.game: entry
        for entry in (
            MixEntry("thulla", (4, 3, 6, 2, 5)),
            MixEntry("one_ten", (4, 3, 6, 2, 8), bounds={"max_rounds": 2}),
            MixEntry("jossing", (4, 3, 5, 2, 7)),
            MixEntry("one_oh_one", (3, 4, 2), bounds={"max_rounds": 3}),
            MixEntry("solo", (4,)),
        )
    }
)
ALL_GAMES = ",".join(DEFAULT_MIX)


def read_mix(text: str) -> tuple[MixEntry, ...]:
    """Return the entries that "thulla=2,solo" names, with their weights; raises ValueError with the cause."""
    weights = read_weights(text, DEFAULT_MIX)
    return tuple(DEFAULT_MIX[game]._replace(weight=weight) for game, weight in weights.items())


def read_weights(text: str, known: Collection[str]) -> dict[str, int]:
    """Return the weights of known names in a text such as "thulla=2,solo"; raises ValueError with the cause."""
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
