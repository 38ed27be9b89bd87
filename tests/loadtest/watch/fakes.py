"""Services that tell what a test wants them to, and a clock that stands still unless moved."""

from dataclasses import dataclass, field

from loadtest.watch.scrape import Key, Scrape, Unread

STARTED = 1_000.0


@dataclass
class FakeServices:
    """What the pages of all instances say, by address; an address without any cannot be read."""

    pages: dict[str, dict[Key, float]] = field(default_factory=dict)
    now: float = 0.0

    def clock(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def read(self, address: str, seconds: float) -> Scrape | Unread:
        page = self.pages.get(address)
        return Unread(seconds, f"{address} is away") if page is None else Scrape(seconds, dict(page))


def process(cpu: float = 0.0, memory: float = 0.0, files: float = 0.0, started: float = STARTED) -> dict[Key, float]:
    """What a process tells of itself."""
    return {
        ("process_cpu_seconds_total", ()): cpu,
        ("process_resident_memory_bytes", ()): memory,
        ("process_open_fds", ()): files,
        ("process_start_time_seconds", ()): started,
    }


def labelled(name: str, **labels: str) -> Key:
    return name, tuple(sorted(labels.items()))
