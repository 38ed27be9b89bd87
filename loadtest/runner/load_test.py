"""Load tests, one after the other, of a Locust process that plays alone or is the master of workers."""

import atexit
import signal
import sys
import time
from typing import Any

import gevent
from gevent.event import Event
from locust import LoadTestShape
from locust.env import Environment
from locust.runners import STATE_MISSING, LocalRunner, MasterRunner

from loadtest.backend import BackendMissing
from loadtest.report.result import Broken, Result
from loadtest.report.verdict import verdict
from loadtest.report.write import ReportFault
from loadtest.runner.load_process import Message
from loadtest.runner.options import people, read_options, scenario_of
from loadtest.runner.run import LOCAL, Run
from loadtest.runner.stages import StagePlan, Stages, Tick
from loadtest.runner.statistics import LocustStatistics
from loadtest.runner.users import PlayedUser
from loadtest.runner.worker import DRAIN, PLAN, REPORTS
from loadtest.scenarios import Kind

FINE, BROKEN, NOT_RUN = 0, 1, 2
LOCAL_SLICE_SECONDS, MASTER_SLICE_SECONDS = 1.0, 3.0
"""Workers report every three seconds."""
POLL_SECONDS = 0.2


class ScenarioShape(LoadTestShape):
    """Locust's shape: the stages of a scenario, with the users, spawn rate and run time of Locust's own options."""

    use_common_options = True

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.stages = Stages()

    def tick(self) -> Tick | None:
        """How many users are wanted now, and how many may start or stop in a second; None when time is up."""
        return self.stages.tick()


class LoadTest:
    """Follows Locust's events; `violations` is what the web page shows."""

    def __init__(self, environment: Environment, runner: LocalRunner | MasterRunner) -> None:
        self._environment = environment
        self._runner = runner
        self._given: Any = environment.parsed_options
        shape = environment.shape_class
        self._stages = shape.stages if isinstance(shape, ScenarioShape) else Stages()
        self._run: Run | None = None
        self._result: Result | None = None
        self._over = Event()
        self._is_ending = False
        self._drained: dict[str, bool] = {}
        self._statistics = LocustStatistics(environment.stats)
        atexit.register(self._close)

    def set_up(self) -> None:
        """Choose users and their number by the options, and follow Locust's events; raises ValueError."""
        given, environment = self._given, self._environment
        read_options(given, environment.host)
        counts = people(given)
        users = [user for user in environment.user_classes if issubclass(user, PlayedUser) and user.kind in counts]
        for user in users:
            user.weight = counts[user.kind]
        environment.user_classes = [*users]
        # What Locust starts with, and its web page proposes.
        given.num_users = given.num_users or sum(counts.values())
        given.spawn_rate = given.spawn_rate or scenario_of(given).arrivals_per_second
        self._stages.first = self._first_tick
        events: Any = environment.events
        events.test_start.add_listener(self._start)
        events.test_stopping.add_listener(self._stop)
        events.quitting.add_listener(self._stop)
        events.worker_report.add_listener(self._receive)
        events.quit.add_listener(self._conclude)
        # Locust itself listens to this only after a run without the web page.
        gevent.signal_handler(signal.SIGTERM, self._runner.quit)
        gevent.signal_handler(signal.SIGINT, _interrupt)

    @property
    def violations(self) -> tuple[Broken, ...]:
        """All kinds of violations of the run that is on, or of the last one."""
        if self._run is not None:
            return self._run.collector.violations
        return self._result.violations if self._result is not None else ()

    def start_user(self, kind: Kind) -> str:
        """Start a user; returns its name."""
        return self._run.process.start(kind) if self._run is not None else ""

    def stop_user(self, name: str) -> None:
        """Stop a user after the game that it is in."""
        if self._run is not None and not self._is_ending:
            self._run.process.stop(name)

    def _first_tick(self) -> Tick:
        given = self._given
        plan = StagePlan(scenario_of(given), given.num_users or 1, given.spawn_rate or 1.0, 1.0)
        return plan.tick_at(0)

    def _start(self, **_: Any) -> None:
        if self._run is not None:
            return
        environment = self._environment
        environment.process_exit_code = NOT_RUN
        self._drained, self._result = {}, None
        self._over.clear()
        self._statistics = LocustStatistics(environment.stats)
        workers = self._runner.worker_count if isinstance(self._runner, MasterRunner) else 0
        try:
            options = read_options(self._given, environment.host)
            slice_seconds = MASTER_SLICE_SECONDS if workers else LOCAL_SLICE_SECONDS
            self._run = Run(options, workers or 1, slice_seconds, self._count)
        except (ValueError, BackendMissing, ReportFault) as fault:
            self._refuse(str(fault))
            return
        # Locust sends the options that it does not know itself to its workers.
        setattr(self._given, PLAN, self._run.plan.to_json())
        self._run.begin()
        self._stages.begin(self._run.stages)

    def _refuse(self, fault: str) -> None:
        print(f"loadtest: {fault}", file=sys.stderr, flush=True)
        # Not here: this is one of the greenlets that are ended by it.
        is_headless = self._given.headless
        gevent.spawn(self._runner.quit if is_headless else self._runner.stop)

    def _count(self, message: Message) -> None:
        self._statistics.add(message["batch"])

    def _receive(self, client_id: str, data: dict[str, Any], **_: Any) -> None:
        """Take what a worker reports; its statistics come by Locust's own way."""
        for message in data.get(REPORTS, ()):
            if self._run is not None and "batch" in message:
                self._run.collector.receive(client_id, message)
            if "drained" in message:
                self._drained[client_id] = message["drained"]

    def _stop(self, **_: Any) -> None:
        """Let games end and print the verdict, before Locust stops its users."""
        if self._run is None:
            return
        if self._is_ending:
            self._over.wait()
            return
        self._is_ending = True
        self._stages.hold()
        try:
            self._run.time_up()
            self._result = self._run.result(self._drain(self._run))
            self._environment.process_exit_code = FINE if self._result.passed else BROKEN
        except ReportFault as fault:
            print(f"loadtest: {fault}", file=sys.stderr, flush=True)
        finally:
            self._close()
            self._stages.reset()
            self._is_ending = False
            self._over.set()

    def _drain(self, run: Run) -> list[str]:
        """Let all load processes end their games; returns the names of those that did not."""
        run.process.drain()
        deadline = time.monotonic() + run.patience_seconds
        unwell = [] if run.process.drained.wait(run.patience_seconds) and run.process.is_well_drained else [LOCAL]
        if isinstance(self._runner, MasterRunner):
            self._runner.send_message(DRAIN)
            while time.monotonic() < deadline and self._is_one_draining(self._runner):
                gevent.sleep(POLL_SECONDS)
            workers = (run.collector.processes - {LOCAL}) | self._drained.keys()
            unwell += [worker for worker in workers if not self._drained.get(worker)]
            unwell += ["a worker that reported nothing"] * (run.processes - len(workers))
        return unwell

    def _is_one_draining(self, master: MasterRunner) -> bool:
        clients = master.clients
        return any(clients[one].state != STATE_MISSING and one not in self._drained for one in clients)

    def _close(self) -> None:
        run, self._run = self._run, None
        if run is not None:
            run.close()

    def _conclude(self, **_: Any) -> None:
        """Print the verdict again, beneath Locust's own tables."""
        if self._result is not None:
            print(f"verdict     {verdict(self._result)}", flush=True)


def _interrupt() -> None:
    """End Locust as Ctrl-C does, by a greenlet of its own.

    Python would raise this in any greenlet, such as the one that reads what the load process reports: the run would
    then wait for reports that nothing reads.
    """
    raise KeyboardInterrupt
