"""The ports of a table to other parts of its engine."""

from collections.abc import Sequence
from typing import Protocol

from croupier.engine.core.compensation import Outage
from croupier.engine.core.reports import Report
from croupier.games.facts import Seat


class ReportOutbox(Protocol):
    """Delivers reports to scoring."""

    def report(self, table_id: str, reports: Sequence[Report]) -> None:
        """Enqueue all reports that a table has had so far, in order; delivered ones are not sent again."""


class Liveness(Protocol):
    """Knows the outages of engines, and whether this one is alive."""

    @property
    def outages(self) -> Sequence[Outage]:
        """The outages known so far, in no order."""

    @property
    def engines(self) -> int:
        """The number of living engines at the last heartbeat."""

    @property
    def is_cut_off(self) -> bool:
        """Whether this engine, one of several, has sent no heartbeat for so long that its players should leave."""

    async def is_certain_of(self, moment: int) -> bool:
        """Return whether every outage before a moment is known, in milliseconds since 1970 UTC; raises Unavailable."""

    async def is_alive(self) -> bool:
        """Return whether other engines consider this one alive; send a heartbeat at once if the last is old."""


class ReactionNotifier(Protocol):
    """Notifies the other engines of reactions."""

    def seat_reacted(self, table_id: str, seat: Seat, reaction: str) -> None:
        """Notify the other engines of a reaction; the notification may get lost."""
