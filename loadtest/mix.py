"""What is played under load: games by weight, with several numbers of seats, house rules and computer players."""

from collections.abc import Mapping, Sequence
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
    kinds: list[Kind] = []
    for part in text.split(","):
        game, equals, weight = part.strip().partition("=")
        if game not in KINDS:
            raise ValueError(f"{game!r} is not played here: take of {', '.join(KINDS)}")
        if equals and not (weight.isdecimal() and 1 <= int(weight) <= 100):
            raise ValueError(f"{weight!r} is no weight of {game}: an integer from 1 to 100 is")
        if any(kind.game == game for kind in kinds):
            raise ValueError(f"{game} is named twice: give it a weight, such as {game}=2")
        kinds.append(KINDS[game]._replace(weight=int(weight or 1)))
    return tuple(kinds)


def drawn(kinds: Sequence[Kind], random: Random) -> Kind:
    """One of the kinds by weight."""
    return random.choices(kinds, [kind.weight for kind in kinds])[0]


def matchable(kinds: Sequence[Kind]) -> tuple[Kind, ...]:
    """Those that are played by their usual options within reasonable time; all if there is none."""
    return tuple(kind for kind in kinds if not kind.bounds) or tuple(kinds)
