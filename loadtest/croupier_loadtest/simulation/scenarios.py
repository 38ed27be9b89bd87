"""The plan of a seed: random, or that of a scenario, which concentrates on one situation."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from random import Random
from types import MappingProxyType

from croupier.games.registration import SEARCH
from croupier_loadtest.record import MAX_ENTRIES
from croupier_loadtest.simulation.faults import FaultRates
from croupier_loadtest.simulation.plan import (
    BehaviourRates,
    SimulationPlan,
    TablePlan,
    draw_behaviour,
    draw_table,
)
from croupier_loadtest.simulation.short_games import ShortGame, preferred, two_of

SCHEDULED_FAULTS = (
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


VARIED_SHARE = 0.3
"""The share of tables whose players use all calls around a table."""


def plan_of(random: Random, scenario: str, games: Sequence[ShortGame]) -> SimulationPlan:
    """Return the plan of a seed; with an empty scenario it is random, and sometimes that of a scenario."""
    plan = _random_plan(random, games)
    if not scenario and random.random() < 0.2:
        scenario = random.choice(list(SCENARIOS))
    plan = SCENARIOS[scenario](plan, random, games) if scenario else _with_rematch(plan, random)
    # Drawn last, so that the rest of a seed's plan does not depend on it.
    max_table_entries = random.choice((MAX_ENTRIES, MAX_ENTRIES, MAX_ENTRIES, 20, 60))
    plan = replace(plan, max_table_entries=max_table_entries, abandoned_seconds=random.choice((1, 10, 30)))
    share = 1.0 if scenario == "forming" else VARIED_SHARE
    return replace(plan, tables=tuple(_varied(table, random, share) for table in plan.tables))


def _random_plan(random: Random, games: Sequence[ShortGame]) -> SimulationPlan:
    faulty = random.uniform(2, 12)
    drawn = random.choices(games, [game.weight for game in games], k=random.choice((1, 1, 2, 2, 3)))
    return SimulationPlan(
        tables=tuple(draw_table(game, random) for game in drawn),
        engines=random.choice((1, 2, 2, 3)),
        lobbies=random.choice((1, 1, 2)),
        scorings=random.choice((1, 1, 2)),
        faulty_seconds=faulty,
        scheduled_faults=tuple(random.choices(SCHEDULED_FAULTS, k=random.choice((0, 1, 2, 3, 5, 8)))),
        queue_messages=random.choice((3, 256, 256)),
        log_seconds=random.choice((2, 20, 3_600)),
        rates=FaultRates.drawn(random),
    )


def _with_rematch(plan: SimulationPlan, random: Random) -> SimulationPlan:
    """Let players sometimes play their table again in place of another table, so that a seed costs the same."""
    again, *others = plan.tables
    if not others or again.is_unattended or random.random() < 0.6:
        return plan
    return replace(plan, tables=(_played_again(again, random), *others[1:]))


def _varied(table: TablePlan, random: Random, share: float) -> TablePlan:
    """Let players of a table that they form come by its code and follow it, in this share of tables."""
    if table.matched or random.random() >= share:
        return table
    # The stranger of a table that is played again joins it by its id.
    is_private = random.random() < 0.5 and not (table.returning or table.spectators)
    return replace(table, is_varied=True, is_private=is_private)


def _played_again(table: TablePlan, random: Random) -> TablePlan:
    players = len(table.players)
    return replace(table, returning=random.choice((players, players, max(1, players - 1))))


# Scenarios, which concentrate on one situation


def _absent(plan: SimulationPlan, random: Random, games: Sequence[ShortGame]) -> SimulationPlan:
    """Let all players be absent, or one of them, and kill or stop engines while time runs out."""
    game = random.choice(preferred(games, (game for game in games if game.is_limited)))
    table = replace(draw_table(game, random), spectators=0, is_unattended=True, reserve_seconds=0)
    players = (table.players * game.seats[0])[: game.seats[0] - len(table.bots[:1])]
    if not table.bots and random.random() < 0.8:
        steady = (replace(player, absent=0.0, leave=0.0) for player in players[1:])
        table, players = replace(table, is_unattended=False), (replace(players[0], absent=1.0), *steady)
    scheduled_faults = random.choices(("kill engine", "stop engine", "rolling restart", "kill all engines"), k=3)
    return replace(
        plan,
        tables=(replace(table, players=players, bots=table.bots[:1]),),
        faulty_seconds=random.uniform(4, 10),
        scheduled_faults=tuple(scheduled_faults),
    )


def _matched(plan: SimulationPlan, random: Random, games: Sequence[ShortGame]) -> SimulationPlan:
    """Match all players, while lobbies and connections to them fail."""
    game = preferred(games, (game for game in games if game.is_matched))[0]
    drawn = [draw_table(game, random) for _ in range(2)]
    players = [tuple(draw_behaviour(random) for _ in range(game.seats[0])) for _ in drawn]
    tables = tuple(_with_players(table, *each, matched=True) for table, each in zip(drawn, players, strict=True))
    scheduled_faults = tuple(random.choices(("kill lobby", "stop lobby"), k=random.choice((0, 1, 2))))
    return replace(plan, tables=tables, scheduled_faults=scheduled_faults, rates=replace(plan.rates, silent_call=0.3))


def _contended(plan: SimulationPlan, random: Random, games: Sequence[ShortGame]) -> SimulationPlan:
    """Duplicate requests to several engines, and let actions race with time-outs."""
    quick = replace(draw_behaviour(random), think_seconds=0.01, absent=0.1, random_cards=0.0, unary_calls=1.0)
    drawn = [draw_table(game, random) for game in two_of(_small(games), random)]
    tables = tuple(_with_players(table, *(quick,) * table.seats) for table in drawn)
    rates = replace(plan.rates, duplicated_request=0.5, slow_network=0.1, lost_notification=0.3, late_notification=0.3)
    return replace(plan, tables=tables, engines=3, rates=rates)


def _leaving(plan: SimulationPlan, random: Random, games: Sequence[ShortGame]) -> SimulationPlan:
    """Let players leave their seats and return often, by requests that are lost, late and duplicated."""
    drawn = [draw_table(game, random) for game in two_of(_small(games), random)]
    leaving = replace(draw_behaviour(random), think_seconds=0.3, away=0.5)
    tables = tuple(_with_players(table, *(leaving,) * table.seats) for table in drawn)
    rates = replace(plan.rates, duplicated_request=0.3, lost_answer=0.05, lost_notification=0.3, late_notification=0.3)
    return replace(plan, tables=tables, engines=3, rates=rates)


def _rematch(plan: SimulationPlan, random: Random, games: Sequence[ShortGame]) -> SimulationPlan:
    """Let quick players play again at several lobbies at once, by requests that are lost, late and duplicated."""
    quick = replace(draw_behaviour(random), think_seconds=0.01, absent=0.0, random_cards=0.0, away=0.0)
    drawn = [draw_table(game, random) for game in two_of(_small(games), random)]
    tables = (_with_players(table, *(quick,) * table.seats, matched=table.matched) for table in drawn)
    rates = replace(plan.rates, duplicated_request=0.3, lost_answer=0.05, slow_network=0.1)
    return replace(
        plan,
        tables=tuple(_played_again(table, random) for table in tables),
        lobbies=3,
        faulty_seconds=random.uniform(10, 30),
        scheduled_faults=tuple(random.choices(("kill lobby", "stop lobby"), k=random.choice((0, 1, 2)))),
        rates=rates,
    )


def _forming(plan: SimulationPlan, random: Random, games: Sequence[ShortGame]) -> SimulationPlan:
    """Let players form slow games at several lobbies, by requests that are lost, late and duplicated."""
    quick = replace(draw_behaviour(random), think_seconds=0.1, absent=0.0, random_cards=0.0)
    drawn = [draw_table(game, random) for game in two_of(_small(games), random)]
    tables = (_with_players(table, *(quick,) * table.seats) for table in drawn)
    rates = replace(plan.rates, duplicated_request=0.3, lost_answer=0.1, slow_network=0.1)
    return replace(
        plan,
        tables=tuple(replace(table, action_seconds=random.choice((5, 600))) for table in tables),
        lobbies=3,
        scheduled_faults=tuple(random.choices(("kill lobby", "stop lobby"), k=random.choice((0, 1, 2)))),
        rates=rates,
    )


def _deployed(plan: SimulationPlan, random: Random, games: Sequence[ShortGame]) -> SimulationPlan:
    """Stop engines one after another while players play quickly and reports are lost."""
    quick = replace(draw_behaviour(random), think_seconds=0.01, absent=0.0)
    longest = preferred(games, (game for game in games if game.is_long))[0]
    table = draw_table(longest, random)
    tables = (_with_players(table, *(quick,) * table.seats),)
    rates = replace(plan.rates, slow_database=0.1, lost_report=0.5)
    scheduled_faults = ("stop engine", "rolling restart", "rolling restart", "scoring down")
    return replace(plan, tables=tables, engines=2, rates=rates, faulty_seconds=6.0, scheduled_faults=scheduled_faults)


def _bots(plan: SimulationPlan, random: Random, games: Sequence[ShortGame]) -> SimulationPlan:
    """Let bots think at several engines, whose notifications are late."""
    game = random.choice(preferred(games, (game for game in _small(games) if SEARCH in game.bots))[:2])
    table, kind = draw_table(game, random), SEARCH if SEARCH in game.bots else ""
    tables = (_with_players(table, draw_behaviour(random), bots=(kind,) * (game.seats[-1] - 1)),)
    rates = replace(plan.rates, slow_network=0.1, lost_notification=0.3, late_notification=0.3)
    scheduled_faults = ("break all streams",) * 4 + ("kill engine",)
    return replace(plan, tables=tables, engines=3, rates=rates, scheduled_faults=scheduled_faults)


def _steady(plan: SimulationPlan, random: Random, games: Sequence[ShortGame]) -> SimulationPlan:
    """Let players who always act soon, and have much time, play while databases and engines fail one after another.

    Their time is so long that a time-out ends no pause.
    """
    failing = ("stop database, kill engine", "break all streams") * 2 + ("stop database, kill engine",)
    quick = replace(draw_behaviour(random), think_seconds=0.3, absent=0.0, random_cards=0.0, leave=0.0)
    drawn = [draw_table(game, random) for game in two_of(games, random)]
    tables = [_with_players(table, *(quick,) * table.seats) for table in drawn]
    rates = replace(plan.rates, silent_call=0.02, slow_network=0.1, slow_reader=0.0, lost_notification=0.3)
    return replace(
        plan,
        tables=tuple(replace(table, action_seconds=120) for table in tables),
        engines=random.choice((2, 3)),
        rates=rates,
        faulty_seconds=random.uniform(10, 40),
        scheduled_faults=random.choice((failing, ("cut engine off", "break stream"))),
        queue_messages=256,
        are_players_steady=True,
    )


def _small(games: Sequence[ShortGame]) -> Sequence[ShortGame]:
    return preferred(games, (game for game in games if game.is_small))


def _with_players(
    table: TablePlan, *players: BehaviourRates, bots: tuple[str, ...] = (), matched: bool = False
) -> TablePlan:
    return replace(table, players=players, bots=bots, matched=matched, is_unattended=False)


SCENARIOS: Mapping[str, Callable[[SimulationPlan, Random, Sequence[ShortGame]], SimulationPlan]] = MappingProxyType(
    {
        change.__name__[1:]: change
        for change in (_absent, _matched, _contended, _leaving, _rematch, _forming, _deployed, _bots, _steady)
    }
)
