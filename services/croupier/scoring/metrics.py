"""The metrics of scoring beyond those of its calls."""

from typing import Literal

from prometheus_client import CollectorRegistry, Counter


class LedgerMetrics:
    """The counter of entries in a registry."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._entries = Counter(
            "croupier_scoring_entries",
            "Entries by kind (round, result) and outcome (new, repeated, conflict).",
            ["kind", "outcome"],
            registry=registry,
        )

    def count(self, kind: Literal["round", "result"], outcome: Literal["new", "repeated", "conflict"]) -> None:
        """Count one entry."""
        self._entries.labels(kind, outcome).inc()
