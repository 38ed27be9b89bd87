"""What goes wrong in a run, and how often: all of it drawn from the seed."""

import asyncio
from collections import Counter
from dataclasses import dataclass
from random import Random

from loadtest.simulation.trace import Trace


def chance_of(seed: int, name: str) -> Random:
    """A source of chance of its own for each part of the world, so that they do not disturb each other."""
    return Random(f"{seed}/{name}")


class DatabaseFault(Exception):
    """A database that is not there, or a connection to it that broke."""


@dataclass(frozen=True, slots=True)
class Weather:
    """How often each thing goes wrong, as a share of all chances for it; times in seconds."""

    slow_database: float
    failed_transaction: float
    lost_commit_answer: float
    slow_network: float
    lost_request: float
    lost_answer: float
    silent_call: float
    doubled_request: float
    lost_news: float
    slow_reader: float
    lost_report: float
    """How often a report to scoring, or the answer to it, gets lost beyond that."""

    @classmethod
    def drawn(cls, chance: Random) -> "Weather":
        """Each run has weather of its own; some of it is fair in some respects."""

        def share(most: float) -> float:
            return most * chance.random() if chance.random() < 0.6 else 0.0

        return cls(
            slow_database=share(0.1),
            failed_transaction=share(0.03),
            lost_commit_answer=share(0.03),
            slow_network=share(0.1),
            lost_request=share(0.05),
            lost_answer=share(0.05),
            silent_call=share(0.01),
            doubled_request=share(0.5),
            lost_news=share(0.3),
            slow_reader=share(0.3),
            lost_report=share(0.6),
        )


class Faults:
    """Decides what goes wrong, until it stops."""

    def __init__(self, seed: int, weather: Weather, trace: Trace) -> None:
        self.weather = weather
        self.counts: Counter[str] = Counter()
        self._network = chance_of(seed, "network")
        self._databases = chance_of(seed, "databases")
        self._trace = trace
        self._is_over = False

    @property
    def databases_are_fair(self) -> bool:
        """Whether transactions are quick and do not fail by chance."""
        return self._is_over or not (self.weather.slow_database or self.weather.failed_transaction)

    def stop(self) -> None:
        """From now on nothing goes wrong."""
        self._is_over = True

    def note(self, kind: str, *about: object) -> None:
        """Count a fault and write it down."""
        self.counts[kind] += 1
        self._trace.note("fault", kind, *about)

    def _happens(self, chance: Random, share: float) -> bool:
        return chance.random() < share and not self._is_over

    # Databases

    async def way_to_database(self, name: str) -> None:
        """The way to a database and back, in one; raises DatabaseFault for a broken connection."""
        chance, weather = self._databases, self.weather
        slow = self._happens(chance, weather.slow_database)
        await asyncio.sleep(chance.uniform(0.05, 1.5) if slow else chance.uniform(0.0002, 0.003))
        if self._happens(chance, weather.failed_transaction):
            self.note("database connection broken", name)
            raise DatabaseFault("the simulated connection broke")

    async def before_commit(self, name: str) -> None:
        """The way of a commit; raises DatabaseFault if it gets lost."""
        await asyncio.sleep(self._databases.uniform(0.0002, 0.003))
        if self._happens(self._databases, self.weather.failed_transaction):
            self.note("commit lost", name)
            raise DatabaseFault("the simulated connection broke before the commit")

    async def after_commit(self, name: str) -> None:
        """The way of the answer to a commit; raises DatabaseFault if it gets lost."""
        await asyncio.sleep(self._databases.uniform(0.0002, 0.003))
        if self._happens(self._databases, self.weather.lost_commit_answer):
            self.note("commit answer lost", name)
            raise DatabaseFault("the simulated connection broke after the commit")

    # Network

    def network_seconds(self) -> float:
        """How long a message is on its way."""
        chance = self._network
        if self._happens(chance, self.weather.slow_network):
            return chance.uniform(0.05, 1.0)
        return chance.uniform(0.0005, 0.01)

    def request_is_lost(self, method: str) -> bool:
        """Whether a request does not arrive, which its sender notices."""
        return self._network_fault(self._lost(self.weather.lost_request, method), "request lost", method)

    def answer_is_lost(self, method: str) -> bool:
        """Whether an answer does not arrive, which its receiver notices."""
        return self._network_fault(self._lost(self.weather.lost_answer, method), "answer lost", method)

    def _lost(self, share: float, method: str) -> float:
        return max(share, self.weather.lost_report) if "/Record" in method else share

    def is_silent(self, method: str) -> bool:
        """Whether nothing of a call arrives any more and nobody is told."""
        return self._network_fault(self.weather.silent_call, "call silent", method)

    def is_doubled(self, method: str) -> bool:
        """Whether a request arrives twice, at two servers."""
        return self._network_fault(self.weather.doubled_request, "request doubled", method)

    def is_read_slowly(self, method: str) -> bool:
        """Whether a client takes its time over each message of a stream."""
        return self._network_fault(self.weather.slow_reader, "slow reader", method)

    def reading_seconds(self) -> float:
        """How long a slow client looks at a message."""
        return 0.0 if self._is_over else self._network.uniform(0.1, 1.0)

    def news_are_lost(self, who: str) -> bool:
        """Whether news are lost together with the connection that they came by."""
        return self._network_fault(self.weather.lost_news, "news lost", who)

    def _network_fault(self, share: float, kind: str, about: str) -> bool:
        if not self._happens(self._network, share):
            return False
        self.note(kind, about)
        return True
