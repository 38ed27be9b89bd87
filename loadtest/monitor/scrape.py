"""Reads the Prometheus page of one instance of a service."""

from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from typing import TypeAlias

from prometheus_client.parser import text_string_to_metric_families

READ_SECONDS = 3.0
KEPT_TYPES = frozenset({"counter", "gauge"})

Labels: TypeAlias = tuple[tuple[str, str], ...]
"""Label names and values, sorted by name."""
Key: TypeAlias = tuple[str, Labels]
"""The name and labels of a sample."""


@dataclass(frozen=True, slots=True)
class Scrape:
    """The counters and gauges of an instance, at a time in seconds of the reader's clock."""

    seconds: float
    samples: Mapping[Key, float]

    def total(self, name: str) -> float:
        """Return the sum of all samples of a name, 0 without any."""
        return sum(value for (sample, _), value in self.samples.items() if sample == name)


@dataclass(frozen=True, slots=True)
class FailedScrape:
    """A page that could not be read, and the reason in one line."""

    seconds: float
    reason: str


def scrape(address: str, seconds: float) -> Scrape | FailedScrape:
    """Read the page of one instance at host:port; waits READ_SECONDS at most for each part of it."""
    try:
        # Not by urllib, which would use a proxy of the environment.
        with closing(HTTPConnection(address, timeout=READ_SECONDS)) as connection:
            connection.request("GET", "/metrics")
            response = connection.getresponse()
            body = response.read()
        if response.status != 200:
            raise ValueError(f"status {response.status} {response.reason}")
        return Scrape(seconds, dict(samples_of(body.decode())))
    except (OSError, HTTPException, ValueError) as fault:
        return FailedScrape(seconds, f"{address} serves no metrics: {str(fault) or type(fault).__name__}")


def samples_of(page: str) -> Iterator[tuple[Key, float]]:
    """Yield the counters and gauges of a page in Prometheus' text format; raises ValueError for anything else."""
    for family in text_string_to_metric_families(page):
        if family.type in KEPT_TYPES and not family.name.endswith("_created"):
            for sample in family.samples:
                yield (sample.name, tuple(sorted(sample.labels.items()))), sample.value
