"""HDR histograms of what load processes measured, with three significant digits.

The demonstration measures as well, and is installed without the packages of the load test: it imports measures.py only.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from hdrh.histogram import HdrHistogram

from croupier_loadtest.measures import MAX_MICROSECONDS, Batch
from croupier_loadtest.report.result import Latency

SIGNIFICANT_DIGITS = 3


def new_histogram() -> HdrHistogram:
    """Return an empty histogram of microseconds, from one to ten minutes."""
    return HdrHistogram(1, MAX_MICROSECONDS, SIGNIFICANT_DIGITS)


def with_histograms(batch: Batch) -> Batch:
    """Return a batch with encoded histograms instead of times, for the network."""
    histograms = {name: histogram_of(times).encode().decode("ascii") for name, times in batch["times"].items()}
    return {**{name: value for name, value in batch.items() if name != "times"}, "histograms": histograms}


def histograms_of(batch: Mapping[str, Any]) -> dict[str, HdrHistogram]:
    """Return the histograms of a batch, in whichever form it came."""
    if "times" in batch:
        return {name: histogram_of(times) for name, times in batch["times"].items()}
    return {name: HdrHistogram.decode(text.encode("ascii")) for name, text in batch["histograms"].items()}


def histogram_of(times: Iterable[int]) -> HdrHistogram:
    """Return a histogram of microseconds."""
    histogram = new_histogram()
    for microseconds in times:
        histogram.record_value(microseconds)
    return histogram


def percentile_milliseconds(histogram: HdrHistogram, percent: float) -> float:
    """Return the percentile in milliseconds; 0 without a measurement."""
    return histogram.get_value_at_percentile(percent) / 1000 if histogram.get_total_count() else 0.0


def latency_of(name: str, histogram: HdrHistogram) -> Latency:
    """Return the latency of an operation by its histogram."""
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
