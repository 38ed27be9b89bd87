"""The load process of a Locust process: a child that plays, since gevent and grpc.aio cannot share a process."""

import json
import sys
from collections.abc import Callable, Sequence
from itertools import count
from typing import Any, TypeAlias

from gevent import spawn
from gevent.event import Event
from gevent.lock import Semaphore
from gevent.subprocess import PIPE, Popen, TimeoutExpired

from croupier_loadtest.players.user_context import LoadSettings
from croupier_loadtest.scenarios import UserKind

Message: TypeAlias = dict[str, Any]
COMMAND = (sys.executable, "-m", "croupier_loadtest.process")
READY_SECONDS = 30.0
END_SECONDS = 5.0


class LoadProcess:
    """A child process that plays; `receive` gets its reports, `prefix` makes the names of its users unique.

    The events `ready`, `drained`, `compared` and `ended` are set at each step, and all of them at its end.
    """

    def __init__(self, settings: LoadSettings, prefix: str, receive: Callable[[Message], None]) -> None:
        self.ready, self.drained, self.compared, self.ended = Event(), Event(), Event(), Event()
        self.has_drained = False
        self._fault = ""
        self._prefix = prefix
        self._receive = receive
        self._numbers = count()
        self._writing = Semaphore()
        # A session of its own: Ctrl-C goes to Locust alone, which lets games end first.
        self._process = Popen(COMMAND, stdin=PIPE, stdout=PIPE, start_new_session=True)
        self._send(settings.to_json())
        spawn(self._listen)

    def fault(self) -> str:
        """Wait until it is ready; returns the reason why it cannot play, or an empty text."""
        if not self.ready.wait(READY_SECONDS) or (self.ended.is_set() and not self._fault):
            return "the load process did not start: see above"
        return self._fault

    def start(self, kind: UserKind) -> str:
        """Start a user; returns its name."""
        name = f"{self._prefix}-{kind}-{next(self._numbers)}"
        self._send({"command": "start", "name": name, "kind": kind.value})
        return name

    def stop(self, name: str) -> None:
        """Stop a user after its current game."""
        self._send({"command": "stop", "name": name})

    def drain(self) -> None:
        """Let games end and be judged, and begin no new ones; `drained` is set afterwards."""
        self._send({"command": "drain"})

    def compare(self, tables: Sequence[Message], *, has_strangers: bool) -> None:
        """Compare leaderboards and statistics with these tables; `compared` is set afterwards."""
        self._send({"command": "compare", "tables": tables, "has_strangers": has_strangers})

    def close(self) -> None:
        """End the process, also during blocking work."""
        self._process.stdin.close()
        try:
            self._process.wait(END_SECONDS)
        except TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _send(self, command: Message) -> None:
        # The end of the process also ends its output.
        try:
            with self._writing:
                self._process.stdin.write(json.dumps(command).encode() + b"\n")
                self._process.stdin.flush()
        except (OSError, ValueError):
            self.ended.set()

    def _listen(self) -> None:
        try:
            for line in self._process.stdout:
                message: Message = json.loads(line)
                if "batch" not in message:
                    self._fault = message.get("fault", "")
                    self.ready.set()
                    continue
                self.has_drained = self.has_drained or "drained" in message
                self._receive(message)
                for name, event in (("drained", self.drained), ("compared", self.compared)):
                    if name in message:
                        event.set()
        finally:
            # Also if it ended in the middle of a line.
            for event in (self.ended, self.ready, self.drained, self.compared):
                event.set()
