"""What is played in a run: a few small tables of all games, and who sits there."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from random import Random
from types import MappingProxyType
from typing import NamedTuple

from croupier.games.interface import OptionValue
from loadtest.simulation.faults import Weather


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
    weather: Weather


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


def plan_of(chance: Random, scenario: str = "") -> Plan:
    """What a seed makes of it; without a scenario it is anything, and sometimes one of those."""
    plan = _anything(chance)
    if not scenario and chance.random() < 0.2:
        scenario = chance.choice(list(SCENARIOS))
    return SCENARIOS[scenario](plan, chance) if scenario else plan


def _anything(chance: Random) -> Plan:
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
        weather=Weather.drawn(chance),
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


# Scenarios: runs in which one thing happens more than others.


def _absent(plan: Plan, chance: Random) -> Plan:
    """Nobody comes to a table, and engines die or stop while time runs out there."""
    kind = chance.choice([kind for kind in KINDS if "max_rounds" in kind.options])
    seating = replace(_seating(kind, chance), spectators=0, nobody_comes=True, reserve_seconds=0)
    people = (seating.people + seating.people)[: 2 - len(seating.bots[:1])]
    disasters = chance.choices(("kill engine", "stop engine", "rolling restart", "kill all engines"), k=3)
    return replace(
        plan,
        tables=(replace(seating, people=people, bots=seating.bots[:1]),),
        stormy_seconds=chance.uniform(4, 10),
        disasters=tuple(disasters),
    )


def _matched(plan: Plan, chance: Random) -> Plan:
    """Everybody wants to be matched, and lobbies and connections to them fail."""
    seatings = [_seating(KINDS[0], chance) for _ in range(2)]
    tables = tuple(
        replace(seating, people=(_manner(chance), _manner(chance)), bots=(), matched=True, nobody_comes=False)
        for seating in seatings
    )
    disasters = tuple(chance.choices(("kill lobby", "stop lobby"), k=chance.choice((0, 1, 2))))
    return replace(plan, tables=tables, disasters=disasters, weather=replace(plan.weather, silent_call=0.3))


def _contended(plan: Plan, chance: Random) -> Plan:
    """Requests come twice, to several engines, and actions meet time-outs."""
    hasty = replace(_manner(chance), thinks=0.01, strays=0.1, tries=0.0, calls=1.0)
    seatings = [_seating(kind, chance) for kind in chance.sample(KINDS[:3], k=2)]
    tables = tuple(
        replace(seating, people=(hasty,) * seating.seats, bots=(), matched=False, nobody_comes=False)
        for seating in seatings
    )
    weather = replace(plan.weather, doubled_request=0.5, slow_network=0.1, lost_news=0.3)
    return replace(plan, tables=tables, engines=3, weather=weather)


def _deployed(plan: Plan, chance: Random) -> Plan:
    """Engines are stopped one after the other while people play quickly, and reports get lost."""
    hasty = replace(_manner(chance), thinks=0.01, strays=0.0)
    seating = _seating(KINDS[-1], chance)
    tables = (replace(seating, people=(hasty,) * seating.seats, bots=(), matched=False, nobody_comes=False),)
    weather = replace(plan.weather, slow_database=0.1, lost_report=0.5)
    disasters = ("stop engine", "rolling restart", "rolling restart", "scoring down")
    return replace(plan, tables=tables, engines=2, weather=weather, stormy_seconds=6.0, disasters=disasters)


def _pondered(plan: Plan, chance: Random) -> Plan:
    """Computer players think at several engines, on which nobody can agree in time."""
    seating = _seating(chance.choice(KINDS[:2]), chance)
    tables = (
        replace(seating, people=(_manner(chance),), bots=("search", "search"), matched=False, nobody_comes=False),
    )
    weather = replace(plan.weather, slow_network=0.1, lost_news=0.3)
    disasters = ("break all streams",) * 4 + ("kill engine",)
    return replace(plan, tables=tables, engines=3, weather=weather, disasters=disasters)


SCENARIOS: Mapping[str, Callable[[Plan, Random], Plan]] = MappingProxyType(
    {"absent": _absent, "matched": _matched, "contended": _contended, "deployed": _deployed, "pondered": _pondered}
)
