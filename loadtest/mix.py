"""What is played under load: games by weight, with several numbers of seats, house rules and computer players."""

from collections.abc import Collection, Mapping, Sequence
from random import Random
from types import MappingProxyType
from typing import NamedTuple

OptionValue = bool | int | str
NO_OPTIONS: Mapping[str, OptionValue] = MappingProxyType({})


class Kind(NamedTuple):
    """A game, the numbers of seats that are drawn of, and the options without which it would take too long."""

    game: str
    seats: tuple[int, ...]
    weight: int = 1
    bounds: Mapping[str, OptionValue] = NO_OPTIONS


KINDS: Mapping[str, Kind] = MappingProxyType(
    {
        kind.game: kind
        for kind in (
            Kind("thulla", (4, 3, 6, 2, 5)),
            Kind("one_ten", (4, 3, 6, 2, 8), bounds=MappingProxyType({"max_rounds": 2})),
            Kind("jossing", (4, 3, 5, 2, 7)),
            Kind("one_oh_one", (3, 4, 2), bounds=MappingProxyType({"max_rounds": 3})),
            Kind("solo", (4,)),
        )
    }
)
ALL_GAMES = ",".join(KINDS)


def read_mix(text: str) -> tuple[Kind, ...]:
    """The kinds that "thulla=2,solo" names, with their weights; raises ValueError naming what is wrong."""
    weights = read_weights(text, KINDS)
    return tuple(KINDS[game]._replace(weight=weight) for game, weight in weights.items())


def read_weights(text: str, known: Collection[str]) -> dict[str, int]:
    """The weights of known names in a text such as "thulla=2,solo"; raises ValueError naming what is wrong."""
    weights: dict[str, int] = {}
    for part in text.split(","):
        name, equals, weight = part.strip().partition("=")
        if name not in known:
            raise ValueError(f"there is no {name!r}: take of {', '.join(known)}")
        if equals and not (weight.isdecimal() and 1 <= int(weight) <= 100):
            raise ValueError(f"{weight!r} is no weight of {name}: an integer from 1 to 100 is")
        if name in weights:
            raise ValueError(f"{name} is named twice: give it a weight, such as {name}=2")
        weights[name] = int(weight or 1)
    return weights


def drawn(kinds: Sequence[Kind], random: Random) -> Kind:
    """One of the kinds by weight."""
    return random.choices(kinds, [kind.weight for kind in kinds])[0]


def matchable(kinds: Sequence[Kind]) -> tuple[Kind, ...]:
    """Those that are played by their usual options within reasonable time; all if there is none."""
    return tuple(kind for kind in kinds if not kind.bounds) or tuple(kinds)
