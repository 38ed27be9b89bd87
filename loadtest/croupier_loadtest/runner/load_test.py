"""Load tests, one after another, of a Locust process that plays alone or is the master of workers."""

import atexit
import os
import signal
import sys
import time
from typing import Any

import gevent
from gevent.event import Event
from locust import LoadTestShape
from locust.env import Environment
from locust.runners import STATE_MISSING, LocalRunner, MasterRunner

from croupier.runtime.printed_text import escaped
from croupier_loadtest.backend import BackendUnavailable
from croupier_loadtest.report.result import Result, ViolationSummary, verdict
from croupier_loadtest.report.write import ReportFault
from croupier_loadtest.runner.options import read_options, scenario_of, user_counts
from croupier_loadtest.runner.run import LOCAL, LoadRun
from croupier_loadtest.runner.stages import StagePlan, Stages, Tick
from croupier_loadtest.runner.users import LocustStatistics, PlayedUser
from croupier_loadtest.runner.worker import DRAIN, REPORTS, SETTINGS
from croupier_loadtest.scenarios import UserKind

EXIT_PASSED, EXIT_FAILED, EXIT_NOT_RUN = 0, 1, 2
POLL_SECONDS = 0.2


class ScenarioShape(LoadTestShape):
    """Locust's shape: the stages of a scenario, with the users, spawn rate and run time of Locust's own options."""

    use_common_options = True

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.stages = Stages()

    def tick(self) -> Tick | None:
        """Return the current tick; None when the run drains."""
        return self.stages.tick()


class LoadTest:
    """Handles Locust's events; `violations` are shown on the web page."""

    def __init__(self, environment: Environment, runner: LocalRunner | MasterRunner) -> None:
        self._environment = environment
        self._runner = runner
        self._given: Any = environment.parsed_options
        shape = environment.shape_class
        self._stages = shape.stages if isinstance(shape, ScenarioShape) else Stages()
        self._run: LoadRun | None = None
        self._result: Result | None = None
        self._over = Event()
        self._is_ending = False
        self._is_interrupted = False
        self._drained: dict[str, bool] = {}
        self._statistics = LocustStatistics(environment.stats)
        atexit.register(self._close)

    def set_up(self) -> None:
        """Choose the users by the options, and listen to Locust's events, in the main greenlet; raises ValueError."""
        self._main = gevent.getcurrent()
        given, environment = self._given, self._environment
        read_options(given, environment.host)
        counts = user_counts(given)
        users = [user for user in environment.user_classes if issubclass(user, PlayedUser) and user.kind in counts]
        for user in users:
            user.weight = counts[user.kind]
        environment.user_classes = [*users]
        # The defaults of Locust and its web page.
        given.num_users = given.num_users or sum(counts.values())
        given.spawn_rate = given.spawn_rate or scenario_of(given).arrivals_per_second
        self._stages.first = lambda: StagePlan(
            scenario_of(given), given.num_users or 1, given.spawn_rate or 1.0, 1.0
        ).tick_at(0)
        events: Any = environment.events
        events.test_start.add_listener(self._start)
        events.test_stopping.add_listener(self._stop)
        events.quitting.add_listener(self._stop)
        events.worker_report.add_listener(self._receive)
        events.quit.add_listener(self._print_verdict)
        # Locust itself listens to this only after a run without the web page.
        gevent.signal_handler(signal.SIGTERM, self._runner.quit)
        gevent.signal_handler(signal.SIGINT, self._interrupt)

    @property
    def violations(self) -> tuple[ViolationSummary, ...]:
        """All violations of the current or the last run."""
        if self._run is not None:
            return self._run.collector.violations
        return self._result.violations if self._result is not None else ()

    def start_user(self, kind: UserKind) -> str:
        """Start a user; returns its name."""
        return self._run.process.start(kind) if self._run is not None else ""

    def stop_user(self, name: str) -> None:
        """Stop a user after its current game."""
        if self._run is not None and not self._is_ending:
            self._run.process.stop(name)

    def _start(self, **_: Any) -> None:
        if self._run is not None:
            return
        environment = self._environment
        environment.process_exit_code = EXIT_NOT_RUN
        self._drained, self._result = {}, None
        self._over.clear()
        self._statistics = LocustStatistics(environment.stats)
        workers = self._runner.worker_count if isinstance(self._runner, MasterRunner) else 0
        try:
            options = read_options(self._given, environment.host)
            self._run = LoadRun(options, workers or 1, self._statistics.add)
        except (ValueError, BackendUnavailable, ReportFault) as fault:
            # In another greenlet, since it ends this one; before the line, which a closed pipe refuses.
            gevent.spawn(self._runner.quit if self._given.headless else self._runner.stop)
            print(f"croupier load: {escaped(str(fault))}", file=sys.stderr, flush=True)
            return
        # Locust sends unknown options to its workers.
        setattr(self._given, SETTINGS, self._run.settings.to_json())
        self._run.begin()
        self._stages.begin(self._run.stages)

    def _receive(self, client_id: str, data: dict[str, Any], **_: Any) -> None:
        """Receive a worker's reports; Locust itself sends its statistics."""
        for message in data.get(REPORTS, ()):
            if self._run is not None and "batch" in message:
                self._run.collector.receive(client_id, message)
            if "drained" in message:
                self._drained[client_id] = message["drained"]

    def _stop(self, **_: Any) -> None:
        """Drain the run and print the verdict, before Locust stops its users."""
        if self._run is None:
            return
        if self._is_ending:
            self._over.wait()
            return
        self._is_ending = True
        self._stages.hold()
        try:
            self._run.begin_draining()
            self._result = self._run.result(self._drain(self._run))
            self._environment.process_exit_code = EXIT_PASSED if self._result.passed else EXIT_FAILED
        except ReportFault as fault:
            print(f"croupier load: {escaped(str(fault))}", file=sys.stderr, flush=True)
        finally:
            self._close()
            self._stages.reset()
            self._is_ending = False
            self._over.set()

    def _drain(self, run: LoadRun) -> list[str]:
        """Drain all load processes; returns the names of those that failed."""
        run.process.drain()
        deadline = time.monotonic() + run.drain_timeout_seconds
        failed = [] if run.process.drained.wait(run.drain_timeout_seconds) and run.process.has_drained else [LOCAL]
        if isinstance(self._runner, MasterRunner):
            self._runner.send_message(DRAIN)
            clients = self._runner.clients
            while time.monotonic() < deadline and any(
                clients[one].state != STATE_MISSING and one not in self._drained for one in clients
            ):
                gevent.sleep(POLL_SECONDS)
            workers = (run.collector.processes - {LOCAL}) | self._drained.keys()
            failed += [f"the worker {worker}" for worker in workers if not self._drained.get(worker)]
            failed += ["a worker that reported nothing"] * (run.processes - len(workers))
        return failed

    def _close(self) -> None:
        run, self._run = self._run, None
        if run is not None:
            run.close()

    def _interrupt(self) -> None:
        """End Locust as Ctrl-C does, by its main greenlet; the second time, end all processes at once.

        Python could raise it in any greenlet, such as the one that reads the reports of the load process; the run would
        then wait for reports forever, and gevent would print a traceback.
        """
        if self._is_interrupted:
            print("croupier load: stopped, without a result", file=sys.stderr, flush=True)
            if self._run is not None:
                self._run.kill()
            os._exit(EXIT_NOT_RUN)
        self._is_interrupted = True
        print("croupier load: the run ends early; Ctrl-C once more stops it at once", file=sys.stderr, flush=True)
        gevent.kill(self._main, KeyboardInterrupt)

    def _print_verdict(self, **_: Any) -> None:
        """Print the verdict again, below Locust's own tables."""
        if self._result is not None:
            print(f"verdict     {verdict(self._result)}", flush=True)
