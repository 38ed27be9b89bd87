"""Brings together what all load processes report, while load is put on and afterwards."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hdrh.histogram import HdrHistogram

from loadtest.judge.violations import Violation
from loadtest.measures import (
    ACKNOWLEDGED,
    SEEN_BY_ALL,
    as_json,
    histograms_of,
    latency_of,
    merge,
    new_histogram,
    percentile_milliseconds,
)
from loadtest.report.result import Broken, Failure, Latency, Moment
from loadtest.watch.watch import Use


class Collector:
    """What is known of a run so far."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.counts_under_load: Counter[str] = Counter()
        self.histograms: dict[str, HdrHistogram] = {}
        self.moments: list[Moment] = []
        self.replays: dict[str, str] = {}
        """By invariant, the replay of the first violation, or what there was in its place."""
        self.max_cpu = 0.0
        """Cores that the busiest load process used, on average, while load was put on."""
        self._judged: dict[str, dict[str, Any]] = {}
        self._failures: Counter[str] = Counter()
        self._first_failures: dict[str, str] = {}
        self._broken: dict[str, Broken] = {}
        self._gauges: dict[str, Mapping[str, float]] = {}
        self._cpu: dict[str, list[float]] = {}
        self._slice = new_histogram()
        self._slice_counts: Counter[str] = Counter()
        self._is_under_load = True

    @property
    def processes(self) -> frozenset[str]:
        """The load processes that have reported something."""
        return frozenset(self._gauges)

    @property
    def judged(self) -> list[dict[str, Any]]:
        """The tables that were judged, each of them once, as a load process compares them with standings."""
        return list(self._judged.values())

    @property
    def outcomes(self) -> list[dict[str, Any]]:
        """Those of them whose game was seen to end."""
        return [table for table in self.judged if table["outcome"] is not None]

    def receive(self, process: str, message: Mapping[str, Any]) -> None:
        """Take a report of a load process."""
        batch = message["batch"]
        self._gauges[process] = message["gauges"]
        for table in batch["judged"]:
            self._take_judged(table)
        self.counts.update(batch["counts"])
        for name, (times, first) in batch["failures"].items():
            self._failures[name] += times
            self._first_failures.setdefault(name, first)
        for violation in batch["violations"]:
            self._break(violation)
        histograms = histograms_of(batch)
        if self._is_under_load:
            self._receive_under_load(process, batch, histograms)
        elif SEEN_BY_ALL in histograms:
            # The judge goes through tables long after they were played.
            merge(self.histograms, {SEEN_BY_ALL: histograms[SEEN_BY_ALL]})

    def _take_judged(self, table: dict[str, Any]) -> None:
        """Keep a table; one whose players are spread over several processes is reported by each of them."""
        known = self._judged.setdefault(table["table_id"], table)
        outcome = table["outcome"] if known["outcome"] is None else known["outcome"]
        players = sorted({*known["players"], *table["players"]})
        self._judged[table["table_id"]] = {**known, "players": players, "outcome": outcome}

    def _receive_under_load(
        self, process: str, batch: Mapping[str, Any], histograms: Mapping[str, HdrHistogram]
    ) -> None:
        if ACKNOWLEDGED in histograms:
            self._slice.add(histograms[ACKNOWLEDGED])
        merge(self.histograms, histograms)
        self.counts_under_load.update(batch["counts"])
        self._slice_counts.update(batch["counts"])
        self._slice_counts["failures"] += sum(times for times, _ in batch["failures"].values())
        self._cpu.setdefault(process, []).append(self._gauges[process]["cpu"])

    def _break(self, violation: Mapping[str, Any]) -> None:
        told = dict(violation)
        name, replay = told["invariant"], told.pop("replay")
        first = self._broken.get(name)
        if first is None:
            self.replays[name] = replay
        self._broken[name] = replace(first, count=first.count + 1) if first is not None else Broken(count=1, **told)

    def breaks(self, violation: Violation) -> None:
        """Something broke that no table shows."""
        self._break(as_json(violation))

    def gauge(self, name: str) -> float:
        """The sum of a figure over all load processes just now."""
        return sum(gauges[name] for gauges in self._gauges.values())

    def slice(self, seconds: float, passed_seconds: float, use: Use) -> None:
        """End a slice of the run, which took so many seconds, so many seconds after its beginning."""
        p50, p95, p99 = (percentile_milliseconds(self._slice, percent) for percent in (50, 95, 99))
        self.moments.append(
            Moment(
                seconds=round(passed_seconds, 1),
                players=round(self.gauge("users")),
                tables=round(self.gauge("tables")),
                actions_per_second=self._slice_counts["actions"] / seconds,
                p50=p50,
                p95=p95,
                p99=p99,
                failures=self._slice_counts["failures"],
                generator_cpu=max((gauges["cpu"] for gauges in self._gauges.values()), default=0.0),
                server_cpu=use.cpu_cores,
                server_memory_bytes=use.memory_bytes,
            )
        )
        self._slice = new_histogram()
        self._slice_counts.clear()

    def progress(self) -> str:
        """How the run goes, in one line, by the last slice."""
        last = self.moments[-1]
        broken = sum(one.count for one in self.violations)
        users = f"{last.players} users, {last.tables} tables, {self.counts['tables judged']} judged"
        measured = f"{last.actions_per_second:.0f} actions/s, p99 {last.p99:.0f} ms, {broken} violations"
        return f"{last.seconds:6.0f} s  {users}, {measured}"

    def warmed_up(self) -> None:
        """Load has come about only now: of what was measured before, nothing counts."""
        self.histograms.clear()
        self.counts_under_load.clear()
        self.moments.clear()
        self._cpu.clear()

    def time_up(self) -> None:
        """Load is put on no longer: what comes from now on is of games that are played to their ends."""
        self._is_under_load = False
        self.max_cpu = max((sum(cpu) / len(cpu) for cpu in self._cpu.values()), default=0.0)

    @property
    def violations(self) -> tuple[Broken, ...]:
        """All kinds of violations."""
        return tuple(self._broken.values())

    @property
    def failures(self) -> tuple[Failure, ...]:
        """Calls that failed, most often first."""
        return tuple(Failure(name, times, self._first_failures[name]) for name, times in self._failures.most_common())

    def latencies(self) -> tuple[Latency, ...]:
        """How long everything took."""
        return tuple(latency_of(name, one) for name, one in sorted(self.histograms.items()))

    def counted(self, prefix: str) -> dict[str, int]:
        """Counts by what follows a prefix, most first."""
        found = {name.removeprefix(prefix): times for name, times in self.counts.items() if name.startswith(prefix)}
        return {name: times for name, times in Counter(found).most_common() if times}
