"""Who puts on load: swarms of this process, or those of workers elsewhere, whom Locust's messages reach."""

import time
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import gevent
from gevent.event import Event
from locust.env import Environment
from locust.runners import MasterRunner, WorkerRunner

from loadtest.backend import BackendMissing
from loadtest.conductor.fleet import Fleet, Hears
from loadtest.conductor.statistics import tell_locust
from loadtest.measures import with_histograms
from loadtest.scenarios import Kind
from loadtest.swarm.order import Order

ORDER, READY, TOLD, LAST_ORDERS, ENDED = "order", "ready", "told", "last orders", "ended"
WORKERS_SECONDS = 120.0
READY_SECONDS = 45.0
POLL_SECONDS = 0.2


class Crew(Protocol):
    """All who play."""

    def begin(self) -> None:
        """Get ready; raises BackendMissing."""

    def last_orders(self) -> None:
        """Let games be played to their ends, and nobody begin another."""

    def wait(self, seconds: float) -> list[str]:
        """Wait until all have ended; gives the names of those that did not as they should."""

    def stop(self) -> None:
        """End everything at once."""


class WorkersCrew:
    """The workers of a master."""

    def __init__(self, runner: MasterRunner, workers: int, order: Order, processes: int, hears: Hears) -> None:
        self._runner = runner
        self._workers = workers
        self._order = {"order": order.to_json(), "processes": processes}
        self._hears = hears
        self._ready: dict[str, str] = {}
        self._ended: dict[str, list[str]] = {}
        for name, listener in ((READY, self._is_ready), (TOLD, self._tells), (ENDED, self._has_ended)):
            runner.register_message(name, _heard_by(listener))

    def begin(self) -> None:
        """Wait for the workers, and until each has found the services as they should be; raises BackendMissing."""
        if not _await(lambda: self._runner.worker_count >= self._workers, WORKERS_SECONDS):
            came = f"{self._runner.worker_count} of {self._workers} workers"
            raise BackendMissing(f"{came} came within {WORKERS_SECONDS:g} s")
        self._runner.send_message(ORDER, self._order)
        if not _await(lambda: len(self._ready) >= self._workers, READY_SECONDS):
            raise BackendMissing(f"{len(self._ready)} of {self._workers} workers got ready within {READY_SECONDS:g} s")
        for worker, fault in self._ready.items():
            if fault:
                raise BackendMissing(f"worker {worker}: {fault}")

    def last_orders(self) -> None:
        """Let games be played to their ends, and nobody begin another."""
        self._runner.send_message(LAST_ORDERS, {})

    def wait(self, seconds: float) -> list[str]:
        """Wait until all workers have ended; gives the names of those that did not as they should."""
        _await(lambda: len(self._ended) >= self._workers, seconds)
        missing = [worker for worker in self._ready if worker not in self._ended]
        return missing + [name for unwell in self._ended.values() for name in unwell]

    def stop(self) -> None:
        """End the workers."""
        self._runner.quit()

    def _is_ready(self, worker: str, data: dict[str, Any]) -> None:
        self._ready[worker] = data["fault"]

    def _tells(self, worker: str, data: dict[str, Any]) -> None:
        self._hears(f"{worker} {data['swarm']}", data["message"])

    def _has_ended(self, worker: str, data: dict[str, Any]) -> None:
        self._ended[worker] = [f"{worker} {name}" for name in data["unwell"]]


class WorkerPlayers:
    """A worker's own swarms, from the master's order on."""

    def __init__(self, environment: Environment) -> None:
        self.over = Event()
        self._environment = environment
        self._fleet: Fleet | None = None

    def join(self, runner: WorkerRunner) -> None:
        """Do what the master says."""
        self._runner = runner
        # Concurrent: what takes long must not keep the worker from hearing its master.
        runner.register_message(ORDER, _heard_by(self._obey), concurrent=True)
        runner.register_message(LAST_ORDERS, _heard_by(self._end), concurrent=True)

    def come(self, kind: Kind) -> str:
        """Somebody comes; gives his name."""
        assert self._fleet is not None
        return self._fleet.come(kind)

    def leave(self, name: str) -> None:
        """Somebody leaves."""
        if self._fleet is not None:
            self._fleet.leave(name)

    def stop(self) -> None:
        """End all processes."""
        if self._fleet is not None:
            self._fleet.stop()

    def _obey(self, _: str, data: dict[str, Any]) -> None:
        order = Order.from_json(data["order"])
        self._fleet = Fleet(order, f"{self._runner.client_id[-6:]}.", data["processes"], self._tell)
        fault = ""
        try:
            self._fleet.begin()
        except BackendMissing as missing:
            fault = str(missing)
        self._runner.send_message(READY, {"fault": fault})

    def _tell(self, swarm: str, message: Mapping[str, Any]) -> None:
        tell_locust(self._environment.stats, message["batch"])
        self._runner.send_message(
            TOLD, {"swarm": swarm, "message": {**message, "batch": with_histograms(message["batch"])}}
        )

    def _end(self, _: str, __: dict[str, Any]) -> None:
        assert self._fleet is not None
        self._fleet.last_orders()
        unwell = self._fleet.wait(3600)
        self._runner.send_message(ENDED, {"unwell": unwell})
        self._fleet.stop()


def _heard_by(take: Callable[[str, dict[str, Any]], None]) -> Callable[..., None]:
    """A listener as Locust calls it: with the sender's name and what he said."""
    return lambda msg, **_: take(msg.node_id, msg.data)


def _await(is_so: Callable[[], bool], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > deadline:
            return False
        gevent.sleep(POLL_SECONDS)
    return True
