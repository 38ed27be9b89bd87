"""The limits of a lobby's calls and streams beyond the budgets of all calls: each network has a share."""

from dataclasses import dataclass

from croupier.lobby.settings import LobbySettings
from croupier.runtime.capacity_limiter import CapacityLimiter
from croupier.runtime.rate_limit import Budgets, MonotonicClock, network_budgets


@dataclass(frozen=True, slots=True)
class LobbyLimits:
    """Budgets of sign-ins and created tables, and slots of streams.

    Players who are matched need no table lists: WatchTables streams leave the slots of tickets to them.
    """

    sign_ins: Budgets
    tables_created: Budgets
    streams: CapacityLimiter
    tickets: CapacityLimiter


def limits_of(settings: LobbySettings, clock: MonotonicClock) -> LobbyLimits:
    """Return the limits by the settings."""
    player_streams = settings.max_player_lobby_streams
    return LobbyLimits(
        network_budgets("sign_ins", settings.sign_ins_per_second, settings.sign_in_burst, clock),
        network_budgets("tables_created", settings.tables_created_per_second, settings.tables_created_burst, clock),
        CapacityLimiter("streams", settings.max_lobby_streams, player_streams, settings.max_network_lobby_streams),
        CapacityLimiter("tickets", settings.max_tickets, player_streams, settings.max_network_tickets),
    )
