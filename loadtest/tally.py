"""What a run did, besides what broke."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass(slots=True)
class Tally:
    """Counts of one run; the first message of each kind of failed call is kept."""

    actions: int = 0
    """Actions acknowledged before time was up."""
    playing: int = 0
    """Players who sit at a table now."""
    refusals: Counter[str] = field(default_factory=Counter)
    """Refusals on purpose that were judged, by probe."""
    repeats: int = 0
    views_compared: int = 0
    replays_checked: int = 0
    sheets_checked: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    """Calls that failed, by what failed."""
    first_failures: dict[str, str] = field(default_factory=dict)

    @contextmanager
    def one_more_playing(self) -> Iterator[None]:
        """Somebody sits at a table for as long as the body takes."""
        self.playing += 1
        try:
            yield
        finally:
            self.playing -= 1

    def failed(self, what: str, why: str) -> None:
        """A call failed, or something took too long; that is no violation, but it is told."""
        self.failures[what] += 1
        self.first_failures.setdefault(what, why)
