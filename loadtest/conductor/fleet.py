"""The swarms of one Locust process: child processes, to which users are handed out in turn."""

import json
import sys
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any, TypeAlias

import gevent
from gevent.event import Event
from gevent.subprocess import PIPE, Popen, TimeoutExpired

from loadtest.backend import BackendMissing
from loadtest.scenarios import Kind
from loadtest.swarm.order import Order

Hears: TypeAlias = Callable[[str, dict[str, Any]], None]
"""Takes the name of a swarm and what it told."""
COMMAND = (sys.executable, "-m", "loadtest.swarm")
ROOT = Path(__file__).parents[2]
READY_SECONDS = 30.0
END_SECONDS = 5.0


class Fleet:
    """So many swarms, which begin at once; `name` tells this fleet from those of other workers."""

    def __init__(self, order: Order, name: str, processes: int, hears: Hears) -> None:
        self._swarms = [_Swarm(order, f"{name}{number}", hears) for number in range(processes)]
        self._numbers: Iterator[int] = count()

    def begin(self) -> None:
        """Wait until every swarm has found the services as they should be; raises BackendMissing."""
        gevent.wait([swarm.ready for swarm in self._swarms], timeout=READY_SECONDS)
        for swarm in self._swarms:
            if fault := swarm.fault():
                raise BackendMissing(fault)

    def come(self, kind: Kind) -> str:
        """Somebody comes; gives his name."""
        number = next(self._numbers)
        swarm = self._swarms[number % len(self._swarms)]
        name = f"{swarm.name}-{kind}-{number}"
        swarm.say({"do": "come", "name": name, "kind": kind.value})
        return name

    def leave(self, name: str) -> None:
        """Somebody leaves, after the game that he is in."""
        for swarm in self._swarms:
            if name.startswith(f"{swarm.name}-"):
                swarm.say({"do": "leave", "name": name})

    def last_orders(self) -> None:
        """Let games be played to their ends, and nobody begin another."""
        for swarm in self._swarms:
            swarm.say({"do": "last orders"})

    def wait(self, seconds: float) -> list[str]:
        """Wait until every swarm has ended; gives the names of those that did not as they should."""
        gevent.wait([swarm.ended for swarm in self._swarms], timeout=seconds)
        return [swarm.name for swarm in self._swarms if not swarm.is_well_ended]

    def stop(self) -> None:
        """End all processes, whatever they do."""
        for swarm in self._swarms:
            swarm.stop()


class _Swarm:
    """A child process that plays."""

    def __init__(self, order: Order, name: str, hears: Hears) -> None:
        self.name = name
        self.ready = Event()
        self.ended = Event()
        self._fault = ""
        self.is_well_ended = False
        self._hears = hears
        # A process group of its own: Ctrl-C is for the conductor, who lets games end first.
        self._process = Popen(COMMAND, stdin=PIPE, stdout=PIPE, cwd=ROOT, start_new_session=True)
        self.say(order.to_json())
        gevent.spawn(self._listen)

    def say(self, message: dict[str, Any]) -> None:
        """Tell the process something; one that is gone is noticed by what it does not tell."""
        try:
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
            self._process.stdin.flush()
        except OSError:
            self.ended.set()

    def fault(self) -> str:
        """Why it cannot play, once it is ready or should have been; empty if it can."""
        if self._fault or (self.ready.is_set() and not self.ended.is_set()):
            return self._fault
        return "a process that plays did not start: see above"

    def _listen(self) -> None:
        try:
            for line in self._process.stdout:
                self._hear(json.loads(line))
        finally:
            # Also if it ended in the middle of a line: nobody waits for it any longer.
            self.ended.set()
            self.ready.set()

    def _hear(self, message: dict[str, Any]) -> None:
        if "batch" not in message:
            self._fault = message.get("fault", "")
            self.ready.set()
            return
        self.is_well_ended = message.get("ended", False)
        self._hears(self.name, message)

    def stop(self) -> None:
        """End the process."""
        self._process.stdin.close()
        try:
            self._process.wait(END_SECONDS)
        except TimeoutExpired:
            self._process.kill()
            self._process.wait()
