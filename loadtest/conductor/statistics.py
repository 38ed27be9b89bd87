"""Feeds Locust's own statistics, which its web page shows, with what swarms measured."""

import time
from collections.abc import Mapping

from hdrh.histogram import HdrHistogram
from locust.stats import RequestStats, StatsEntry, bucket_response_time

from loadtest.measures import Batch, decoded, recorded_values

METHOD = "grpc"


def tell_locust(stats: RequestStats, batch: Batch) -> None:
    """Add a batch; Locust rounds response times by its own rule, our own figures keep the histograms."""
    for name, encoded in batch["histograms"].items():
        entry = _entry(stats, name, decoded(encoded))
        stats.get(name, METHOD).extend(entry)
        stats.total.extend(entry)
    failures: Mapping[str, tuple[int, str]] = batch["failures"]
    for name, (times, first) in failures.items():
        for _ in range(times):
            stats.log_error(METHOD, name, first)


def _entry(stats: RequestStats, name: str, histogram: HdrHistogram) -> StatsEntry:
    entry = StatsEntry(stats, name, METHOD)
    now = time.time()
    recorded = recorded_values(histogram)
    entry.num_requests = histogram.get_total_count()
    entry.total_response_time = round(sum(value * count for value, count in recorded) / 1000)
    entry.min_response_time = histogram.get_min_value() / 1000
    entry.max_response_time = histogram.get_max_value() / 1000
    entry.last_request_timestamp = now
    entry.num_reqs_per_sec = {int(now): entry.num_requests}
    times: dict[int, int] = {}
    for value, count in recorded:
        rounded = bucket_response_time(value / 1000)
        times[rounded] = times.get(rounded, 0) + count
    entry.response_times = times
    return entry
