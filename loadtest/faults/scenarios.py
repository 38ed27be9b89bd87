"""Which faults there are, and how often each comes in a full run."""

from collections.abc import Awaitable, Callable, Mapping
from typing import NamedTuple

from loadtest.faults import database_harm, harm
from loadtest.faults.harm import Scene

Do = Callable[[Scene], Awaitable[None]]


class Scenario(NamedTuple):
    """A fault, how often it comes in a full run, and what is measured of it."""

    do: Do
    times: int
    is_takeover: bool = False
    """Whether the time until the tables of killed engines go on is measured."""
    is_quiet: bool = False
    """Whether no client may see any error of it."""

    @property
    def name(self) -> str:
        """Its name on the command line."""
        return self.do.__name__


def _by_name(*scenarios: Scenario) -> Mapping[str, Scenario]:
    return {scenario.name: scenario for scenario in scenarios}


SQLITE = _by_name(
    Scenario(harm.engine_killed, 2),
    Scenario(harm.engine_paused, 1),
    Scenario(database_harm.disk_full, 2),
    Scenario(harm.scoring_down, 1),
    Scenario(harm.lobby_down, 1),
    Scenario(harm.clients_dropped, 1),
    Scenario(harm.reconnect_storm, 1),
)
POSTGRES = _by_name(
    Scenario(harm.engine_killed, 10, is_takeover=True),
    Scenario(harm.engines_killed_in_turn, 3),
    Scenario(harm.all_engines_killed, 3),
    Scenario(harm.engine_paused, 2),
    Scenario(harm.engine_hung, 1),
    Scenario(harm.rolling_restart, 3, is_quiet=True),
    Scenario(harm.rolling_restart_of_the_others, 1),
    Scenario(harm.clocks_apart, 1),
    Scenario(harm.sent_twice, 3),
    Scenario(database_harm.postgres_paused, 2),
    Scenario(database_harm.postgres_killed, 3),
    Scenario(database_harm.postgres_restarted, 2),
    Scenario(database_harm.connections_terminated, 2),
    Scenario(database_harm.connections_reset, 2),
    Scenario(database_harm.database_slow, 1),
    Scenario(database_harm.database_cut_off, 2),
    Scenario(database_harm.database_half_open, 2),
    Scenario(database_harm.network_cut, 2),
    Scenario(harm.scoring_down, 1),
    Scenario(harm.lobby_down, 1),
    Scenario(harm.clients_dropped, 2),
    Scenario(harm.clients_half_open, 1),
    Scenario(harm.slow_readers, 1),
    Scenario(harm.reconnect_storm, 2),
)
DOOR = _by_name(Scenario(harm.door_killed, 2), Scenario(harm.door_restarted, 2))
"""Where players come through the front door, beside all others."""
SHORT_SQLITE = ("engine_killed", "disk_full")
SHORT_POSTGRES = ("engine_killed", "postgres_killed", "rolling_restart", "sent_twice", "reconnect_storm")
SHORT_DOOR = ("engine_killed", "rolling_restart", "door_restarted")
