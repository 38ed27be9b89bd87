"""The plan of a simulation: a few short tables of all games, their players, and the faults."""

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random

from croupier.games.interface import OptionValue
from croupier_loadtest.record import ABANDONED_MILLISECONDS, MAX_ENTRIES
from croupier_loadtest.simulation.faults import FaultRates
from croupier_loadtest.simulation.short_games import ShortGame


@dataclass(frozen=True, slots=True)
class BehaviourRates:
    """The behaviour of a player: a time in seconds, and shares of the occasions for each action."""

    think_seconds: float
    """The average think time before an action."""
    absent: float
    random_cards: float
    """Attempts to play any card, legal or not."""
    other_calls: float
    """Proposals, reactions and calls of GetView."""
    leave: float
    """Breaks of the stream before a turn."""
    unary_calls: float
    """Actions by a unary call, as web clients do, instead of the stream."""
    away: float
    """Leaves of the seat, which the player returns to."""


@dataclass(frozen=True, slots=True)
class TablePlan:
    """One table: players by their behaviour, bots by their kind, and the number of spectators."""

    game: str
    players: tuple[BehaviourRates, ...]
    bots: tuple[str, ...]
    options: Mapping[str, OptionValue]
    matched: bool
    spectators: int
    is_unattended: bool
    """Whether the players are absent once the table is open."""
    reserve_seconds: int
    bot_delay_milliseconds: int
    action_seconds: int = 5
    returning: int = 0
    """The number of players who play the finished table again; the others decline. 0 if nobody plays again."""

    is_varied: bool = False
    """Whether players come by the code to certain seats, while the host changes the times, and follow their tables."""
    is_private: bool = False

    @property
    def seats(self) -> int:
        """The number of seats."""
        return len(self.players) + len(self.bots)


@dataclass(frozen=True, slots=True)
class SimulationPlan:
    """The plan of a simulation: its tables, replicas and faults."""

    tables: tuple[TablePlan, ...]
    engines: int
    lobbies: int
    scorings: int
    faulty_seconds: float
    scheduled_faults: tuple[str, ...]
    queue_messages: int
    log_seconds: int
    rates: FaultRates
    max_table_entries: int = MAX_ENTRIES
    abandoned_seconds: int = ABANDONED_MILLISECONDS // 1000
    are_players_steady: bool = False
    """Whether all players act soon whenever they are to act, so that nothing excuses a pause of their tables."""


def draw_table(game: ShortGame, random: Random) -> TablePlan:
    seats = random.choice(game.seats)
    matched = game.is_matched and random.random() < 0.5
    bots = 0 if matched else min(random.choice((0, 0, 1, seats - 1)), seats - 1)
    is_unattended = not matched and game.is_limited and seats == 2 and random.random() < 0.2
    return TablePlan(
        game=game.game,
        players=tuple(draw_behaviour(random) for _ in range(seats - bots)),
        bots=tuple(random.choice(game.bots) for _ in range(bots)),
        options=game.options,
        matched=matched,
        spectators=0 if is_unattended else random.choice((0, 0, 1)),
        is_unattended=is_unattended,
        reserve_seconds=0 if is_unattended else random.choice((0, 3)),
        bot_delay_milliseconds=random.choice((0, 100)),
    )


def draw_behaviour(random: Random) -> BehaviourRates:
    def share(maximum: float) -> float:
        return maximum * random.random() if random.random() < 0.5 else 0.0

    return BehaviourRates(
        think_seconds=random.choice((0.01, 0.1, 0.3)),
        absent=share(0.1),
        random_cards=share(0.1),
        other_calls=share(0.1),
        leave=share(0.05),
        unary_calls=random.choice((0.0, 0.3, 1.0)),
        away=share(0.1),
    )
