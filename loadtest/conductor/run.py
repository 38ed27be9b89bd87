"""A run of a scenario from its beginning to its result; Locust is used as a library."""

import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import gevent
from locust.env import Environment
from locust.event import Events
from locust.runners import LocalRunner, MasterRunner
from locust.web import WebUI

from croupier_client import Tls
from loadtest.backend import Backend, BackendMissing, own_backend
from loadtest.conductor.collector import Collector
from loadtest.conductor.crew import Crew, WorkersCrew
from loadtest.conductor.evidence import Evidence
from loadtest.conductor.fleet import Fleet
from loadtest.conductor.plain.crew import PlainCrew
from loadtest.conductor.plain.users import playing_classes
from loadtest.conductor.shape import ScenarioShape
from loadtest.conductor.statistics import locust_statistics, tell_locust
from loadtest.conductor.users import user_classes
from loadtest.options import Options
from loadtest.report.result import Result
from loadtest.report.text import to_text
from loadtest.report.write import ReportFault, check_folder, write_results, write_text
from loadtest.scenarios import Scenario
from loadtest.swarm.order import JUDGING_SECONDS, Order
from loadtest.watch.watch import Watch

FINE, BROKEN, NOT_RUN = 0, 1, 2
LOOPBACK = "127.0.0.1"
MOST_MOMENTS = 240
LEAST_SLICE_SECONDS = 1.0
PROGRESS_SECONDS = 10.0
MOST_PROGRESS = 60
LOCUST_FILE = "locust.txt"


def run(options: Options) -> int:
    """Run a scenario, write its results, and give the exit code."""
    try:
        check_folder(options.results)
        with _backend(options) as backend:
            one = Run(options, backend)
            result, replays = one.result()
        write_text(options.results, LOCUST_FILE, one.locust_statistics)
        return told(result, replays, options.results)
    except (BackendMissing, ReportFault) as fault:
        print(f"loadtest: {fault}", file=sys.stderr, flush=True)
        return NOT_RUN


def told(result: Result, replays: dict[str, str], folder: Path) -> int:
    """Write a result with the first replay by invariant, print it, and give the exit code; raises ReportFault."""
    files = {name: f"first-{name}.jsonl" for name, replay in replays.items() if replay}
    kept = tuple(replace(one, replay=files.get(one.invariant, "")) for one in result.violations)
    result = replace(result, violations=kept)
    write_results(result, folder)
    for name, file in files.items():
        write_text(folder, file, replays[name])
    print(to_text(result), flush=True)
    print(f"report      {folder / 'report.html'}", flush=True)
    return FINE if result.passed else BROKEN


@contextmanager
def _backend(options: Options) -> Iterator[Backend]:
    if options.endpoints is not None:
        yield Backend(options.endpoints, options.metrics, f"services at {options.endpoints.engine}")
        return
    with own_backend(options.database, options.engines) as backend:
        yield backend


class Run:
    """One run against services that are there.

    What is measured while people come, and for `settling_seconds` after that, does not count.
    """

    def __init__(self, options: Options, backend: Backend, settling_seconds: float = 0.0) -> None:
        self._options = options
        self._backend = backend
        self._order = Order(
            scenario=options.scenario,
            tables=options.tables,
            seconds=options.seconds,
            seed=options.seed,
            lobby=backend.endpoints.lobby,
            engine=backend.endpoints.engine,
            scoring=backend.endpoints.scoring,
            mix=options.mix,
            grace_seconds=options.grace_seconds,
            silence_seconds=options.silence_seconds,
            think_seconds=options.think_seconds,
            judged_share=options.judged_share,
            manners=options.manners,
            authorities=_authorities(backend.endpoints.tls),
        )
        self._scenario: Scenario = self._order.resolved()
        users = sum(self._order.people().values())
        self._warm_up_seconds = self._scenario.arrival_seconds(users) + settling_seconds
        self._shape = ScenarioShape(self._scenario, users, self._warm_up_seconds)
        self._collector = Collector()
        self._watch = Watch(backend.metrics, time.monotonic)
        self.locust_statistics = ""
        """What Locust itself says of the load, in its own rounding."""

    def result(self) -> tuple[Result, dict[str, str]]:
        """Put on load, let games end, judge; gives the result, and the first replay by invariant."""
        environment = Environment(events=Events())  # type: ignore[no-untyped-call]
        # Before anybody calls: what players are counted for is compared with what services count from here on.
        self._watch.sample()
        crew, runner = self._crew(environment)
        started_milliseconds = time.time_ns() // 1_000_000
        try:
            crew.begin()
            _say(f"{self._scenario.name}: {self._scenario.meaning}; {self._scenario.seconds:g} seconds, to repeat:")
            _say(f"  {self._options.command}")
            seconds = self._load(environment, runner)
            self.locust_statistics = locust_statistics(environment.stats)
            crew.last_orders()
            _say("last orders: games are played to their ends, and the referee goes through the rest")
            unwell = crew.wait(self._scenario.grace_seconds + JUDGING_SECONDS)
            evidence = Evidence(self._options, self._backend, self._scenario, self._collector, self._watch)
            return evidence.result(unwell, started_milliseconds, seconds), self._collector.replays
        finally:
            crew.stop()

    def _crew(self, environment: Environment) -> tuple[Crew, LocalRunner | MasterRunner]:
        options, people = self._options, self._order.people()
        environment.shape_class = self._shape
        if options.workers:
            host, _, port = options.bind.rpartition(":")
            master = environment.create_master_runner(host, int(port))
            crew: Crew = WorkersCrew(master, options.workers, self._order, options.processes, self._collector.hears)
            environment.user_classes = [*user_classes(_Nobody(), people)]
            return crew, master

        def hears(swarm: str, message: dict[str, object]) -> None:
            tell_locust(environment.stats, message["batch"])  # type: ignore[arg-type]
            self._collector.hears(swarm, message)

        if options.is_plain:
            plain = PlainCrew(self._order, hears)
            environment.user_classes = [*playing_classes(plain.gathering, people)]
            return plain, environment.create_local_runner()
        fleet = Fleet(self._order, "", options.processes, hears)
        environment.user_classes = [*user_classes(fleet, people)]
        return fleet, environment.create_local_runner()

    def _load(self, environment: Environment, runner: LocalRunner | MasterRunner) -> float:
        """Let the shape have its time; gives for how many seconds of it load was measured."""
        web = self._web(environment)
        started = time.monotonic()
        sampling = gevent.spawn(self._sample, started)
        warming = gevent.spawn_later(self._warm_up_seconds, self._collector.warmed_up)
        for number in (signal.SIGINT, signal.SIGTERM):
            gevent.signal_handler(number, self._shape.stop_soon)
        runner.start_shape()
        gevent.joinall([runner.shape_greenlet])
        seconds = time.monotonic() - started
        self._collector.time_up()
        gevent.killall([sampling, warming])
        if web is not None:
            web.stop()  # type: ignore[no-untyped-call]
        return seconds - self._warm_up_seconds if seconds > self._warm_up_seconds else seconds

    def _web(self, environment: Environment) -> WebUI | None:
        if self._options.web_port is None:
            return None
        print(f"web page    http://{LOOPBACK}:{self._options.web_port}", flush=True)
        return environment.create_web_ui(LOOPBACK, self._options.web_port)

    def _sample(self, started: float) -> None:
        slice_seconds = max(LEAST_SLICE_SECONDS, self._scenario.seconds / MOST_MOMENTS)
        before = told = time.monotonic()
        while True:
            gevent.sleep(slice_seconds)
            self._watch.sample()
            now = time.monotonic()
            self._collector.slice(now - before, now - started - self._warm_up_seconds, self._watch.use())
            before = now
            if now - told >= max(PROGRESS_SECONDS, self._scenario.seconds / MOST_PROGRESS):
                _say(self._collector.progress())
                told = now


def _authorities(tls: Tls | None) -> str | None:
    return None if tls is None else (tls.authorities or b"").decode()


def _say(line: str) -> None:
    """Progress, which is no result."""
    print(line, file=sys.stderr, flush=True)


class _Nobody:
    """Plays nobody: a master has no users of its own."""

    def come(self, kind: object) -> str:
        """Nobody comes."""
        raise AssertionError(f"a master plays no {kind}")

    def leave(self, name: str) -> None:
        """Nobody leaves."""
