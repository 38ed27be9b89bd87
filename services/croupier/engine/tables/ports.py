"""The ports of a table to other parts of its engine."""

from collections.abc import Sequence
from typing import Protocol

from croupier.engine.core.compensation import Outage
from croupier.engine.core.reports import Report
from croupier.games.facts import Seat


class ReportOutbox(Protocol):
    """Delivers reports to scoring."""

    def report(self, table_id: str, reports: Sequence[Report]) -> None:
        """Accept all reports that a table has had so far, in order; those delivered before are not sent again."""


class Liveness(Protocol):
    """Knows when tables were not served by any engine."""

    @property
    def outages(self) -> Sequence[Outage]:
        """The outages known so far, in no order."""

    async def is_certain_of(self, moment: int) -> bool:
        """Whether every outage before a moment (milliseconds since 1970 UTC) is known; raises Unavailable."""

    async def is_alive(self) -> bool:
        """Whether other engines consider this one alive; sends a heartbeat at once if the last is old."""


class ReactionNotifier(Protocol):
    """Notifies the other engines of reactions."""

    async def notify_reaction(self, table_id: str, seat: Seat, reaction: str) -> None:
        """Send a reaction once; it may be lost."""
