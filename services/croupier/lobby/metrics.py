"""All metrics of the lobby beyond those of its calls."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field

from prometheus_client import CollectorRegistry, Counter, Gauge

from croupier.lobby.tables import TableState
from croupier.lobby.tickets import Wish


@dataclass(frozen=True)
class LobbyMetrics:
    """What the lobby counts, in one registry."""

    registry: CollectorRegistry
    sign_ins: Counter = field(init=False)
    matches: Counter = field(init=False)
    tables: Gauge = field(init=False)
    tickets: Gauge = field(init=False)

    def __post_init__(self) -> None:
        made = {
            "sign_ins": Counter("croupier_lobby_sign_ins", "Sign-ins of players.", ["new"], registry=self.registry),
            "matches": Counter("croupier_lobby_matches", "Quick matches made.", ["game"], registry=self.registry),
            "tables": Gauge(
                "croupier_lobby_tables", "Tables that have not ended.", ["game", "state"], registry=self.registry
            ),
            "tickets": Gauge(
                "croupier_lobby_tickets_waiting", "Tickets that wait.", ["game", "seats"], registry=self.registry
            ),
        }
        for name, metric in made.items():
            object.__setattr__(self, name, metric)

    def show_tables(self, counts: Mapping[tuple[str, TableState], int]) -> None:
        """Set how many tables run, by game and state."""
        _show(self.tables, {(game, state.value): count for (game, state), count in counts.items()})

    def show_tickets(self, counts: Mapping[Wish, int]) -> None:
        """Set how many tickets wait, by wish."""
        _show(self.tickets, {(wish.game, str(wish.seats)): count for wish, count in counts.items()})


def _show(gauge: Gauge, counts: Mapping[tuple[str, str], int]) -> None:
    shown: set[Hashable] = {tuple(sample.labels.values()) for metric in gauge.collect() for sample in metric.samples}
    for labels in shown - set(counts):
        gauge.remove(*labels)  # type: ignore[misc]
    for labels, count in counts.items():
        gauge.labels(*labels).set(count)
