"""What a process measures while it plays, handed over in batches: times, counts, failures, violations.

Batches are dictionaries that JSON holds. They leave a load process with every time in them, in whole microseconds,
since making histograms would hold up its players; the receiver makes HDR histograms with three significant digits.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from loadtest.judge.violations import Violation
from loadtest.report.result import Latency

if TYPE_CHECKING:
    from hdrh.histogram import HdrHistogram

Batch: TypeAlias = dict[str, Any]
LONGEST_MICROSECONDS = 600_000_000
SIGNIFICANT_DIGITS = 3
ACKNOWLEDGED = "action acknowledged"
SEEN_BY_ALL = "action seen by all"
LONGEST_REPLAY_CHARACTERS = 1_000_000


def new_histogram() -> HdrHistogram:
    """An empty histogram of microseconds, from one to ten minutes."""
    # The demonstration counts as well, and is installed without the load test's packages.
    from hdrh.histogram import HdrHistogram

    return HdrHistogram(1, LONGEST_MICROSECONDS, SIGNIFICANT_DIGITS)


@dataclass(slots=True)
class Measures:
    """What was measured since the last batch."""

    times: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    """Microseconds by what took so long."""
    counts: Counter[str] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)
    judged: list[dict[str, object]] = field(default_factory=list)
    """Finished tables, as `loadtest.process.standings` compares them."""
    _first_failures: dict[str, str] = field(default_factory=dict)
    _violations: list[dict[str, Any]] = field(default_factory=list)
    _kept: set[str] = field(default_factory=set)

    def took(self, name: str, seconds: float) -> None:
        """Something took so long; beyond ten minutes it counts as that."""
        self.times[name].append(min(max(round(seconds * 1e6), 1), LONGEST_MICROSECONDS))

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
            self._violations.append(as_json(violation, kept))

    def take(self) -> Batch:
        """Everything since the last batch."""
        batch: Batch = {
            "times": dict(self.times),
            "counts": dict(self.counts),
            "failures": {name: [count, self._first_failures[name]] for name, count in self.failures.items()},
            "violations": self._violations,
            "judged": self.judged,
        }
        self.times.clear()
        self.counts.clear()
        self.failures.clear()
        self._violations, self.judged = [], []
        return batch


def as_json(violation: Violation, replay: str = "") -> dict[str, Any]:
    """A violation as JSON holds it, with the replay that is kept with it."""
    return {**asdict(violation), "invariant": violation.invariant.value, "replay": replay}


def with_histograms(batch: Batch) -> Batch:
    """A batch as it goes over a network: with histograms, encoded, instead of times."""
    histograms = {name: encoded(histogram_of(times)) for name, times in batch["times"].items()}
    return {**{name: value for name, value in batch.items() if name != "times"}, "histograms": histograms}


def histograms_of(batch: Mapping[str, Any]) -> dict[str, HdrHistogram]:
    """The histograms of a batch, in whichever form it came."""
    if "times" in batch:
        return {name: histogram_of(times) for name, times in batch["times"].items()}
    from hdrh.histogram import HdrHistogram

    return {name: HdrHistogram.decode(text.encode("ascii")) for name, text in batch["histograms"].items()}


def histogram_of(times: Iterable[int]) -> HdrHistogram:
    """A histogram of microseconds."""
    histogram = new_histogram()
    for microseconds in times:
        histogram.record_value(microseconds)
    return histogram


def encoded(histogram: HdrHistogram) -> str:
    """A histogram as text."""
    text: bytes = histogram.encode()
    return text.decode("ascii")


def percentile_milliseconds(histogram: HdrHistogram, percent: float) -> float:
    """How long so many of a hundred took at most; 0 where nothing was measured."""
    return histogram.get_value_at_percentile(percent) / 1000 if histogram.get_total_count() else 0.0


def latency_of(name: str, histogram: HdrHistogram) -> Latency:
    """What a histogram says of how long something took."""
    p50, p90, p95, p99, p999 = (percentile_milliseconds(histogram, percent) for percent in (50, 90, 95, 99, 99.9))
    most = histogram.get_max_value() / 1000
    return Latency(name, histogram.get_total_count(), p50, p90, p95, p99, p999, most)


def merge(into: dict[str, HdrHistogram], histograms: Mapping[str, HdrHistogram]) -> None:
    """Add histograms to others, by name."""
    for name, histogram in histograms.items():
        if name in into:
            into[name].add(histogram)
        else:
            into[name] = histogram
