"""The limits that hold for the callers of one port, by the settings of its service."""

from dataclasses import dataclass

from croupier.runtime.admission.budget import Budget, MonotonicClock
from croupier.runtime.admission.capacity_limiter import Capacity, CapacityLimiter
from croupier.runtime.settings import ServiceSettings
from croupier_api.v1 import errors_pb2

STRANGER_SHARE = 4
"""One network gets a quarter of the units a second that all callers without a seat may use.

At once it may have as many as all: the players of a large network pay from it while their tables are looked up.
"""
MAX_ANSWER_BYTES = Capacity(total=64 * 1024 * 1024, player=4 * 1024 * 1024, network=8 * 1024 * 1024)


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a port.

    `player` and `network` are the budgets of each player and each network. `strangers` is the budget of all callers
    together who have no seat at the table that they ask for, and `network_strangers` the share of each network in it.
    `streams` limits open streams and requests that have not arrived, `answers` the bytes of large answers that are not
    sent.
    """

    player: Budget
    network: Budget
    strangers: Budget
    network_strangers: Budget
    streams: CapacityLimiter
    answers: CapacityLimiter


def limits_of(
    settings: ServiceSettings, clock: MonotonicClock, stranger_units_per_second: int = 0, stranger_burst: int = 1
) -> Limits:
    """Return the limits by the settings; those of strangers matter to engines only."""
    share_per_second = -(-stranger_units_per_second // STRANGER_SHARE)
    streams = Capacity(settings.max_streams, settings.max_player_streams, settings.max_network_streams)
    return Limits(
        player=Budget("player_calls", settings.player_calls_per_second, settings.player_burst, clock),
        network=Budget("network_calls", settings.network_units_per_second, settings.network_burst, clock),
        strangers=Budget("strangers", stranger_units_per_second, stranger_burst, clock),
        network_strangers=Budget("strangers", share_per_second, stranger_burst, clock),
        streams=CapacityLimiter("streams", streams),
        answers=CapacityLimiter(
            "answer_bytes",
            MAX_ANSWER_BYTES,
            noun="bytes of answers under way",
            reason=errors_pb2.ERROR_REASON_TOO_MANY_REQUESTS,
        ),
    )
