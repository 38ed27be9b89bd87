"""Adds up the reports of all load processes, and checks them against the limits of a scenario."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from hdrh.histogram import HdrHistogram

from croupier_loadtest.histograms import histograms_of, latency_of, merge, new_histogram, percentile_milliseconds
from croupier_loadtest.judge.violations import Violation
from croupier_loadtest.measures import ACKNOWLEDGED, CALLS_BROKEN, RULES_NOT_JUDGED, SEEN_BY_ALL, as_json
from croupier_loadtest.monitor.monitor import Usage
from croupier_loadtest.players.attackers.attack_process import ATTACKS
from croupier_loadtest.players.attackers.attacker import ATTACK_PREFIX, ONE_NETWORK
from croupier_loadtest.report.result import Check, Failure, Interval, Latency, ViolationSummary
from croupier_loadtest.scenarios import Limits

OWN_FAILURES = "load test: "
NOT_JUDGED = "judging"
LIMITS = frozenset({"TOO_MANY_REQUESTS", "TOO_MANY_STREAMS", "TOO_MANY_TABLES"})
"""The reasons of refusals by limits that players never reach."""
MIN_ACTIONS_OF_A_KIND = 1000


class Collector:
    """The measurements of a run so far."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.counts_under_load: Counter[str] = Counter()
        self.histograms: dict[str, HdrHistogram] = {}
        self.intervals: list[Interval] = []
        self.replays: dict[str, str] = {}
        """By invariant, the replay of the first violation, or the transcript in its place."""
        self.max_cpu = 0.0
        """Average CPU cores of the busiest load process under load."""
        self.calm: HdrHistogram | None = None
        """The times of acknowledged actions before the first attack; None in a run without attacks."""
        self._judged: dict[str, dict[str, Any]] = {}
        self._failures: Counter[str] = Counter()
        self._first_failures: dict[str, str] = {}
        self._violations: dict[str, ViolationSummary] = {}
        self._gauges: dict[str, Mapping[str, float]] = {}
        self._cpu: dict[str, list[float]] = {}
        self._interval = new_histogram()
        self._interval_counts: Counter[str] = Counter()
        self._is_under_load = True

    @property
    def processes(self) -> frozenset[str]:
        """The names of the load processes that have reported."""
        return frozenset(self._gauges)

    @property
    def judged(self) -> list[dict[str, Any]]:
        """The judged tables, each once, for the comparison with standings."""
        return list(self._judged.values())

    @property
    def outcomes(self) -> list[dict[str, Any]]:
        """The judged tables whose outcome is known."""
        return [table for table in self.judged if table["outcome"] is not None]

    def receive(self, process: str, message: Mapping[str, Any]) -> None:
        """Add a report of a load process."""
        batch = message["batch"]
        self._gauges[process] = message["gauges"]
        for table in batch["judged"]:
            # One with players in several processes is reported by each of them.
            known = self._judged.setdefault(table["table_id"], table)
            outcome = table["outcome"] if known["outcome"] is None else known["outcome"]
            players = sorted({*known["players"], *table["players"]})
            self._judged[table["table_id"]] = {**known, "players": players, "outcome": outcome}
        self.counts.update(batch["counts"])
        for name, (times, first) in batch["failures"].items():
            self._failures[name] += times
            self._first_failures.setdefault(name, first)
        for violation in batch["violations"]:
            self._add_violation(violation)
        histograms = histograms_of(batch)
        if self._is_under_load:
            if ACKNOWLEDGED in histograms:
                self._interval.add(histograms[ACKNOWLEDGED])
            merge(self.histograms, histograms)
            self.counts_under_load.update(batch["counts"])
            self._interval_counts.update(batch["counts"])
            self._interval_counts["failures"] += sum(times for times, _ in batch["failures"].values())
            self._cpu.setdefault(process, []).append(self._gauges[process]["cpu"])
        elif SEEN_BY_ALL in histograms:
            # The judge finishes tables long after they were played.
            merge(self.histograms, {SEEN_BY_ALL: histograms[SEEN_BY_ALL]})

    def _add_violation(self, violation: Mapping[str, Any]) -> None:
        fields = dict(violation)
        name, replay = fields["invariant"], fields.pop("replay")
        if (first := self._violations.get(name)) is not None:
            self._violations[name] = replace(first, count=first.count + 1)
        else:
            self.replays[name], self._violations[name] = replay, ViolationSummary(count=1, **fields)

    def add_violation(self, violation: Violation) -> None:
        """Add a violation that is of no table."""
        self._add_violation(as_json(violation))

    def gauge(self, name: str) -> float:
        """Return the current sum of a gauge over all load processes."""
        return sum(gauges[name] for gauges in self._gauges.values())

    def end_interval(self, seconds: float, passed_seconds: float, usage: Usage) -> None:
        """End an interval; `passed_seconds` are those since the beginning of the run."""
        p50, p95, p99 = (percentile_milliseconds(self._interval, percent) for percent in (50, 95, 99))
        self.intervals.append(
            Interval(
                seconds=round(passed_seconds, 1),
                players=round(self.gauge("users")),
                tables=round(self.gauge("tables")),
                actions_per_second=self._interval_counts["actions"] / seconds,
                p50=p50,
                p95=p95,
                p99=p99,
                failures=self._interval_counts["failures"],
                generator_cpu=max((gauges["cpu"] for gauges in self._gauges.values()), default=0.0),
                server_cpu=usage.cpu_cores,
                server_memory_bytes=usage.memory_bytes,
            )
        )
        self._interval = new_histogram()
        self._interval_counts.clear()

    def progress(self) -> str:
        """Return one line on the progress of the run, by the last interval."""
        last = self.intervals[-1]
        broken = sum(one.count for one in self.violations)
        users = f"{last.players} users, {last.tables} tables, {self.counts['tables judged']} judged"
        measured = f"{last.actions_per_second:.0f} actions/s, p99 {last.p99:.0f} ms, {broken} violations"
        return f"{last.seconds:6.0f} s  {users}, {measured}"

    def left(self) -> str:
        """Return the work that is left while the run drains."""
        tables, waiting = (round(self.gauge(name)) for name in ("tables", "waiting"))
        return f"{tables} tables are played, {waiting} wait for the judge, {self.counts['tables judged']} are judged"

    def end_warm_up(self) -> None:
        """Discard all measurements so far: the warm-up is over."""
        self.histograms.clear()
        self.counts_under_load.clear()
        self.intervals.clear()
        self._cpu.clear()

    def end_calm(self) -> None:
        """Keep the times of actions so far, and measure those under attack from now on."""
        self.calm = self.histograms.pop(ACKNOWLEDGED, new_histogram())

    def begin_draining(self) -> None:
        """Measure no more under load: the run drains."""
        self._is_under_load = False
        self.max_cpu = max((sum(cpu) / len(cpu) for cpu in self._cpu.values()), default=0.0)

    @property
    def violations(self) -> tuple[ViolationSummary, ...]:
        """All violations by invariant."""
        return tuple(self._violations.values())

    @property
    def failures(self) -> tuple[Failure, ...]:
        """Failed calls, the most frequent first."""
        return tuple(Failure(name, times, self._first_failures[name]) for name, times in self._failures.most_common())

    def latencies(self) -> tuple[Latency, ...]:
        """Return the latencies of all operations."""
        return tuple(latency_of(name, one) for name, one in sorted(self.histograms.items()))

    def counted(self, prefix: str) -> dict[str, int]:
        """Return counts whose names begin with a prefix, by the rest of the name, the highest first."""
        found = {name.removeprefix(prefix): times for name, times in self.counts.items() if name.startswith(prefix)}
        return {name: times for name, times in Counter(found).most_common() if times}


def checks(
    limits: Limits, collector: Collector, attacks: Collection[str], failed_processes: Sequence[str]
) -> Iterator[Check]:
    """Yield the checks beside the invariants; `failed_processes` are load processes that did not end well."""
    histogram = collector.histograms.get(ACKNOWLEDGED)
    p99 = percentile_milliseconds(histogram, 99) if histogram is not None else 0.0
    is_fast = histogram is not None and p99 <= limits.p99_milliseconds
    yield Check("99 of 100 actions", f"at most {limits.p99_milliseconds:g} ms", f"{p99:.1f} ms", is_fast)
    yield _slowest_kind(limits, collector)
    yield from _unjudged_rules(collector)
    yield from _failures(limits, collector)
    refused = [
        f"{name} {times}" for name in sorted(LIMITS) if (times := collector.counts_under_load[f"refused {name}"])
    ]
    yield Check("calls of players refused by a limit", "none", ", ".join(refused) or "none", not refused)
    if limits.attacked_to_calm:
        yield _attacked(limits, collector)
        yield from _attacks(collector, attacks)
    cpu = collector.max_cpu
    yield Check("generator", f"at most {limits.generator_cpu:g} cores", f"{cpu:.2f} cores", cpu <= limits.generator_cpu)
    own = [f"{one.name}: {one.first}" for one in collector.failures if one.name.startswith((OWN_FAILURES, NOT_JUDGED))]
    failures = "; ".join([*own, *(f"{name} ended early, and its counts are lost" for name in failed_processes)])
    yield Check("the load test itself", "no failures", failures or "none", not failures)


def _unjudged_rules(collector: Collector) -> Iterator[Check]:
    """Yield a check for each game whose rules were not judged: all if no game was played again by rules."""
    finished = collector.counted("finished ")
    unjudged = set(collector.counted(RULES_NOT_JUDGED))
    if not collector.counts["tables verified"]:
        unjudged |= finished.keys()
    for game in sorted(unjudged):
        yield Check(f"{RULES_NOT_JUDGED}{game}", "none", f"{finished.get(game, 0)} tables", passed=False)


def _slowest_kind(limits: Limits, collector: Collector) -> Check:
    """Return the highest 99th percentile of the actions of a game that were frequent enough."""
    games = tuple(f"{game} " for game in collector.counted("actions accepted "))
    kinds = {
        name: percentile_milliseconds(histogram, 99)
        for name, histogram in collector.histograms.items()
        if name.startswith(games) and histogram.get_total_count() >= MIN_ACTIONS_OF_A_KIND
    }
    name, p99 = max(kinds.items(), key=lambda kind: kind[1], default=("none was frequent", 0.0))
    limit, measured = f"at most {limits.p99_milliseconds:g} ms", f"{p99:.1f} ms ({name})"
    return Check("99 of 100 actions of each kind", limit, measured, p99 <= limits.p99_milliseconds)


def _failures(limits: Limits, collector: Collector) -> Iterator[Check]:
    """Yield the check of all failed calls, and of each code with a limit of its own."""
    failed = [one for one in collector.failures if not one.name.startswith((OWN_FAILURES, NOT_JUDGED))]
    yield _share("failed calls", limits.failed_share, sum(one.count for one in failed), collector)
    for code, max_share in limits.failed_by_code.items():
        count = sum(one.count for one in failed if one.name.split()[0] == code)
        yield _share(f"calls failed with {code}", max_share, count, collector)


def _attacked(limits: Limits, collector: Collector) -> Check:
    """Compare the actions under attack with those before."""
    calm, attacked = (
        percentile_milliseconds(histogram, 99) if histogram is not None else 0.0
        for histogram in (collector.calm, collector.histograms.get(ACKNOWLEDGED))
    )
    limit = f"at most {limits.attacked_to_calm:g} times the {calm:.1f} ms before"
    is_kept = 0 < attacked <= limits.attacked_to_calm * calm
    return Check("99 of 100 actions under attack", limit, f"{attacked:.1f} ms", is_kept)


def _attacks(collector: Collector, attacks: Collection[str]) -> Iterator[Check]:
    """Check that each attack from one network reached the limit that it is about; one that made no call did not."""
    answers: dict[str, dict[str, int]] = {f"{name} {ONE_NETWORK}": {} for name in attacks}
    for name, times in collector.counted(ATTACK_PREFIX).items():
        attack, _, outcome = name.rpartition(": ")
        answers.setdefault(attack, {})[outcome] = times
    for attack, outcomes in sorted(answers.items()):
        expected = ATTACKS[attack.partition(" ")[0]].refusals if attack.endswith(ONE_NETWORK) else frozenset()
        measured = ", ".join(f"{outcome} {times}" for outcome, times in outcomes.items()) or "no call"
        limit = f"answered {' and '.join(sorted(expected))} too" if expected else "any answers"
        yield Check(f"attack {attack}", limit, measured, expected <= outcomes.keys())


def _share(name: str, max_share: float, failed: int, collector: Collector) -> Check:
    broken = sum(collector.counted(CALLS_BROKEN).values())
    share = failed / max(1, collector.counts["calls"] - broken + collector.counts["actions"])
    return Check(name, f"at most {max_share:.2%} of calls", f"{share:.3%} ({failed})", share <= max_share)
