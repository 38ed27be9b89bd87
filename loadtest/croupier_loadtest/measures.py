"""The measurements of a load process, in batches: times, counts, failures, violations.

Batches are dictionaries that JSON can hold. A load process sends every time in them, in whole microseconds, since
making histograms would delay its players; the receiver makes them (see histograms.py).
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from math import inf
from typing import Any, TypeAlias

from croupier_loadtest.judge.violations import Violation

Batch: TypeAlias = dict[str, Any]
MAX_MICROSECONDS = 600_000_000
CALLS_BROKEN = "calls broken "
"""The prefix of the counts of calls that the load test broke on purpose; the method follows."""
RULES_NOT_JUDGED = "rules not judged of "
"""The prefix of the counts of games whose rules no judge knows; the game follows."""
ACKNOWLEDGED = "action acknowledged"
SEEN_BY_ALL = "action seen by all"
MAX_REPLAY_CHARACTERS = 1_000_000


@dataclass(slots=True)
class Measures:
    """The measurements since the last batch."""

    times: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    """Microseconds by the name of the operation."""
    counts: Counter[str] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)
    judged: list[dict[str, object]] = field(default_factory=list)
    """Finished tables, as `croupier_loadtest.process.standings` compares them."""
    broken_at: float = -inf
    """When the load test broke all connections for the last time, in seconds of the calls' clock."""
    _first_failures: dict[str, str] = field(default_factory=dict)
    _violations: list[dict[str, Any]] = field(default_factory=list)
    _with_replay: set[str] = field(default_factory=set)

    def record_time(self, name: str, seconds: float) -> None:
        """Record a time, ten minutes at most."""
        self.times[name].append(min(max(round(seconds * 1e6), 1), MAX_MICROSECONDS))

    def count(self, name: str, times: int = 1) -> None:
        """Add to a counter."""
        self.counts[name] += times

    def record_failure(self, name: str, first: str) -> None:
        """Count a failed or slow call, which is reported, and no violation."""
        self.failures[name] += 1
        self._first_failures.setdefault(name, first)

    def record_violations(self, violations: Iterable[Violation], replay: str = "") -> None:
        """Record violations; the replay, or the transcript in its place, is kept with the first of each invariant."""
        for violation in violations:
            kept = "" if violation.invariant in self._with_replay else replay[:MAX_REPLAY_CHARACTERS]
            self._with_replay.add(violation.invariant)
            self._violations.append(as_json(violation, kept))

    def add(self, batch: Batch) -> None:
        """Add the counts and the violations of another process's batch."""
        self.counts.update(batch["counts"])
        self._violations += batch["violations"]

    def take(self) -> Batch:
        """Return the batch of everything since the last one."""
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
    """Return a violation as a dictionary for JSON, with its replay."""
    return {**asdict(violation), "invariant": violation.invariant.value, "replay": replay}
