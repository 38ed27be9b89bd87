"""What a run is judged by when it is over, and its result."""

import os
import platform
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version

import gevent

from loadtest.backend import Backend
from loadtest.report.result import Check, Compared, Conditions, Result
from loadtest.runner.collector import Collector
from loadtest.runner.limits import checks
from loadtest.runner.options import Options
from loadtest.scenarios import Scenario
from loadtest.watch.counters import await_agreement, differences
from loadtest.watch.growth import MEMORY, growth_checks
from loadtest.watch.watch import Watch

COUNTED_SECONDS = 20.0
"""Engines count their tables every 15 seconds."""
AGREEMENT_SECONDS = 10.0
PACKAGES = ("croupier", "grpcio", "locust", "gevent", "protobuf")


@dataclass(frozen=True, slots=True)
class Findings:
    """What players measured and what services counted."""

    options: Options
    backend: Backend
    scenario: Scenario
    collector: Collector
    watch: Watch

    def result(
        self, unwell: list[str], standings: Check, started_milliseconds: int, seconds: float, processes: int
    ) -> Result:
        """What was found, once all counts agree or have had their time to; `unwell` did not end as they should."""
        collector, under_load = self.collector, self.collector.counts_under_load
        compared = self._compared()
        verdicts = (*self._verdicts(unwell), standings)
        broken = collector.violations
        used = sum(one.cpu_seconds for one in self.watch.uses())
        actions = under_load["actions"]
        finished = collector.counts["tables finished"]
        return Result(
            conditions=self._conditions(started_milliseconds, seconds, processes),
            tables_opened=collector.counts["tables opened"],
            tables_finished=finished,
            tables_judged=collector.counts["tables judged"],
            tables_proved=collector.counts["tables proved"],
            games=collector.counted("finished "),
            actions=actions,
            actions_per_second=actions / seconds,
            checks_made=collector.counted("checked "),
            latencies=collector.latencies(),
            moments=tuple(collector.moments),
            refusals=collector.counted("refused "),
            probes=collector.counted("probe "),
            failures=collector.failures,
            violations=broken,
            services=self.watch.uses(),
            compared=compared,
            server_cpu_milliseconds_per_thousand_actions=used * 1e6 / max(1, collector.counts["actions"]),
            generator_cpu=collector.max_cpu,
            bottleneck=_bottleneck(collector.max_cpu, self.scenario),
            checks=verdicts,
            passed=not broken and finished > 0 and all(check.passed for check in verdicts),
        )

    def _compared(self) -> tuple[Compared, ...]:
        """What services counted beside what players did; where they differ something is broken."""
        compared = await_agreement(
            self.watch,
            self.collector.counts,
            within_seconds=AGREEMENT_SECONDS,
            sleep=gevent.sleep,
            shared=self.options.shared,
        )
        for violation in differences(compared):
            self.collector.breaks(violation)
        return compared

    def _verdicts(self, unwell: list[str]) -> Iterator[Check]:
        yield from checks(self.scenario.limits, self.collector, unwell)
        if self.backend.metrics:
            yield self.watch.check()
            if self.scenario.limits.is_growth_watched:
                yield from self._growth()

    def _growth(self) -> tuple[Check, ...]:
        """Whether the services came back to what they were, once time has ended the tables that all have left."""
        deadline = time.monotonic() + self.scenario.grace_seconds
        while True:
            gevent.sleep(COUNTED_SECONDS)
            self.watch.sample()
            found = growth_checks(self.watch.histories)
            # Memory that has not come back by then does not come back.
            if all(check.passed or check.name.endswith(MEMORY) for check in found) or time.monotonic() > deadline:
                return found

    def _conditions(self, started_milliseconds: int, seconds: float, processes: int) -> Conditions:
        return Conditions(
            scenario=self.scenario.name,
            seed=self.options.plan.seed,
            command=self.options.command,
            started_milliseconds=started_milliseconds,
            seconds=seconds,
            machine=f"{platform.system()} {platform.machine()}",
            cores=os.cpu_count() or 0,
            versions={"python": platform.python_version(), **{name: version(name) for name in PACKAGES}},
            backend=self.backend.description,
            processes=processes,
        )


def _bottleneck(cpu: float, scenario: Scenario) -> str:
    if cpu <= min(scenario.limits.generator_cpu, 0.9):
        return ""
    return f"the generator used {cpu:.2f} cores of 1 in its busiest process: it measures itself; use more --processes"
