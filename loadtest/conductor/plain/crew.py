"""The crew of a run with plain Locust users: the people of this process alone."""

import time

import gevent

from loadtest.backend import BackendMissing
from loadtest.conductor.fleet import Hears
from loadtest.conductor.plain.gathering import Gathering
from loadtest.measures import Measures
from loadtest.swarm.order import JUDGING_SECONDS, Order

NAME = "plain"
BATCH_SECONDS = 1.0


class PlainCrew:
    """Plays in greenlets of this process what swarms play in processes of their own."""

    def __init__(self, order: Order, hears: Hears) -> None:
        self.gathering = Gathering(order.for_all(), order.endpoints, Measures(), order.ports)
        self._hears = hears
        self._greenlets: list[gevent.Greenlet] = []

    def begin(self) -> None:
        """Get ready; raises BackendMissing."""
        if fault := self.gathering.fault():
            raise BackendMissing(fault)
        self._greenlets = [gevent.spawn(self._tell), gevent.spawn(self.gathering.storms)]

    def _tell(self) -> None:
        used, at = time.process_time(), time.monotonic()
        while True:
            gevent.sleep(BATCH_SECONDS)
            now_used, now = time.process_time(), time.monotonic()
            self._hears(NAME, self.gathering.batch((now_used - used) / (now - at)))
            used, at = now_used, now

    def last_orders(self) -> None:
        """Let games be played to their ends, and nobody begin another."""
        self.gathering.last_orders()

    def wait(self, seconds: float) -> list[str]:
        """Wait until all games have ended and are judged, the latter not beyond `seconds`; gives no names."""
        self.gathering.end(self.gathering.manners.scenario.grace_seconds, min(seconds, JUDGING_SECONDS))
        gevent.killall(self._greenlets)
        self._hears(NAME, self.gathering.batch(0.0))
        return []

    def stop(self) -> None:
        """End everything at once."""
        gevent.killall(self._greenlets)
        self.gathering.close()
