"""All faults, and how often each is injected in a full run."""

from collections.abc import Awaitable, Callable, Mapping
from typing import NamedTuple

from loadtest.faults import database_faults, service_faults
from loadtest.faults.load import FaultContext

Inject = Callable[[FaultContext], Awaitable[None]]


class FaultScenario(NamedTuple):
    """A fault, how often it is injected in a full run, and how it is judged."""

    inject: Inject
    times: int
    is_takeover: bool = False
    """Whether takeovers are measured: the time until the tables of a killed engine have another entry."""
    is_quiet: bool = False
    """Whether no client may raise an error."""
    impairs: bool = False
    """Whether players behind the proxy are kept from acting in time."""
    interrupts: bool = False
    """Whether no player can act until it is over, and tables have their time to recover."""

    @property
    def name(self) -> str:
        """Its name on the command line."""
        return self.inject.__name__


def _by_name(*scenarios: FaultScenario) -> Mapping[str, FaultScenario]:
    return {scenario.name: scenario for scenario in scenarios}


SQLITE = _by_name(
    FaultScenario(service_faults.engine_killed, 2, interrupts=True),
    FaultScenario(service_faults.engine_paused, 1, interrupts=True),
    FaultScenario(database_faults.disk_full, 2, interrupts=True),
    FaultScenario(service_faults.scoring_down, 1),
    FaultScenario(service_faults.lobby_down, 1),
    FaultScenario(service_faults.clients_dropped, 1, impairs=True),
    FaultScenario(service_faults.reconnect_storm, 1),
)
POSTGRES = _by_name(
    FaultScenario(service_faults.engine_killed, 10, is_takeover=True),
    FaultScenario(service_faults.engines_killed_in_turn, 3, interrupts=True),
    FaultScenario(service_faults.all_engines_killed, 3, interrupts=True),
    FaultScenario(service_faults.engine_paused, 2),
    FaultScenario(service_faults.engine_hung, 1),
    FaultScenario(service_faults.rolling_restart, 3, is_quiet=True),
    FaultScenario(service_faults.rolling_restart_of_the_others, 1),
    FaultScenario(service_faults.clocks_apart, 1),
    FaultScenario(service_faults.sent_twice, 3),
    FaultScenario(database_faults.postgres_paused, 2, interrupts=True),
    FaultScenario(database_faults.postgres_killed, 3, interrupts=True),
    FaultScenario(database_faults.postgres_restarted, 2, interrupts=True),
    FaultScenario(database_faults.connections_terminated, 2),
    FaultScenario(database_faults.connections_reset, 2),
    FaultScenario(database_faults.database_slow, 1),
    FaultScenario(database_faults.database_cut_off, 2),
    FaultScenario(database_faults.database_half_open, 2),
    FaultScenario(database_faults.network_cut, 2),
    FaultScenario(database_faults.notifications_lost, 2),
    FaultScenario(database_faults.notifications_late, 1),
    FaultScenario(service_faults.scoring_down, 1),
    FaultScenario(service_faults.lobby_down, 1),
    FaultScenario(service_faults.clients_dropped, 2, impairs=True),
    FaultScenario(service_faults.clients_half_open, 1, impairs=True),
    FaultScenario(service_faults.slow_readers, 1, impairs=True),
    FaultScenario(service_faults.reconnect_storm, 2),
)
GATEWAY = _by_name(
    FaultScenario(service_faults.gateway_killed, 2, interrupts=True),
    FaultScenario(service_faults.gateway_restarted, 2, interrupts=True),
)
"""Additional faults of runs whose players connect to the gateway."""
SHORT_SQLITE = ("engine_killed", "disk_full")
SHORT_POSTGRES = (
    "engine_killed",
    "postgres_killed",
    "rolling_restart",
    "sent_twice",
    "notifications_lost",
    "reconnect_storm",
)
SHORT_GATEWAY = ("engine_killed", "rolling_restart", "gateway_restarted")
