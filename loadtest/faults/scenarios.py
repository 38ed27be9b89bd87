"""Which faults there are, and how often each comes in a full run."""

from collections.abc import Awaitable, Callable, Mapping
from typing import NamedTuple

from loadtest.faults import database_faults, service_faults
from loadtest.faults.scene import Scene

Do = Callable[[Scene], Awaitable[None]]


class Scenario(NamedTuple):
    """A fault, how often it comes in a full run, and what is measured of it."""

    do: Do
    times: int
    is_takeover: bool = False
    """Whether the time until the tables of killed engines go on is measured."""
    is_quiet: bool = False
    """Whether no client may raise any error."""
    hampers: bool = False
    """Whether players behind the proxy are kept from acting in time."""

    @property
    def name(self) -> str:
        """Its name on the command line."""
        return self.do.__name__


def _by_name(*scenarios: Scenario) -> Mapping[str, Scenario]:
    return {scenario.name: scenario for scenario in scenarios}


SQLITE = _by_name(
    Scenario(service_faults.engine_killed, 2),
    Scenario(service_faults.engine_paused, 1),
    Scenario(database_faults.disk_full, 2),
    Scenario(service_faults.scoring_down, 1),
    Scenario(service_faults.lobby_down, 1),
    Scenario(service_faults.clients_dropped, 1, hampers=True),
    Scenario(service_faults.reconnect_storm, 1),
)
POSTGRES = _by_name(
    Scenario(service_faults.engine_killed, 10, is_takeover=True),
    Scenario(service_faults.engines_killed_in_turn, 3),
    Scenario(service_faults.all_engines_killed, 3),
    Scenario(service_faults.engine_paused, 2),
    Scenario(service_faults.engine_hung, 1),
    Scenario(service_faults.rolling_restart, 3, is_quiet=True),
    Scenario(service_faults.rolling_restart_of_the_others, 1),
    Scenario(service_faults.clocks_apart, 1),
    Scenario(service_faults.sent_twice, 3),
    Scenario(database_faults.postgres_paused, 2),
    Scenario(database_faults.postgres_killed, 3),
    Scenario(database_faults.postgres_restarted, 2),
    Scenario(database_faults.connections_terminated, 2),
    Scenario(database_faults.connections_reset, 2),
    Scenario(database_faults.database_slow, 1),
    Scenario(database_faults.database_cut_off, 2),
    Scenario(database_faults.database_half_open, 2),
    Scenario(database_faults.network_cut, 2),
    Scenario(service_faults.scoring_down, 1),
    Scenario(service_faults.lobby_down, 1),
    Scenario(service_faults.clients_dropped, 2, hampers=True),
    Scenario(service_faults.clients_half_open, 1, hampers=True),
    Scenario(service_faults.slow_readers, 1, hampers=True),
    Scenario(service_faults.reconnect_storm, 2),
)
GATEWAY = _by_name(Scenario(service_faults.gateway_killed, 2), Scenario(service_faults.gateway_restarted, 2))
"""Faults beside all others where players connect to the gateway."""
SHORT_SQLITE = ("engine_killed", "disk_full")
SHORT_POSTGRES = ("engine_killed", "postgres_killed", "rolling_restart", "sent_twice", "reconnect_storm")
SHORT_GATEWAY = ("engine_killed", "rolling_restart", "gateway_restarted")
