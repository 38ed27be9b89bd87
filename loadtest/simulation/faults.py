"""What goes wrong in a run, and how often: all of it drawn from the seed."""

import asyncio
from collections import Counter
from dataclasses import dataclass
from random import Random

from sqlalchemy.exc import OperationalError

from loadtest.simulation.trace import Trace


def chance_of(seed: int, name: str) -> Random:
    """A source of chance of its own for each part of the world, so that they do not disturb each other."""
    return Random(f"{seed}/{name}")


class DatabaseFault(OperationalError):
    """A database that is not there, or a connection to it that broke, as SQLAlchemy raises it."""

    def __init__(self, text: str) -> None:
        super().__init__(None, None, Exception(text))


@dataclass(frozen=True, slots=True)
class FaultRates:
    """How often each thing goes wrong, as a share of all chances for it; times in seconds."""

    slow_database: float
    failed_transaction: float
    lost_commit_answer: float
    slow_network: float
    lost_request: float
    """A request does not arrive, which its sender notices."""
    lost_answer: float
    silent_call: float
    """Nothing of a call arrives any more, and neither end is notified."""
    doubled_request: float
    """A request arrives at two servers."""
    lost_news: float
    """Notifications are lost together with the connection that they came by."""
    slow_reader: float
    """A client takes its time over each message of a stream."""
    lost_report: float
    """How often a report to scoring, or the answer to it, gets lost beyond that."""

    @property
    def is_fair_to_databases(self) -> bool:
        """Whether transactions are quick and do not fail at random."""
        return not (self.slow_database or self.failed_transaction)

    @classmethod
    def drawn(cls, chance: Random) -> "FaultRates":
        """Each run has rates of its own, some of them 0."""

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


_REPORT_FAULTS = frozenset({"lost_request", "lost_answer"})


class Faults:
    """Decides what goes wrong, until it stops."""

    def __init__(self, seed: int, rates: FaultRates, trace: Trace) -> None:
        self.rates = rates
        self.counts: Counter[str] = Counter()
        self._network = chance_of(seed, "network")
        self._databases = chance_of(seed, "databases")
        self._trace = trace
        self._is_over = False

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
        chance, rates = self._databases, self.rates
        slow = self._happens(chance, rates.slow_database)
        await asyncio.sleep(chance.uniform(0.05, 1.5) if slow else chance.uniform(0.0002, 0.003))
        if self._happens(chance, rates.failed_transaction):
            self.note("database connection broken", name)
            raise DatabaseFault("the simulated connection broke")

    async def before_commit(self, name: str) -> None:
        """The way of a commit; raises DatabaseFault if it gets lost."""
        await self._way_of_commit(self.rates.failed_transaction, "commit lost", name)

    async def after_commit(self, name: str) -> None:
        """The way of the answer to a commit; raises DatabaseFault if it gets lost."""
        await self._way_of_commit(self.rates.lost_commit_answer, "commit answer lost", name)

    async def _way_of_commit(self, share: float, loss: str, name: str) -> None:
        await asyncio.sleep(self._databases.uniform(0.0002, 0.003))
        if self._happens(self._databases, share):
            self.note(loss, name)
            raise DatabaseFault(f"the simulated connection broke: {loss}")

    # Network

    def network_seconds(self) -> float:
        """How long a message is on its way."""
        chance = self._network
        if self._happens(chance, self.rates.slow_network):
            return chance.uniform(0.05, 1.0)
        return chance.uniform(0.0005, 0.01)

    def occurs(self, kind: str, about: str) -> bool:
        """Whether this one of the rates strikes a call now, or the notifications of an engine, by its name."""
        share: float = getattr(self.rates, kind)
        if kind in _REPORT_FAULTS and "/Record" in about:
            share = max(share, self.rates.lost_report)
        if not self._happens(self._network, share):
            return False
        self.note(kind.replace("_", " "), about)
        return True

    def reading_seconds(self) -> float:
        """How long a slow client looks at a message."""
        return 0.0 if self._is_over else self._network.uniform(0.1, 1.0)
