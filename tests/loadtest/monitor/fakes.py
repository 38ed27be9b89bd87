"""Fake metrics pages of services, and a clock that a test moves."""

from dataclasses import dataclass, field

from croupier_loadtest.monitor.monitor import FailedScrape, Key, Scrape

STARTED = 1_000.0


@dataclass
class FakeServices:
    """The pages of all instances by address; an address without a page cannot be read."""

    pages: dict[str, dict[Key, float]] = field(default_factory=dict)
    now: float = 0.0

    def clock(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def read(self, address: str, seconds: float) -> Scrape | FailedScrape:
        page = self.pages.get(address)
        return FailedScrape(seconds, f"{address} is unavailable") if page is None else Scrape(seconds, dict(page))


def process(cpu: float = 0.0, memory: float = 0.0, files: float = 0.0, started: float = STARTED) -> dict[Key, float]:
    """Return the metrics of a process."""
    return {
        ("process_cpu_seconds_total", ()): cpu,
        ("process_resident_memory_bytes", ()): memory,
        ("process_open_fds", ()): files,
        ("process_start_time_seconds", ()): started,
    }


def labelled(name: str, **labels: str) -> Key:
    return name, tuple(sorted(labels.items()))
