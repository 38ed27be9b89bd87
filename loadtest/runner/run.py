"""One run: load on services that are there or of its own, what the load processes report, and the result."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import gevent

from croupier.cli.replicas import Replicas
from loadtest.backend import Backend, BackendMissing, own_backend
from loadtest.process.plan import JUDGING_SECONDS, Plan
from loadtest.report.result import Check, Result
from loadtest.report.text import to_text
from loadtest.report.write import check_folder, write_results, write_text
from loadtest.runner.collector import Collector
from loadtest.runner.load_process import LoadProcess, Message
from loadtest.runner.options import Options
from loadtest.runner.result import Findings
from loadtest.runner.stages import StagePlan
from loadtest.runner.standings import not_compared
from loadtest.scenarios import SCENARIOS
from loadtest.watch.watch import Watch

MAX_MOMENTS = 240
PROGRESS_SECONDS = 10.0
MAX_PROGRESS = 60
COMPARING_SECONDS = 300.0
LOCAL = "local"
"""The name of this process's own child among the load processes."""


class Run:
    """A run from its beginning to its result; raises BackendMissing or ReportFault if nothing can be tested.

    `slice_seconds` is how often there is something new to look at; `also` takes what this process's own child reports.
    """

    def __init__(self, options: Options, processes: int, slice_seconds: float, also: Callable[[Message], None]) -> None:
        scenario = SCENARIOS[options.plan.scenario]
        self.options = options
        self.processes = processes
        self.collector = Collector()
        self.stages = StagePlan(scenario, options.plan.users, options.arrivals_per_second, options.seconds)
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

    def receive(self, process: str, message: Message) -> None:
        """Take a report of a load process."""
        self.collector.receive(process, message)

    def _receive_own(self, message: Message, also: Callable[[Message], None]) -> None:
        self.receive(LOCAL, message)
        also(message)

    def begin(self) -> None:
        """Begin to measure."""
        self._began, self._began_milliseconds = time.monotonic(), time.time_ns() // 1_000_000
        options = self.options
        _say(f"{options.plan.scenario}: {self.stages.scenario.meaning}; {options.seconds:g} seconds, to repeat:")
        _say(f"  {options.command}")
        self._sampling = gevent.spawn(self._sample)
        self._warming = gevent.spawn_later(self.stages.warm_up_seconds, self.collector.warmed_up)

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
        return self.plan.resolved().grace_seconds + JUDGING_SECONDS

    def result(self, unwell: list[str]) -> Result:
        """Compare, judge, write, and print the result; `unwell` names load processes that did not end well."""
        standings = self._compare_standings()
        findings = Findings(self.options, self._backend, self.plan.resolved(), self.collector, self._watch)
        result = findings.result(unwell, standings, self._began_milliseconds, self._seconds, self.processes)
        return told(result, self.collector.replays, self.options.results)

    def _compare_standings(self) -> Check:
        reason = not_compared(self.options, self.plan.resolved(), self.collector)
        if not reason:
            self.process.compare(self.collector.judged)
            if not self.process.compared.wait(COMPARING_SECONDS) or self.process.ended.is_set():
                reason = "the load process did not compare them"
        measured = f"not compared: {reason}" if reason else f"{len(self.collector.outcomes)} outcomes compared"
        return Check("leaderboards and statistics", "what all outcomes add up to", measured, passed=True)

    def close(self) -> None:
        """End the load process, and services of its own."""
        self._stack.close()

    def _sample(self) -> None:
        before = printed = time.monotonic()
        while True:
            gevent.sleep(self._slice_seconds)
            self._watch.sample()
            now = time.monotonic()
            self.collector.slice(now - before, now - self._began - self.stages.warm_up_seconds, self._watch.use())
            before = now
            if now - printed >= max(PROGRESS_SECONDS, self.options.seconds / MAX_PROGRESS):
                _say(self.collector.progress())
                printed = now


def told(result: Result, replays: dict[str, str], folder: Path) -> Result:
    """Write a result with the first replay by invariant, and print it; raises ReportFault."""
    files = {name: f"first-{name}.jsonl" for name, replay in replays.items() if replay}
    kept = tuple(replace(one, replay=files.get(one.invariant, "")) for one in result.violations)
    result = replace(result, violations=kept)
    write_results(result, folder)
    for name, file in files.items():
        write_text(folder, file, replays[name])
    print(to_text(result), flush=True)
    print(f"report      {folder / 'report.html'}", flush=True)
    return result


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
