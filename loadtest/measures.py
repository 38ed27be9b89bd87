"""What a process measures while it plays, handed over in batches: histograms, counts, failures, violations.

Histograms are HDR histograms of microseconds with three significant digits; batches are dictionaries that JSON holds.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from hdrh.histogram import HdrHistogram

from loadtest.referee.violations import Violation

Batch: TypeAlias = dict[str, Any]
LONGEST_MICROSECONDS = 600_000_000
SIGNIFICANT_DIGITS = 3
ACKNOWLEDGED = "action acknowledged"
SEEN_BY_ALL = "action seen by all"
LONGEST_REPLAY_CHARACTERS = 1_000_000


def new_histogram() -> HdrHistogram:
    """An empty histogram of microseconds, from one to ten minutes."""
    return HdrHistogram(1, LONGEST_MICROSECONDS, SIGNIFICANT_DIGITS)


@dataclass(slots=True)
class Measures:
    """What was measured since the last batch."""

    histograms: dict[str, HdrHistogram] = field(default_factory=lambda: defaultdict(new_histogram))
    counts: Counter[str] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)
    _first_failures: dict[str, str] = field(default_factory=dict)
    _violations: list[dict[str, Any]] = field(default_factory=list)
    _kept: set[str] = field(default_factory=set)

    def took(self, name: str, seconds: float) -> None:
        """Something took so long; beyond ten minutes it counts as that."""
        self.histograms[name].record_value(min(max(round(seconds * 1e6), 1), LONGEST_MICROSECONDS))

    def count(self, name: str, times: int = 1) -> None:
        """Something happened."""
        self.counts[name] += times

    def failed(self, what: str, why: str) -> None:
        """A call failed, or something took too long; that is no violation, but it is told."""
        self.failures[what] += 1
        self._first_failures.setdefault(what, why)

    def broken(self, violations: Iterable[Violation], replay: str = "") -> None:
        """Invariants broke; the replay, or what there is in its place, is kept with the first of each kind."""
        for violation in violations:
            kept = "" if violation.invariant in self._kept else replay[:LONGEST_REPLAY_CHARACTERS]
            self._kept.add(violation.invariant)
            self._violations.append(
                {
                    "invariant": violation.invariant.value,
                    "table_id": violation.table_id,
                    "sequence": violation.sequence,
                    "detail": violation.detail,
                    "replay": kept,
                }
            )

    def take(self) -> Batch:
        """Everything since the last batch."""
        batch: Batch = {
            "histograms": {
                name: one.encode().decode("ascii") for name, one in self.histograms.items() if one.get_total_count()
            },
            "counts": dict(self.counts),
            "failures": {name: [count, self._first_failures[name]] for name, count in self.failures.items()},
            "violations": self._violations,
        }
        for histogram in self.histograms.values():
            histogram.reset()
        self.counts.clear()
        self.failures.clear()
        self._violations = []
        return batch


def decoded(encoded: str) -> HdrHistogram:
    """A histogram of a batch."""
    return HdrHistogram.decode(encoded.encode("ascii"))


def percentile_milliseconds(histogram: HdrHistogram, percent: float) -> float:
    """How long so many of a hundred took at most; 0 where nothing was measured."""
    return histogram.get_value_at_percentile(percent) / 1000 if histogram.get_total_count() else 0.0


def recorded_values(histogram: HdrHistogram) -> list[tuple[int, int]]:
    """What was measured, in microseconds, and how often; the library's own iterator takes a hundred times as long."""
    counts = histogram.counts[:]
    return [(histogram.get_value_from_index(index), count) for index, count in enumerate(counts) if count]


def merged(histograms: dict[str, HdrHistogram], batch: Mapping[str, str]) -> None:
    """Add a batch's histograms to others."""
    for name, encoded in batch.items():
        if name not in histograms:
            histograms[name] = new_histogram()
        histograms[name].add(decoded(encoded))
