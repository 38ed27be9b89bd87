"""The port of a table to the liveness of engines."""

from collections.abc import Sequence
from typing import Protocol

from croupier.engine.core.compensation import Outage


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
