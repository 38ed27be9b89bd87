"""One run: the services under load, the reports of the load processes, and the result."""

import os
import platform
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from importlib.metadata import version

import gevent
import psutil

from croupier.cli.launcher.replicas import Replicas, service_of
from croupier.runtime.printed_text import escaped
from croupier_loadtest.backend import Backend, BackendUnavailable, started_backend
from croupier_loadtest.measures import CALLS_BROKEN, Batch
from croupier_loadtest.monitor.comparison import await_agreement, differences
from croupier_loadtest.monitor.growth import MEMORY, growth_checks, usage_checks
from croupier_loadtest.monitor.monitor import ServiceMonitor
from croupier_loadtest.process.load import drain_seconds
from croupier_loadtest.report.result import Check, Conditions, CounterComparison, Result
from croupier_loadtest.report.text import to_text
from croupier_loadtest.report.write import check_folder, write_results, write_text
from croupier_loadtest.runner.collector import Collector, checks
from croupier_loadtest.runner.load_process import LoadProcess, Message
from croupier_loadtest.runner.options import Options
from croupier_loadtest.runner.stages import StagePlan

INTERVAL_SECONDS = 3.0
"""The shortest time between samples; workers report as often."""
MAX_INTERVALS = 60
"""A sample delays the services: each writes all its metrics, for 12 ms in an engine under attack."""
PROGRESS_SECONDS = 10.0
MAX_PROGRESS = 60
DRAINING_PROGRESS_SECONDS = 5.0
COMPARING_SECONDS = 300.0
COUNTED_SECONDS = 20.0
"""Engines count their tables every 15 seconds."""
AGREEMENT_SECONDS = 10.0
PACKAGES = ("croupier", "grpcio", "websockets", "locust", "gevent", "protobuf")
LOCAL = "the load process"
"""The name of this process's own load process."""


class LoadRun:
    """A run from its beginning to its result; raises BackendUnavailable or ReportFault if nothing can be tested.

    `on_batch` gets the measurements of this process's own load process.
    """

    def __init__(self, options: Options, processes: int, on_batch: Callable[[Batch], None]) -> None:
        self.processes = processes
        self.collector = Collector()
        self.stages = StagePlan(
            options.settings.scenario, options.settings.users, options.arrivals_per_second, options.seconds
        )
        self._options = options
        self._on_batch = on_batch
        self._scenario = options.settings.scenario
        self._interval_seconds = max(INTERVAL_SECONDS, options.seconds / MAX_INTERVALS)
        self._stack = ExitStack()
        check_folder(options.results)
        try:
            self._backend = self._stack.enter_context(_backend(options))
            self.settings = replace(
                options.settings, endpoints=self._backend.endpoints, calm_seconds=self._calm_seconds
            )
            self._monitor = ServiceMonitor(self._backend.metrics, time.monotonic)
            # Before the first call: counters are compared from here on.
            self._monitor.sample()
            self.process = LoadProcess(self.settings, "0", self._receive_own)
            self._stack.callback(self.process.close)
            if fault := self.process.fault():
                raise BackendUnavailable(fault)
        except BaseException:
            self.close()
            raise

    def _receive_own(self, message: Message) -> None:
        self.collector.receive(LOCAL, message)
        self._on_batch(message["batch"])

    def begin(self) -> None:
        """Begin to measure."""
        self._began, self._began_milliseconds = time.monotonic(), time.time_ns() // 1_000_000
        name, description = self._scenario.name, self._scenario.description
        _print_progress(f"{name}: {description}; {self._options.seconds:g} seconds, to repeat:")
        _print_progress(f"  {self._options.command}")
        self._sampling = gevent.spawn(self._sample)
        self._phases = [gevent.spawn_later(self.stages.warm_up_seconds, self.collector.end_warm_up)]
        if self._scenario.calm_share:
            self._phases.append(gevent.spawn_later(self._calm_seconds, self.collector.end_calm))

    @property
    def _calm_seconds(self) -> float:
        """The time before attackers begin."""
        return self.stages.warm_up_seconds + self._scenario.calm_share * self.stages.seconds

    def _sample(self) -> None:
        before = printed = time.monotonic()
        while True:
            gevent.sleep(self._interval_seconds)
            self._monitor.sample()
            now = time.monotonic()
            passed_seconds = now - self._began - self.stages.warm_up_seconds
            self.collector.end_interval(now - before, passed_seconds, self._monitor.usage())
            before = now
            if now - printed >= max(PROGRESS_SECONDS, self._options.seconds / MAX_PROGRESS):
                _print_progress(self.collector.progress())
                printed = now

    def begin_draining(self) -> None:
        """Stop measuring under load: the run drains."""
        seconds = time.monotonic() - self._began
        warm_up = self.stages.warm_up_seconds
        self._seconds = seconds - warm_up if seconds > warm_up else seconds
        self._is_interrupted = seconds < warm_up + self._options.seconds
        self.collector.begin_draining()
        gevent.killall([self._sampling, *self._phases])
        _print_progress("draining: games are played to their ends, and the judge finishes its queue")
        self._stack.callback(gevent.spawn(self._show_draining).kill)

    def _show_draining(self) -> None:
        deadline = time.monotonic() + self.drain_timeout_seconds
        while True:
            gevent.sleep(DRAINING_PROGRESS_SECONDS)
            seconds = max(0.0, deadline - time.monotonic())
            _print_progress(f"draining: {self.collector.left()}; at most {seconds:.0f} s more")

    @property
    def drain_timeout_seconds(self) -> float:
        """The time limit of load processes to drain."""
        return drain_seconds(self._scenario)

    def result(self, failed_processes: list[str]) -> Result:
        """Compare, judge, write and print the result; `failed_processes` names load processes that did not end well."""
        standings = self._compare_standings(failed_processes)
        result, replays = self._result(failed_processes, standings), self.collector.replays
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
        """End the load process, and the services that the run has started."""
        self._stack.close()

    def kill(self) -> None:
        """Kill all processes that the run has started, and remove the data of its services."""
        for child in psutil.Process().children(recursive=True):
            with suppress(psutil.NoSuchProcess):
                child.kill()
        if self._backend.folder is not None:
            shutil.rmtree(self._backend.folder, ignore_errors=True)

    def _compare_standings(self, failed_processes: list[str]) -> Check:
        reason = self._reason_not_compared(failed_processes)
        if not reason:
            self.process.compare(self.collector.judged, has_strangers=self._options.endpoints is not None)
            if not self.process.compared.wait(COMPARING_SECONDS) or self.process.ended.is_set():
                reason = "the load process did not compare them"
        measured = f"not compared: {reason}" if reason else f"{len(self.collector.outcomes)} outcomes compared"
        return Check("leaderboards and statistics", "equal to the sum of all outcomes", measured, passed=True)

    def _reason_not_compared(self, failed_processes: list[str]) -> str:
        """Return the reason why standings cannot be compared with the outcomes; empty for none."""
        finished, known = self.collector.counts["tables finished"], len(self.collector.outcomes)
        if failed_processes:
            return "a load process ended early, with the outcomes of its tables"
        if self._options.shared:
            return "others use these services too"
        if self._options.endpoints is not None and not self._options.is_seed_drawn:
            return "with this seed, players may have earlier games"
        if self._scenario.judged_share < 1:
            return "not every table is judged"
        if known < finished or not known:
            return f"{finished} games have finished, and {known} have an outcome"
        return ""

    def _result(self, failed_processes: list[str], standings: Check) -> Result:
        """Return the result, once all counters agree or their time is over."""
        collector, actions = self.collector, self.collector.counts_under_load["actions"]
        compared = self._compared(is_whole=not failed_processes)
        verdicts = (*self._verdicts(failed_processes), standings)
        violations, services = collector.violations, self._monitor.usages()
        used = sum(one.cpu_seconds for one in services)
        finished = collector.counts["tables finished"]
        return Result(
            conditions=Conditions(
                scenario=self._scenario.name,
                seed=self.settings.seed,
                command=self._options.command,
                started_milliseconds=self._began_milliseconds,
                seconds=self._seconds,
                machine=f"{platform.system()} {platform.machine()}",
                cores=os.cpu_count() or 0,
                versions={"python": platform.python_version(), **{name: version(name) for name in PACKAGES}},
                backend=self._backend.description,
                processes=self.processes,
                transport=self.settings.transport,
            ),
            tables_opened=collector.counts["tables opened"],
            tables_finished=finished,
            tables_judged=collector.counts["tables judged"],
            tables_verified=collector.counts["tables verified"],
            games=collector.counted("finished "),
            actions=actions,
            actions_per_second=actions / self._seconds,
            checks_made=collector.counted("checked "),
            latencies=collector.latencies(),
            intervals=tuple(collector.intervals),
            refusals=collector.counted("refused "),
            probes=collector.counted("probe "),
            calls_broken=collector.counted(CALLS_BROKEN),
            failures=collector.failures,
            violations=violations,
            services=services,
            compared=compared,
            server_cpu_milliseconds_per_thousand_actions=used * 1e6 / max(1, collector.counts["actions"]),
            generator_cpu=collector.max_cpu,
            bottleneck=self._bottleneck(),
            checks=verdicts,
            passed=not violations and finished > 0 and all(check.passed for check in verdicts),
        )

    def _compared(self, *, is_whole: bool) -> tuple[CounterComparison, ...]:
        """Return the comparison of the services' counters with the players' counts; differences are violations.

        The counts are not whole if a load process died with some of them.
        """
        compared = await_agreement(
            self._monitor,
            self.collector.counts,
            within_seconds=AGREEMENT_SECONDS,
            sleep=gevent.sleep,
            shared=self._options.shared or self.settings.has_pages or self._monitor.had_tables or not is_whole,
        )
        for violation in differences(compared):
            self.collector.add_violation(violation)
        return compared

    def _verdicts(self, failed_processes: list[str]) -> Iterator[Check]:
        limits = self._scenario.limits
        measured = f"{'interrupted after ' if self._is_interrupted else ''}{self._seconds:.0f} s"
        yield Check("time under load", f"{self._options.seconds:g} s", measured, passed=not self._is_interrupted)
        yield from checks(limits, self.collector, self.settings.attacks, failed_processes)
        if self._backend.metrics:
            yield self._monitor.check()
            yield from usage_checks(limits, self._monitor.histories, self._backend.folder)
            if limits.is_growth_checked:
                yield from self._growth()

    def _growth(self) -> tuple[Check, ...]:
        """Check the growth of the services, once time-outs have ended the tables that all have left."""
        deadline = time.monotonic() + self._scenario.grace_seconds
        while True:
            gevent.sleep(COUNTED_SECONDS)
            self._monitor.sample()
            found = growth_checks(self._monitor.histories)
            # Memory does not shrink later.
            if all(check.passed or check.name.endswith(MEMORY) for check in found) or time.monotonic() > deadline:
                return found

    def _bottleneck(self) -> str:
        cpu = self.collector.max_cpu
        if cpu <= min(self._scenario.limits.generator_cpu, 0.9):
            return ""
        used = f"the generator used {cpu:.2f} cores of 1 in its busiest process"
        return f"{used}: the run measures the generator; use more --processes"


@contextmanager
def _backend(options: Options) -> Iterator[Backend]:
    if options.endpoints is not None:
        yield Backend(options.endpoints, options.metrics, f"services at {options.endpoints.engine}")
        return
    scenario = options.settings.scenario
    flags = {
        instance: (*scenario.service_flags.get("", ()), *scenario.service_flags.get(service_of(instance), ()))
        for instance in Replicas(engine=options.engines).all()
    }
    with started_backend(options.database, options.engines, flags, has_gateway=scenario.has_gateway) as backend:
        yield backend


def _print_progress(line: str) -> None:
    """Print progress to standard error, which is no result."""
    print(escaped(line), file=sys.stderr, flush=True)
