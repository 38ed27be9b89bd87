"""The load process of one Locust process: a child that plays, since gevent and grpc.aio cannot share a process."""

import json
import sys
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from typing import Any, TypeAlias

from gevent import spawn
from gevent.event import Event
from gevent.lock import Semaphore
from gevent.subprocess import PIPE, Popen, TimeoutExpired

from loadtest.process.plan import Plan
from loadtest.scenarios import Kind

Message: TypeAlias = dict[str, Any]
COMMAND = (sys.executable, "-m", "loadtest.process")
ROOT = Path(__file__).parents[2]
READY_SECONDS = 30.0
END_SECONDS = 5.0


class LoadProcess:
    """A child process that plays; `receive` takes its reports, `prefix` tells its users from those of others.

    `ready`, `drained`, `compared` and `ended` are set when that has come about, and all of them at its end.
    """

    def __init__(self, plan: Plan, prefix: str, receive: Callable[[Message], None]) -> None:
        self.ready, self.drained, self.compared, self.ended = Event(), Event(), Event(), Event()
        self.is_well_drained = False
        self._fault = ""
        self._prefix = prefix
        self._receive = receive
        self._numbers = count()
        self._writing = Semaphore()
        # A session of its own: Ctrl-C is for Locust, which lets games end first.
        self._process = Popen(COMMAND, stdin=PIPE, stdout=PIPE, cwd=ROOT, start_new_session=True)
        self._say(plan.to_json())
        spawn(self._listen)

    def fault(self) -> str:
        """Why it cannot play, once it is ready or should have been; empty if it can."""
        if not self.ready.wait(READY_SECONDS) or (self.ended.is_set() and not self._fault):
            return "the load process did not start: see above"
        return self._fault

    def start(self, kind: Kind) -> str:
        """Start a user; returns its name."""
        name = f"{self._prefix}-{kind}-{next(self._numbers)}"
        self._say({"do": "start", "name": name, "kind": kind.value})
        return name

    def stop(self, name: str) -> None:
        """Let a user stop after the game that it is in."""
        self._say({"do": "stop", "name": name})

    def drain(self) -> None:
        """Let games be played to their ends and judged, and no other begin; `drained` is set afterwards."""
        self._say({"do": "drain"})

    def compare(self, tables: Sequence[Message]) -> None:
        """Compare leaderboards and statistics with these tables; `compared` is set afterwards."""
        self._say({"do": "compare", "tables": tables})

    def close(self) -> None:
        """End the process, whatever it does."""
        self._process.stdin.close()
        try:
            self._process.wait(END_SECONDS)
        except TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _say(self, order: Message) -> None:
        # A process that is gone is noticed by the end of its output.
        try:
            with self._writing:
                self._process.stdin.write(json.dumps(order).encode() + b"\n")
                self._process.stdin.flush()
        except (OSError, ValueError):
            self.ended.set()

    def _listen(self) -> None:
        try:
            for line in self._process.stdout:
                self._take(json.loads(line))
        finally:
            # Also if it ended in the middle of a line: nothing more comes.
            for event in (self.ended, self.ready, self.drained, self.compared):
                event.set()

    def _take(self, message: Message) -> None:
        if "batch" not in message:
            self._fault = message.get("fault", "")
            self.ready.set()
            return
        self.is_well_drained = self.is_well_drained or "drained" in message
        self._receive(message)
        for name, event in (("drained", self.drained), ("compared", self.compared)):
            if name in message:
                event.set()
