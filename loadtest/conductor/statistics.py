"""Feeds Locust's own statistics, which its web page shows, with what swarms measured."""

from collections.abc import Mapping

from locust.stats import RequestStats, get_error_report_summary, get_percentile_stats_summary, get_stats_summary

from loadtest.measures import Batch

METHOD = "grpc"


def tell_locust(stats: RequestStats, batch: Batch) -> None:
    """Add a batch; Locust rounds response times by its own rule, our own figures keep the histograms."""
    times: Mapping[str, list[int]] = batch["times"]
    for name, microseconds in times.items():
        for one in microseconds:
            stats.log_request(METHOD, name, one / 1000, 0)  # type: ignore[arg-type]
    failures: Mapping[str, tuple[int, str]] = batch["failures"]
    for name, (count, first) in failures.items():
        for _ in range(count):
            stats.log_error(METHOD, name, first)


def locust_statistics(stats: RequestStats) -> str:
    """Locust's own tables: calls, percentiles and errors, as it prints them."""
    tables = (get_stats_summary(stats, current=False), get_percentile_stats_summary(stats))
    errors = get_error_report_summary(stats)
    return "\n".join(line for table in (*tables, errors) for line in table) + "\n"
