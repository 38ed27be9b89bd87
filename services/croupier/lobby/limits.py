"""The limits of a lobby's calls and streams beyond the budgets of all calls: each network has a share."""

from dataclasses import dataclass

from croupier.lobby.settings import LobbySettings
from croupier.runtime.capacity_limiter import CapacityLimiter
from croupier.runtime.network import WIDE_NETWORK_SHARE
from croupier.runtime.rate_limit import Budgets, CallBudget, MonotonicClock, network_budgets

WRONG_CODE_COST = 3
"""Of a budget of one unit a second: twenty wrong codes a minute."""
MAX_WRONG_CODES = 20
"""At once: people mistype few, and of 2^40 codes a guess finds hardly one."""


@dataclass(frozen=True, slots=True)
class LobbyLimits:
    """Budgets of sign-ins, created tables and wrong invite codes, and slots of streams.

    Players who are matched need no table lists: WatchTables streams leave the slots of tickets to them.
    """

    sign_ins: Budgets
    tables_created: Budgets
    wrong_codes: Budgets
    streams: CapacityLimiter
    tickets: CapacityLimiter


def limits_of(settings: LobbySettings, clock: MonotonicClock) -> LobbyLimits:
    """Return the limits by the settings."""
    player_streams = settings.max_player_lobby_streams
    return LobbyLimits(
        network_budgets("sign_ins", settings.sign_ins_per_second, settings.sign_in_burst, clock),
        network_budgets("tables_created", settings.tables_created_per_second, settings.tables_created_burst, clock),
        _wrong_codes(clock),
        CapacityLimiter("streams", settings.max_lobby_streams, player_streams, settings.max_network_lobby_streams),
        CapacityLimiter("tickets", settings.max_tickets, player_streams, settings.max_network_tickets),
    )


def _wrong_codes(clock: MonotonicClock) -> Budgets:
    def budget(share: int) -> CallBudget:
        burst = share * MAX_WRONG_CODES * WRONG_CODE_COST
        expected = f"{share * MAX_WRONG_CODES} wrong invite codes a minute"
        return CallBudget("invite_codes", share, burst, clock, expected)

    return Budgets(player=budget(1), network=budget(1), wide_network=budget(WIDE_NETWORK_SHARE))
