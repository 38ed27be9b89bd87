"""What engines tell each other at once: the port. The log is the truth; news only say where to look."""

from collections.abc import Mapping
from typing import Protocol

from croupier.games.facts import Seat


class NewsListener(Protocol):
    """Who hears it."""

    def logs_grew(self, heads: Mapping[str, int]) -> None:
        """Logs of tables have entries up to these sequences."""

    def news_were_missed(self) -> None:
        """Any log may have grown."""

    def seat_reacted(self, table_id: str, seat: Seat, reaction: str) -> None:
        """A seat reacted at another engine."""


class News(Protocol):
    """The port. Appends are told by the store that makes them."""

    async def run(self, listener: NewsListener) -> None:
        """Listen; runs until cancelled."""

    async def tell_reaction(self, table_id: str, seat: Seat, reaction: str) -> None:
        """Tell the other engines of a reaction; it may get lost."""


class NoNews:
    """For an engine that is alone."""

    async def run(self, listener: NewsListener) -> None:
        """There is nothing to hear."""

    async def tell_reaction(self, table_id: str, seat: Seat, reaction: str) -> None:
        """There is nobody to tell."""
