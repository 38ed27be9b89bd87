"""The random faults of a simulation, drawn from the seed."""

import asyncio
from collections import Counter
from dataclasses import dataclass, field, fields
from random import Random
from typing import Any

from sqlalchemy.exc import OperationalError

from croupier_loadtest.simulation.trace import Trace


def seeded_random(seed: int, name: str) -> Random:
    """Return a random source by name, so that the parts of the environment draw independently."""
    return Random(f"{seed}/{name}")


class DatabaseFault(OperationalError):
    """An unavailable database or a broken connection, as SQLAlchemy raises it."""

    def __init__(self, text: str) -> None:
        super().__init__(None, None, Exception(text))


def _up_to(maximum: float) -> Any:
    return field(metadata={"maximum": maximum})


@dataclass(frozen=True, slots=True)
class FaultRates:
    """The rates of faults, as shares of the occasions for each, up to a maximum."""

    slow_database: float = _up_to(0.1)
    failed_transaction: float = _up_to(0.03)
    lost_commit_answer: float = _up_to(0.03)
    slow_network: float = _up_to(0.1)
    lost_request: float = _up_to(0.05)
    """Requests that are lost with an error at the sender."""
    lost_answer: float = _up_to(0.05)
    silent_call: float = _up_to(0.01)
    """Calls that become half open: no message arrives, and neither end is notified."""
    duplicated_request: float = _up_to(0.5)
    """Requests that arrive at two servers."""
    lost_notification: float = _up_to(0.3)
    """Notifications that are lost, half of them together with their connection."""
    late_notification: float = _up_to(0.3)
    """Notifications that come later than those that follow them."""
    slow_reader: float = _up_to(0.3)
    """Streams whose client reads slowly."""
    lost_report: float = _up_to(0.6)
    """Reports to scoring, or their answers, that are lost, if more than other requests."""

    @classmethod
    def drawn(cls, random: Random) -> "FaultRates":
        """Return random rates, some of them 0."""
        maxima = [one.metadata["maximum"] for one in fields(cls)]
        return cls(*(maximum * random.random() if random.random() < 0.6 else 0.0 for maximum in maxima))


_REPORT_FAULTS = frozenset({"lost_request", "lost_answer"})


class Faults:
    """Draws faults, until it is stopped."""

    def __init__(self, seed: int, rates: FaultRates, trace: Trace) -> None:
        self.rates = rates
        self.counts: Counter[str] = Counter()
        self._network = seeded_random(seed, "network")
        self._databases = seeded_random(seed, "databases")
        self._trace = trace
        self._is_over = False

    def stop(self) -> None:
        """Draw no more faults."""
        self._is_over = True

    def count(self, kind: str, *about: object) -> None:
        """Count and trace a fault."""
        self.counts[kind] += 1
        self._trace.write("fault", kind, *about)

    def _is_drawn(self, random: Random, share: float) -> bool:
        return random.random() < share and not self._is_over

    # Databases

    async def database_round_trip(self, name: str) -> None:
        """Wait for a round trip to a database; raises DatabaseFault for a broken connection."""
        random, rates = self._databases, self.rates
        slow = self._is_drawn(random, rates.slow_database)
        await asyncio.sleep(random.uniform(0.05, 1.5) if slow else random.uniform(0.0002, 0.003))
        if self._is_drawn(random, rates.failed_transaction):
            self.count("database connection broken", name)
            raise DatabaseFault("the simulated connection broke")

    async def commit_leg(self, share: float, loss: str, name: str) -> None:
        """Wait for the request or the answer of a commit; raises DatabaseFault if it is lost, as in this share."""
        await asyncio.sleep(self._databases.uniform(0.0002, 0.003))
        if self._is_drawn(self._databases, share):
            self.count(loss, name)
            raise DatabaseFault(f"the simulated connection broke: {loss}")

    # Network

    def network_seconds(self) -> float:
        """Return the network delay of a message."""
        random = self._network
        if self._is_drawn(random, self.rates.slow_network):
            return random.uniform(0.05, 1.0)
        return random.uniform(0.0005, 0.01)

    def occurs(self, kind: str, about: str) -> bool:
        """Draw whether a fault, by the name of its rate, occurs at a call or at the notifications of an engine."""
        share: float = getattr(self.rates, kind)
        if kind in _REPORT_FAULTS and "/Record" in about:
            share = max(share, self.rates.lost_report)
        if not self._is_drawn(self._network, share):
            return False
        self.count(kind.replace("_", " "), about)
        return True

    def reading_seconds(self) -> float:
        """Return the pause of a slow reader at a message."""
        return 0.0 if self._is_over else self._network.uniform(0.1, 1.0)
