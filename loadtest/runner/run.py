"""One run: load on services that are there or of its own, what the load processes report, and the result."""

import os
import platform
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from importlib.metadata import version

import gevent

from croupier.cli.replicas import Replicas
from loadtest.backend import Backend, BackendMissing, own_backend
from loadtest.process.plan import JUDGING_SECONDS, Plan
from loadtest.report.result import Check, Compared, Conditions, Result
from loadtest.report.text import to_text
from loadtest.report.write import check_folder, write_results, write_text
from loadtest.runner.collector import Collector
from loadtest.runner.limits import checks
from loadtest.runner.load_process import LoadProcess, Message
from loadtest.runner.options import Options
from loadtest.runner.stages import StagePlan
from loadtest.scenarios import SCENARIOS
from loadtest.watch.counters import await_agreement, differences
from loadtest.watch.growth import MEMORY, growth_checks
from loadtest.watch.watch import Watch

MAX_MOMENTS = 240
PROGRESS_SECONDS = 10.0
MAX_PROGRESS = 60
COMPARING_SECONDS = 300.0
COUNTED_SECONDS = 20.0
"""Engines count their tables every 15 seconds."""
AGREEMENT_SECONDS = 10.0
PACKAGES = ("croupier", "grpcio", "locust", "gevent", "protobuf")
LOCAL = "local"
"""The name of this process's own child among the load processes."""


class Run:
    """A run from its beginning to its result; raises BackendMissing or ReportFault if nothing can be tested.

    `slice_seconds` is how often there is something new to look at; `also` takes what this process's own child reports.
    """

    def __init__(self, options: Options, processes: int, slice_seconds: float, also: Callable[[Message], None]) -> None:
        self.processes = processes
        self.collector = Collector()
        self.stages = StagePlan(
            SCENARIOS[options.plan.scenario], options.plan.users, options.arrivals_per_second, options.seconds
        )
        self._options = options
        self._scenario = options.plan.resolved()
        self._slice_seconds = max(slice_seconds, options.seconds / MAX_MOMENTS)
        self._stack = ExitStack()
        check_folder(options.results)
        try:
            self._backend = self._stack.enter_context(_backend(options))
            self.plan: Plan = options.plan.at(self._backend.endpoints)
            self._watch = Watch(self._backend.metrics, time.monotonic)
            # Before anybody calls: what players are counted for is compared with what services count from here on.
            self._watch.sample()
            self.process = LoadProcess(self.plan, "0", lambda message: self._receive_own(message, also))
            self._stack.callback(self.process.close)
            if fault := self.process.fault():
                raise BackendMissing(fault)
        except BaseException:
            self.close()
            raise

    def _receive_own(self, message: Message, also: Callable[[Message], None]) -> None:
        self.collector.receive(LOCAL, message)
        also(message)

    def begin(self) -> None:
        """Begin to measure."""
        self._began, self._began_milliseconds = time.monotonic(), time.time_ns() // 1_000_000
        _say(f"{self._scenario.name}: {self._scenario.meaning}; {self._options.seconds:g} seconds, to repeat:")
        _say(f"  {self._options.command}")
        self._sampling = gevent.spawn(self._sample)
        self._warming = gevent.spawn_later(self.stages.warm_up_seconds, self.collector.warmed_up)

    def _sample(self) -> None:
        before = printed = time.monotonic()
        while True:
            gevent.sleep(self._slice_seconds)
            self._watch.sample()
            now = time.monotonic()
            self.collector.slice(now - before, now - self._began - self.stages.warm_up_seconds, self._watch.use())
            before = now
            if now - printed >= max(PROGRESS_SECONDS, self._options.seconds / MAX_PROGRESS):
                _say(self.collector.progress())
                printed = now

    def time_up(self) -> None:
        """Load is put on no longer; what comes from now on is of games that are played to their ends."""
        seconds = time.monotonic() - self._began
        warm_up = self.stages.warm_up_seconds
        self._seconds = seconds - warm_up if seconds > warm_up else seconds
        self.collector.time_up()
        gevent.killall([self._sampling, self._warming])
        _say("draining: games are played to their ends, and the judge goes through the rest")

    @property
    def patience_seconds(self) -> float:
        """How long load processes get to drain."""
        return self._scenario.grace_seconds + JUDGING_SECONDS

    def result(self, unwell: list[str]) -> Result:
        """Compare, judge, write, and print the result; `unwell` names load processes that did not end well."""
        standings = self._compare_standings()
        result, replays = self._found(unwell, standings), self.collector.replays
        files = {name: f"first-{name}.jsonl" for name, replay in replays.items() if replay}
        kept = tuple(replace(one, replay=files.get(one.invariant, "")) for one in result.violations)
        result = replace(result, violations=kept)
        folder = self._options.results
        write_results(result, folder)
        for name, file in files.items():
            write_text(folder, file, replays[name])
        print(f"{to_text(result)}\nreport      {folder / 'report.html'}", flush=True)
        return result

    def close(self) -> None:
        """End the load process, and services of its own."""
        self._stack.close()

    def _compare_standings(self) -> Check:
        reason = self._not_compared()
        if not reason:
            self.process.compare(self.collector.judged)
            if not self.process.compared.wait(COMPARING_SECONDS) or self.process.ended.is_set():
                reason = "the load process did not compare them"
        measured = f"not compared: {reason}" if reason else f"{len(self.collector.outcomes)} outcomes compared"
        return Check("leaderboards and statistics", "what all outcomes add up to", measured, passed=True)

    def _not_compared(self) -> str:
        """Why standings cannot be compared with all outcomes, in a few words; empty if they can."""
        finished, known = self.collector.counts["tables finished"], len(self.collector.outcomes)
        if self._options.shared:
            return "others use these services too"
        if self._options.endpoints is not None and not self._options.is_seed_drawn:
            return "by this seed, players may have had earlier games"
        if self._scenario.judged_share < 1:
            return "not every table is judged"
        if known < finished or not known:
            return f"{finished} games were finished, and {known} have an outcome"
        return ""

    def _found(self, unwell: list[str], standings: Check) -> Result:
        """What was found, once all counts agree or have had their time to."""
        collector, actions = self.collector, self.collector.counts_under_load["actions"]
        compared = self._compared()
        verdicts = (*self._verdicts(unwell), standings)
        broken, services = collector.violations, self._watch.uses()
        used = sum(one.cpu_seconds for one in services)
        finished = collector.counts["tables finished"]
        return Result(
            conditions=self._conditions(),
            tables_opened=collector.counts["tables opened"],
            tables_finished=finished,
            tables_judged=collector.counts["tables judged"],
            tables_proved=collector.counts["tables proved"],
            games=collector.counted("finished "),
            actions=actions,
            actions_per_second=actions / self._seconds,
            checks_made=collector.counted("checked "),
            latencies=collector.latencies(),
            moments=tuple(collector.moments),
            refusals=collector.counted("refused "),
            probes=collector.counted("probe "),
            failures=collector.failures,
            violations=broken,
            services=services,
            compared=compared,
            server_cpu_milliseconds_per_thousand_actions=used * 1e6 / max(1, collector.counts["actions"]),
            generator_cpu=collector.max_cpu,
            bottleneck=self._bottleneck(),
            checks=verdicts,
            passed=not broken and finished > 0 and all(check.passed for check in verdicts),
        )

    def _compared(self) -> tuple[Compared, ...]:
        """What services counted beside what players did; where they differ something is broken."""
        compared = await_agreement(
            self._watch,
            self.collector.counts,
            within_seconds=AGREEMENT_SECONDS,
            sleep=gevent.sleep,
            shared=self._options.shared,
        )
        for violation in differences(compared):
            self.collector.breaks(violation)
        return compared

    def _verdicts(self, unwell: list[str]) -> Iterator[Check]:
        limits = self._scenario.limits
        yield from checks(limits, self.collector, unwell)
        if self._backend.metrics:
            yield self._watch.check()
            if limits.is_growth_watched:
                yield from self._growth()

    def _growth(self) -> tuple[Check, ...]:
        """Whether the services came back to what they were, once time has ended the tables that all have left."""
        deadline = time.monotonic() + self._scenario.grace_seconds
        while True:
            gevent.sleep(COUNTED_SECONDS)
            self._watch.sample()
            found = growth_checks(self._watch.histories)
            # Memory that has not come back by then does not come back.
            if all(check.passed or check.name.endswith(MEMORY) for check in found) or time.monotonic() > deadline:
                return found

    def _conditions(self) -> Conditions:
        return Conditions(
            scenario=self._scenario.name,
            seed=self.plan.seed,
            command=self._options.command,
            started_milliseconds=self._began_milliseconds,
            seconds=self._seconds,
            machine=f"{platform.system()} {platform.machine()}",
            cores=os.cpu_count() or 0,
            versions={"python": platform.python_version(), **{name: version(name) for name in PACKAGES}},
            backend=self._backend.description,
            processes=self.processes,
        )

    def _bottleneck(self) -> str:
        cpu = self.collector.max_cpu
        if cpu <= min(self._scenario.limits.generator_cpu, 0.9):
            return ""
        used = f"the generator used {cpu:.2f} cores of 1 in its busiest process"
        return f"{used}: it measures itself; use more --processes"


@contextmanager
def _backend(options: Options) -> Iterator[Backend]:
    if options.endpoints is not None:
        yield Backend(options.endpoints, options.metrics, f"services at {options.endpoints.engine}")
        return
    flags = dict.fromkeys(Replicas(engine=options.engines).all(), SCENARIOS[options.plan.scenario].service_flags)
    with own_backend(options.database, options.engines, flags) as backend:
        yield backend


def _say(line: str) -> None:
    """Progress, which is no result."""
    print(line, file=sys.stderr, flush=True)
