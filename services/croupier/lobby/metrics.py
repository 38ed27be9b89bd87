"""The metrics of the lobby beyond those of its calls."""

from collections.abc import Hashable, Mapping
from functools import partial

from prometheus_client import CollectorRegistry, Counter, Gauge

from croupier.lobby.matchmaking.tickets import MatchCriteria, Waiting
from croupier.lobby.tables.forming_table import TableState


class LobbyMetrics:
    """The lobby's counters and gauges in a registry."""

    def __init__(self, registry: CollectorRegistry) -> None:
        counter, gauge = partial(Counter, registry=registry), partial(Gauge, registry=registry)
        self.registry = registry
        self.sign_ins = counter("croupier_lobby_sign_ins", "Sign-ins of players.", ["new"])
        self.guests_deleted = counter("croupier_guests_deleted", "Guests deleted who had never played.")
        self.matches = counter("croupier_lobby_matches", "Matches made.", ["game"])
        self.tables = gauge("croupier_lobby_tables", "Tables that have not ended.", ["game", "state"])
        self.tickets = gauge("croupier_lobby_tickets_waiting", "Tickets that wait.", ["game", "seats"])

    def show_tables(self, counts: Mapping[tuple[str, TableState], int]) -> None:
        """Set the number of running tables, by game and state."""
        _show(self.tables, {(game, state.value): count for (game, state), count in counts.items()})

    def show_tickets(self, tickets: Mapping[MatchCriteria, Waiting]) -> None:
        """Set the number of waiting tickets, by game and number of seats."""
        counts = dict[tuple[str, str], int]()
        for criteria, waiting in tickets.items():
            labels = (criteria.game, str(criteria.seat_count))
            counts[labels] = counts.get(labels, 0) + waiting.players
        _show(self.tickets, counts)


def _show(gauge: Gauge, counts: Mapping[tuple[str, str], int]) -> None:
    shown: set[Hashable] = {tuple(sample.labels.values()) for metric in gauge.collect() for sample in metric.samples}
    for labels in shown - set(counts):
        gauge.remove(*labels)  # type: ignore[misc]
    for labels, count in counts.items():
        gauge.labels(*labels).set(count)
