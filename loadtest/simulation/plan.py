"""What is played in a run: a few small tables of all games, and which players sit there."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from random import Random
from types import MappingProxyType
from typing import NamedTuple

from croupier.games.interface import OptionValue
from loadtest.simulation.faults import FaultRates


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
class Behaviour:
    """How a player behaves; times in seconds, the rest shares of all chances for it."""

    thinks: float
    """How long a player thinks before an action, on average."""
    is_away: float
    tries: float
    """How often a player tries a card, whether it is legal or not."""
    talks: float
    """How often a player proposes something, reacts, or asks for the view."""
    leaves: float
    calls: float
    """How often a player acts by a unary call, as web clients do."""


@dataclass(frozen=True, slots=True)
class TablePlan:
    """One table: players by how they behave, computer players by their kinds, and how many watch."""

    game: str
    players: tuple[Behaviour, ...]
    bots: tuple[str, ...]
    options: Mapping[str, OptionValue]
    matched: bool
    spectators: int
    is_unattended: bool
    """Whether the players stay away once the table is open."""
    reserve_seconds: int
    bot_delay_milliseconds: int

    @property
    def seats(self) -> int:
        """How many sit there."""
        return len(self.players) + len(self.bots)


@dataclass(frozen=True, slots=True)
class Plan:
    """A run: its tables, how many replicas there are, and for how long things go wrong."""

    tables: tuple[TablePlan, ...]
    engines: int
    lobbies: int
    scorings: int
    faulty_seconds: float
    disasters: tuple[str, ...]
    queue_messages: int
    log_seconds: int
    rates: FaultRates


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
    faulty = chance.uniform(2, 12)
    kinds = chance.choices(KINDS, [kind.weight for kind in KINDS], k=chance.choice((1, 1, 2, 2, 3)))
    return Plan(
        tables=tuple(_table(kind, chance) for kind in kinds),
        engines=chance.choice((1, 2, 2, 3)),
        lobbies=chance.choice((1, 1, 2)),
        scorings=chance.choice((1, 1, 2)),
        faulty_seconds=faulty,
        disasters=tuple(chance.choices(DISASTERS, k=chance.choice((0, 1, 2, 3, 5, 8)))),
        queue_messages=chance.choice((3, 256, 256)),
        log_seconds=chance.choice((2, 20, 3_600)),
        rates=FaultRates.drawn(chance),
    )


def _table(kind: Kind, chance: Random) -> TablePlan:
    seats = chance.choice(kind.seats)
    matched = kind.matched and chance.random() < 0.5
    bots = 0 if matched else chance.choice((0, 0, 1, seats - 1))
    is_unattended = not matched and kind.options.get("max_rounds") == 1 and seats == 2 and chance.random() < 0.2
    return TablePlan(
        game=kind.game,
        players=tuple(_behaviour(chance) for _ in range(seats - bots)),
        bots=tuple(chance.choice(("random", "search", "")) for _ in range(bots)),
        options=kind.options,
        matched=matched,
        spectators=0 if is_unattended else chance.choice((0, 0, 1)),
        is_unattended=is_unattended,
        reserve_seconds=0 if is_unattended else chance.choice((0, 3)),
        bot_delay_milliseconds=chance.choice((0, 100)),
    )


def _behaviour(chance: Random) -> Behaviour:
    def share(most: float) -> float:
        return most * chance.random() if chance.random() < 0.5 else 0.0

    return Behaviour(
        thinks=chance.choice((0.01, 0.1, 0.3)),
        is_away=share(0.1),
        tries=share(0.1),
        talks=share(0.1),
        leaves=share(0.05),
        calls=chance.choice((0.0, 0.3, 1.0)),
    )


# Scenarios: runs in which one thing happens more than others.


def _absent(plan: Plan, chance: Random) -> Plan:
    """Nobody comes to a table, and engines die or stop while time runs out there."""
    kind = chance.choice([kind for kind in KINDS if "max_rounds" in kind.options])
    table = replace(_table(kind, chance), spectators=0, is_unattended=True, reserve_seconds=0)
    players = (table.players + table.players)[: 2 - len(table.bots[:1])]
    disasters = chance.choices(("kill engine", "stop engine", "rolling restart", "kill all engines"), k=3)
    return replace(
        plan,
        tables=(replace(table, players=players, bots=table.bots[:1]),),
        faulty_seconds=chance.uniform(4, 10),
        disasters=tuple(disasters),
    )


def _matched(plan: Plan, chance: Random) -> Plan:
    """Everybody wants to be matched, and lobbies and connections to them fail."""
    drawn = [_table(KINDS[0], chance) for _ in range(2)]
    tables = tuple(_seating(table, _behaviour(chance), _behaviour(chance), matched=True) for table in drawn)
    disasters = tuple(chance.choices(("kill lobby", "stop lobby"), k=chance.choice((0, 1, 2))))
    return replace(plan, tables=tables, disasters=disasters, rates=replace(plan.rates, silent_call=0.3))


def _contended(plan: Plan, chance: Random) -> Plan:
    """Requests come twice, to several engines, and actions meet time-outs."""
    hasty = replace(_behaviour(chance), thinks=0.01, is_away=0.1, tries=0.0, calls=1.0)
    drawn = [_table(kind, chance) for kind in chance.sample(KINDS[:3], k=2)]
    tables = tuple(_seating(table, *(hasty,) * table.seats) for table in drawn)
    rates = replace(plan.rates, doubled_request=0.5, slow_network=0.1, lost_news=0.3)
    return replace(plan, tables=tables, engines=3, rates=rates)


def _deployed(plan: Plan, chance: Random) -> Plan:
    """Engines are stopped one after the other while players play quickly, and reports get lost."""
    hasty = replace(_behaviour(chance), thinks=0.01, is_away=0.0)
    table = _table(KINDS[-1], chance)
    tables = (_seating(table, *(hasty,) * table.seats),)
    rates = replace(plan.rates, slow_database=0.1, lost_report=0.5)
    disasters = ("stop engine", "rolling restart", "rolling restart", "scoring down")
    return replace(plan, tables=tables, engines=2, rates=rates, faulty_seconds=6.0, disasters=disasters)


def _pondered(plan: Plan, chance: Random) -> Plan:
    """Computer players think at several engines, whose news come late."""
    table = _table(chance.choice(KINDS[:2]), chance)
    tables = (_seating(table, _behaviour(chance), bots=("search", "search")),)
    rates = replace(plan.rates, slow_network=0.1, lost_news=0.3)
    disasters = ("break all streams",) * 4 + ("kill engine",)
    return replace(plan, tables=tables, engines=3, rates=rates, disasters=disasters)


def _seating(table: TablePlan, *players: Behaviour, bots: tuple[str, ...] = (), matched: bool = False) -> TablePlan:
    return replace(table, players=players, bots=bots, matched=matched, is_unattended=False)


SCENARIOS: Mapping[str, Callable[[Plan, Random], Plan]] = MappingProxyType(
    {"absent": _absent, "matched": _matched, "contended": _contended, "deployed": _deployed, "pondered": _pondered}
)
