"""A Locust worker: its load process gets the master's settings, and its reports go to the master."""

import signal
import sys
from typing import Any

import gevent
from gevent.event import Event
from locust.env import Environment
from locust.runners import WorkerRunner

from croupier_loadtest.histograms import with_histograms
from croupier_loadtest.players.user_context import LoadSettings
from croupier_loadtest.process.load import drain_seconds
from croupier_loadtest.runner.load_process import LoadProcess, Message
from croupier_loadtest.runner.users import LocustStatistics
from croupier_loadtest.scenarios import UserKind

SETTINGS = "load_settings"
"""The option that holds the settings; Locust sends it to its workers with the others."""
DRAIN = "drain"
"""The message by which the master ends a run."""
REPORTS = "load_reports"
REPORTED_SECONDS = 10.0


class LoadWorker:
    """Handles Locust's events."""

    def __init__(self, environment: Environment, runner: WorkerRunner) -> None:
        self._environment = environment
        self._runner = runner
        self._process: LoadProcess | None = None
        self._reports: list[Message] = []
        self._is_reported = Event()
        self._statistics = LocustStatistics(environment.stats)

    def set_up(self) -> None:
        """Listen to Locust's events, in the main greenlet."""
        # The verdict is the master's: failed calls are no reason to restart a worker.
        self._environment.process_exit_code = 0
        events: Any = self._environment.events
        events.test_start.add_listener(self._start)
        events.test_stopping.add_listener(self._stop)
        events.quitting.add_listener(self._quit)
        events.report_to_master.add_listener(self._report)
        # Ctrl-C, which `--processes` sends to workers too, ends the main greenlet alone.
        gevent.signal_handler(signal.SIGINT, gevent.kill, gevent.getcurrent(), KeyboardInterrupt)
        # Concurrent, since draining must not block the worker's other messages.
        self._runner.register_message(DRAIN, lambda **_: self._drain(), concurrent=True)

    def start_user(self, kind: UserKind) -> str:
        """Start a user; returns its name."""
        return self._process.start(kind) if self._process is not None else ""

    def stop_user(self, name: str) -> None:
        """Stop a user after its current game."""
        if self._process is not None:
            self._process.stop(name)

    def _start(self, **_: Any) -> None:
        self._settings = LoadSettings.from_json(getattr(self._environment.parsed_options, SETTINGS))
        self._reports.clear()
        self._is_reported.clear()
        self._statistics = LocustStatistics(self._environment.stats)
        self._process = LoadProcess(self._settings, str(self._runner.worker_index + 1), self._receive)

    def _receive(self, message: Message) -> None:
        self._statistics.add(message["batch"])
        self._reports.append({**message, "batch": with_histograms(message["batch"])})

    def _drain(self) -> None:
        """Drain the load process; the last report has the outcome."""
        process = self._process
        if process is None:
            return
        process.drain()
        process.drained.wait(drain_seconds(self._settings.scenario))
        if not process.has_drained:
            print(f"croupier load: {process.fault() or 'the load process ended early'}", file=sys.stderr, flush=True)
            self._reports.append({"drained": False})

    def _report(self, data: dict[str, Any], **_: Any) -> None:
        data[REPORTS], self._reports = self._reports, []
        if any("drained" in message for message in data[REPORTS]):
            self._is_reported.set()

    def _quit(self, **_: Any) -> None:
        """Drain and report when this worker alone quits."""
        if self._process is not None:
            self._drain()
            self._is_reported.wait(REPORTED_SECONDS)

    def _stop(self, **_: Any) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.close()
