"""What is played under load: kinds of tables in turn, so that all games and several numbers of seats meet."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

OptionValue = bool | int | str
NO_OPTIONS: Mapping[str, OptionValue] = MappingProxyType({})


class Kind(NamedTuple):
    """A game with numbers of seats that are taken in turn, and the options without which it would take too long."""

    game: str
    seats: tuple[int, ...]
    bounds: Mapping[str, OptionValue] = NO_OPTIONS


class Sitting(NamedTuple):
    """Players who play table after table of one kind; `matched` by the lobby, or else with house rules of their own."""

    game: str
    seats: int
    bounds: Mapping[str, OptionValue] = NO_OPTIONS
    matched: bool = False


KINDS: Mapping[str, Kind] = MappingProxyType(
    {
        kind.game: kind
        for kind in (
            Kind("thulla", (4, 3, 6, 2, 5)),
            Kind("one_ten", (4, 3, 6, 2, 8), MappingProxyType({"max_rounds": 2})),
            Kind("jossing", (4, 3, 5, 2, 7)),
            Kind("one_oh_one", (3, 4, 2), MappingProxyType({"max_rounds": 3})),
            Kind("solo", (4,)),
        )
    }
)


def read_mix(text: str) -> tuple[Kind, ...]:
    """The kinds that "thulla=2,solo" names, each as often as its weight; raises ValueError naming what is wrong."""
    kinds: list[Kind] = []
    for part in text.split(","):
        game, _, weight = part.strip().partition("=")
        if game not in KINDS:
            raise ValueError(f"{game!r} is not played here: take of {', '.join(KINDS)}")
        if weight and not (weight.isdecimal() and 1 <= int(weight) <= 100):
            raise ValueError(f"{weight!r} is no weight of {game}: an integer from 1 to 100 is")
        kinds += [KINDS[game]] * int(weight or 1)
    return tuple(kinds)


def sittings(kinds: Sequence[Kind], tables: int) -> tuple[Sitting, ...]:
    """So many sittings, the kinds in turn; half of those that need no bounds are matched by the lobby."""
    found: list[Sitting] = []
    for number in range(tables):
        kind, turn = kinds[number % len(kinds)], number // len(kinds)
        matched = not kind.bounds and turn % 2 == 0
        found.append(Sitting(kind.game, kind.seats[turn % len(kind.seats)], kind.bounds, matched))
    return tuple(found)
