"""Steps of rising load against one set of services; Locust must have been imported before."""

import signal
from collections.abc import Callable
from dataclasses import replace
from itertools import count

import gevent

from loadtest.backend import Backend
from loadtest.ceiling.options import CeilingOptions
from loadtest.ceiling.search import ceiling, keeps_limits, search, step_line, step_of
from loadtest.conductor.run import Run
from loadtest.options import read_options
from loadtest.report.result import Result
from loadtest.scenarios import SCENARIOS

SCENARIO = SCENARIOS["ceiling"]
SETTLING_SECONDS = 4.0
"""How long the last who came get to be at play before anything is measured."""
GRACE_SECONDS = 60.0
CHANCES = 2


class Interrupted(Exception):
    """Whoever started this wants it to end: what is known so far is told."""


class Climb:
    """The way up on one set of services; each step is a fresh crowd."""

    def __init__(self, options: CeilingOptions, backend: Backend, say: Callable[[str], None]) -> None:
        self._options = options
        self._backend = backend
        self._say = say
        self._results: dict[int, Result] = {}
        self._replays: dict[str, str] = {}
        self._numbers = count()
        self._is_interrupted = False

    def result(self) -> tuple[Result, dict[str, str]]:
        """Find the ceiling; gives what all steps say and the first replay by invariant.

        Raises BackendMissing, and Interrupted if there was not even one step.
        """
        # A run ends its step by itself when it hears these.
        for number in (signal.SIGINT, signal.SIGTERM):
            gevent.signal_handler(number, self._interrupt)
        try:
            search(self._keeps, self._options.first)
        except Interrupted:
            if not self._results:
                raise
        result = ceiling(self._results)
        conditions = replace(result.conditions, command=self._options.command)
        return replace(result, conditions=conditions), self._replays

    def _interrupt(self) -> None:
        self._is_interrupted = True

    def _keeps(self, tables: int) -> bool:
        """Whether a load keeps the limits; one that was slow once gets another chance, for machines have hiccups."""
        for _ in range(CHANCES):
            self._results[tables] = result = self._measured(tables)
            self._say(step_line(step_of(result, tables), result))
            if keeps_limits(result) or result.violations or result.bottleneck:
                break
        return keeps_limits(result)

    def _measured(self, tables: int) -> Result:
        options = self._options
        arguments = [
            f"--tables={tables}",
            f"--seconds={options.seconds}",
            f"--processes={options.processes}",
            f"--mix={options.mix}",
            f"--grace={GRACE_SECONDS}",
            f"--results={options.results}",
        ]
        if any(one.tables_opened > one.tables_finished for one in self._results.values()):
            # Tables that were left go on, and are counted by the services alone.
            arguments.append("--shared")
        if options.seed is not None:
            # Of people by the same names the lobby would know those of the step before.
            arguments.append(f"--seed={options.seed + next(self._numbers)}")
        result, replays = Run(read_options([SCENARIO.name, *arguments]), self._backend, SETTLING_SECONDS).result()
        if self._is_interrupted:
            raise Interrupted
        for invariant, replay in replays.items():
            self._replays.setdefault(invariant, replay)
        return result
