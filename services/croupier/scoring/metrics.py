"""What scoring counts beside the calls themselves."""

from dataclasses import dataclass, field
from typing import Literal

from prometheus_client import CollectorRegistry, Counter


@dataclass(frozen=True)
class LedgerMetrics:
    """Entries into the ledger."""

    registry: CollectorRegistry
    entries: Counter = field(init=False)

    def __post_init__(self) -> None:
        entries = Counter(
            "croupier_scoring_entries",
            "Entries by kind (round, result) and outcome (new, repeated, conflict).",
            ["kind", "outcome"],
            registry=self.registry,
        )
        object.__setattr__(self, "entries", entries)

    def count(self, kind: Literal["round", "result"], outcome: Literal["new", "repeated", "conflict"]) -> None:
        """Note one entry."""
        self.entries.labels(kind, outcome).inc()
