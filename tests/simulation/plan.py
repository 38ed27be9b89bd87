"""What is played in a run: a few small tables of all games, and who sits there."""

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import NamedTuple

from croupier.games.interface import OptionValue


class Kind(NamedTuple):
    """A game with numbers of seats, and the options that keep it short; `matched` if quick match can make it."""

    game: str
    seats: tuple[int, ...]
    options: Mapping[str, OptionValue]
    matched: bool
    weight: int


KINDS = (
    Kind("thulla", (2, 3), {}, True, 4),
    Kind("one_ten", (2, 3), {"max_rounds": 1}, False, 4),
    Kind("one_oh_one", (2, 3), {"max_rounds": 1}, False, 4),
    Kind("solo", (4,), {"do_factor": 1, "through_factor": 1}, True, 3),
    Kind("jossing", (2,), {}, False, 1),
)


@dataclass(frozen=True, slots=True)
class Manner:
    """How a player behaves; times in seconds, the rest shares of all chances for it."""

    thinks: float
    strays: float
    tries: float
    talks: float
    leaves: float
    calls: float
    """How often he acts by a call of its own, as web clients do."""


@dataclass(frozen=True, slots=True)
class Seating:
    """One table: people by their manners, computer players by their kinds, and how many watch."""

    game: str
    people: tuple[Manner, ...]
    bots: tuple[str, ...]
    options: Mapping[str, OptionValue]
    matched: bool
    spectators: int
    nobody_comes: bool
    """Whether the people stay away once the table is open."""
    reserve_seconds: int
    bot_delay_milliseconds: int

    @property
    def seats(self) -> int:
        """How many sit there."""
        return len(self.people) + len(self.bots)


@dataclass(frozen=True, slots=True)
class Plan:
    """A run: its tables, how many replicas there are, and for how long things go wrong."""

    tables: tuple[Seating, ...]
    engines: int
    lobbies: int
    scorings: int
    stormy_seconds: float
    disasters: tuple[str, ...]
    queue_messages: int
    log_milliseconds: int


DISASTERS = (
    "kill engine",
    "kill engine",
    "kill all engines",
    "stop engine",
    "stop engine",
    "rolling restart",
    "stop database",
    "kill lobby",
    "stop lobby",
    "kill scoring",
    "scoring down",
    "scoring down",
    "break stream",
    "break stream",
    "break all streams",
)


def plan_of(chance: Random) -> Plan:
    """What a seed makes of it."""
    stormy = chance.uniform(2, 12)
    kinds = chance.choices(KINDS, [kind.weight for kind in KINDS], k=chance.choice((1, 1, 2, 2, 3)))
    return Plan(
        tables=tuple(_seating(kind, chance) for kind in kinds),
        engines=chance.choice((1, 2, 2, 3)),
        lobbies=chance.choice((1, 1, 2)),
        scorings=chance.choice((1, 1, 2)),
        stormy_seconds=stormy,
        disasters=tuple(chance.choices(DISASTERS, k=chance.choice((0, 1, 2, 3, 5, 8)))),
        queue_messages=chance.choice((3, 256, 256)),
        log_milliseconds=chance.choice((2_000, 20_000, 3_600_000)),
    )


def _seating(kind: Kind, chance: Random) -> Seating:
    seats = chance.choice(kind.seats)
    matched = kind.matched and chance.random() < 0.5
    bots = 0 if matched else chance.choice((0, 0, 1, seats - 1))
    nobody_comes = not matched and kind.options.get("max_rounds") == 1 and seats == 2 and chance.random() < 0.2
    return Seating(
        game=kind.game,
        people=tuple(_manner(chance) for _ in range(seats - bots)),
        bots=tuple(chance.choice(("random", "search", "")) for _ in range(bots)),
        options=kind.options,
        matched=matched,
        spectators=0 if nobody_comes else chance.choice((0, 0, 1)),
        nobody_comes=nobody_comes,
        reserve_seconds=0 if nobody_comes else chance.choice((0, 3)),
        bot_delay_milliseconds=chance.choice((0, 100)),
    )


def _manner(chance: Random) -> Manner:
    def share(most: float) -> float:
        return most * chance.random() if chance.random() < 0.5 else 0.0

    return Manner(
        thinks=chance.choice((0.01, 0.1, 0.3)),
        strays=share(0.1),
        tries=share(0.1),
        talks=share(0.1),
        leaves=share(0.05),
        calls=chance.choice((0.0, 0.3, 1.0)),
    )
